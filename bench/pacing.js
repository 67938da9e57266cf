// `npm run bench:pacing` decides whether the window of bulk costs less than 3 % of the rate on loopback. It compares this build with one
// without a window. Both builds run by turns in one pair of processes. Two processes may differ for good, so there are several pairs.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { builtIn, inOrder, load, median, root } from './builds.js';

const MIB = 1024 * 1024;
const MOST_COST = 0.03;
const PAIRS = 10;
/** A block is four transfers: with a window, without, without, with. A machine that slows down or speeds up changes both sums alike. */
const PAYLOAD_BLOCKS = 30;
const ITEMS_BLOCKS = 20;
const WARM_BLOCKS = 3;
const TRANSFER_BYTES = 16 * MIB;
const ITEM_BYTES = 65_000;
const ITEMS = 256;
const LIMITS = { maxPayloadBytes: 2 * TRANSFER_BYTES };
/** Standard deviations on either side of a mean that hold 95 % of a normal distribution. */
const DEVIATIONS = 1.96;

const WAYS = {
  '16 MiB in one payload': { transfer: onePayload, blocks: PAYLOAD_BLOCKS },
  [`${ITEMS} items of ${ITEM_BYTES} bytes`]: { transfer: manyItems, blocks: ITEMS_BLOCKS },
};

const [role, ...args] = process.argv.slice(2);

if (role === 'server') await serveBoth(args);
else if (role === 'client') await measure(JSON.parse(args[0]));
else await compare();

async function compare() {
  const paced = builtIn('dist/paced');
  const unpaced = join(root, 'dist/unpaced');
  const builds = [paced, unpaced];
  cpSync(paced, unpaced, { recursive: true });
  openWindow(unpaced);
  try {
    const found = Object.fromEntries(Object.keys(WAYS).map((title) => [title, []]));
    for (let pair = 0; pair < PAIRS; pair++) {
      const ratios = await ratiosOfPair(builds, pair % 2 === 1);
      for (const title of Object.keys(WAYS)) found[title].push(ratios[title]);
    }
    for (const [title, pairs] of Object.entries(found)) console.log(`${title}: ${summary(pairs)}`);
  } finally {
    for (const built of builds) rmSync(built, { recursive: true });
  }
}

/** Makes the smallest window of a build infinite. */
function openWindow(built) {
  const shared = join(built, 'shared');
  const files = readdirSync(shared).filter((name) => name.endsWith('.js'));
  const replaced = files.filter((name) => {
    const before = readFileSync(join(shared, name), 'utf8');
    const after = before.replace(/\bMIN_WINDOW_BYTES\s*=\s*72\s*\*\s*1024/, 'MIN_WINDOW_BYTES=Infinity');
    writeFileSync(join(shared, name), after);
    return after !== before;
  });
  if (replaced.length !== 1) throw new Error(`expected one file with the window, got ${replaced.length}`);
}

/** Returns the ratios of the blocks of a new pair of processes, by way. Both load the builds in order, or the other way round. */
async function ratiosOfPair(builds, isReversed) {
  const sides = builds.map((built, side) => ({ built, side }));
  if (isReversed) sides.reverse();
  const server = fork(import.meta.filename, ['server', ...sides.map(({ built }) => built)]);
  const [ports] = await once(server, 'message');
  const dials = sides.map((side, nth) => ({ ...side, port: ports[nth] }));
  const client = fork(import.meta.filename, ['client', JSON.stringify(dials)]);
  const [ratios] = await once(client, 'message');
  for (const child of [client, server]) child.disconnect();
  return ratios;
}

/** Serves each build on a port of its own. */
async function serveBoth(builds) {
  process.on('disconnect', () => process.exit());
  const ports = [];
  for (const built of builds) {
    const { serve } = await load(built, 'node');
    const payload = 'x'.repeat(TRANSFER_BYTES);
    const onStream = (asked, stream) => (asked === 'payload' ? stream.reply(payload) : stream.sendAll(items()));
    ports.push((await serve({ host: '127.0.0.1', port: 0, limits: LIMITS, onStream }).listening).port);
  }
  process.send(ports);
}

function* items() {
  const item = 'x'.repeat(ITEM_BYTES);
  for (let n = 0; n < ITEMS; n++) yield item;
}

async function measure(dials) {
  process.on('disconnect', () => process.exit());
  const peers = [];
  for (const { built, side, port } of dials) {
    const { connect } = await load(built, 'node');
    peers[side] = connect(`ws://127.0.0.1:${port}`, { limits: LIMITS });
    await peers[side].opened;
  }
  const ratios = {};
  for (const [title, way] of Object.entries(WAYS)) ratios[title] = await ratiosOf(peers, way);
  process.send(ratios);
}

/** Returns for each block the time with a window as a share of the time without one. */
async function ratiosOf([paced, unpaced], { transfer, blocks }) {
  const found = [];
  for (let block = -WARM_BLOCKS; block < blocks; block++) {
    const took = [];
    for (const peer of [paced, unpaced, unpaced, paced]) took.push(await timed(() => transfer(peer)));
    if (block >= 0) found.push((took[0] + took[3]) / (took[1] + took[2]));
  }
  return found;
}

async function timed(run) {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}

async function onePayload(peer) {
  await peer.request('payload');
}

function manyItems(peer) {
  return new Promise((complete, error) => {
    peer.open$('items').subscribe({ complete, error });
  });
}

/** Describes the ratios of all pairs. The interval holds the true median with a probability of 95 %, whatever the distribution. */
function summary(pairs) {
  const sorted = inOrder(pairs.flat());
  const { length } = sorted;
  const reach = (DEVIATIONS * Math.sqrt(length)) / 2;
  const low = sorted[Math.max(0, Math.floor(length / 2 - reach))];
  const high = sorted[Math.min(length - 1, Math.ceil(length / 2 + reach))];
  const verdict = high <= 1 + MOST_COST ? 'costs at most' : low > 1 + MOST_COST ? 'costs more than' : 'is undecided about';
  const medians = pairs.map((ratios) => median(inOrder(ratios)).toFixed(3)).join(', ');
  return [
    `${median(sorted).toFixed(3)} of the time without a window, from ${low.toFixed(3)} to ${high.toFixed(3)} (95 % of ${length} blocks).`,
    `The window ${verdict} ${MOST_COST * 100} %. Medians of the pairs of processes: ${medians}`,
  ].join(' ');
}
