// `npm run bench:pacing` measures what the window of bulk costs on loopback: this build and one without a window, by turns.
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';

const MIB = 1024 * 1024;
const ROUNDS = 40;
const WARM_ROUNDS = 5;
const TRANSFER_BYTES = 16 * MIB;
const ITEM_BYTES = 65_000;
const ITEMS = 512;
const LIMITS = { maxPayloadBytes: 2 * TRANSFER_BYTES };

const root = join(import.meta.dirname, '..');
const [role, served] = process.argv.slice(2);

if (role === 'server') await listen(served);
else await compare();

async function listen(built) {
  const { serve } = await load(built);
  const payload = 'x'.repeat(TRANSFER_BYTES);
  const server = serve({
    host: '127.0.0.1',
    port: 0,
    limits: LIMITS,
    onStream: (asked, stream) => (asked === 'payload' ? stream.reply(payload) : stream.sendAll(items())),
  });
  process.on('disconnect', () => process.exit());
  process.send((await server.listening).port);
}

function* items() {
  const item = 'x'.repeat(ITEM_BYTES);
  for (let n = 0; n < ITEMS; n++) yield item;
}

async function compare() {
  const paced = join(root, 'dist/paced');
  const unpaced = join(root, 'dist/unpaced');
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/modules.js'), paced], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  cpSync(paced, unpaced, { recursive: true });
  openWindow(unpaced);
  const sides = await Promise.all([paced, unpaced].map(dial));
  const ways = { '16 MiB in one payload': onePayload, [`${ITEMS} items of 65 000 bytes`]: manyItems };
  for (const [title, transfer] of Object.entries(ways)) console.log(`${title}: ${await ratios(sides, transfer)}`);
  for (const built of [paced, unpaced]) rmSync(built, { recursive: true });
  process.exit();
}

/** Makes the smallest window of a build infinite. */
function openWindow(built) {
  const shared = join(built, 'shared');
  const files = readdirSync(shared).filter((name) => name.endsWith('.js'));
  const replaced = files.filter((name) => {
    const before = readFileSync(join(shared, name), 'utf8');
    const after = before.replace(/\bMIN_WINDOW_BYTES\s*=\s*512\s*\*\s*1024/, 'MIN_WINDOW_BYTES=Infinity');
    writeFileSync(join(shared, name), after);
    return after !== before;
  });
  if (replaced.length !== 1) throw new Error(`expected one file with the window, got ${replaced.length}`);
}

async function dial(built) {
  const { connect } = await load(built);
  const server = fork(import.meta.filename, ['server', built]);
  const [port] = await once(server, 'message');
  const peer = connect(`ws://127.0.0.1:${port}`, { limits: LIMITS });
  await peer.opened;
  return peer;
}

/** Returns the time with a window as a share of the time without one: the quartiles of pairs of transfers. */
async function ratios(sides, transfer) {
  const found = [];
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    // Each build is first in every second round.
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    const took = [];
    for (const side of order) took[side] = await timed(() => transfer(sides[side]));
    if (round >= 0) found.push(took[0] / took[1]);
  }
  found.sort((one, other) => one - other);
  const quartiles = [1, 2, 3].map((quarter) => found[(quarter * ROUNDS) / 4].toFixed(2));
  return `${quartiles.join(', ')} of the time without a window (quartiles of ${ROUNDS} pairs)`;
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

function load(built) {
  return import(pathToFileURL(join(built, 'node.js')).href);
}
