// `npm run bench:servers` compares Bun's server with Node's: one handler over rxmux/bun and over rxmux/node, which one client of Node asks by turns.
// It prints medians of requests a second with 64 in flight, and of what a request costs the server in CPU.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { builtIn, inOrder, load, median } from './builds.js';

const BUN = 'bun@1.4';
const ROUNDS = 15;
const LANES = 64;
const REQUESTS_OF_A_LANE = 300;
const PAYLOAD = { op: 'echo', n: 100_000, user: 'u-00421', price: 1234.56, tags: ['alpha', 'beta'], live: true };
/** A server answers this with the µs of CPU that it has taken. */
const CPU = 'cpu';

const [role, built] = process.argv.slice(2);

if (role === undefined) await compare();
else console.log(await listen(role));

async function compare() {
  const modules = builtIn('dist/servers');
  const bun = spawnSync('npx', ['--yes', '--package', BUN, '--', 'sh', '-c', 'command -v bun'], { encoding: 'utf8' }).stdout.trim();
  const servers = [];
  try {
    const { connect } = await load(modules, 'node');
    for (const [name, program] of Object.entries({ node: process.execPath, bun })) {
      const child = spawn(program, [import.meta.filename, name, modules], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [port] = await once(child.stdout, 'data');
      servers.push({ name, child, peer: connect(`ws://127.0.0.1:${Number(port)}`), rounds: [] });
    }
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round++)
      for (const { peer, rounds } of servers) {
        const found = await measured(peer);
        if (round > 0) rounds.push(found);
      }
    for (const { name, rounds } of servers) {
      const of = (figure) => median(inOrder(rounds.map((round) => round[figure])));
      console.log(`${name}: ${of('perSecond').toFixed(0)} requests/s, ${of('cpu').toFixed(1)} µs of the server's CPU for each`);
    }
  } finally {
    for (const { child, peer } of servers) {
      await peer.close();
      child.kill();
    }
    rmSync(modules, { recursive: true });
  }
}

/** Serves on a free port, and returns it. */
async function listen(name) {
  const { serve } = await load(built, name);
  const options = { onStream: (asked, stream) => stream.reply(asked === CPU ? cpuMicroseconds() : asked) };
  if (name === 'node') return (await serve({ ...options, host: '127.0.0.1', port: 0 }).listening).port;
  const mux = serve(options);
  return globalThis.Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: mux.fetch, websocket: mux.websocket }).port;
}

function cpuMicroseconds() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function measured(peer) {
  const count = LANES * REQUESTS_OF_A_LANE;
  const cpu = await peer.request(CPU);
  const begun = performance.now();
  await Promise.all(Array.from({ length: LANES }, () => lane(peer)));
  const seconds = (performance.now() - begun) / 1000;
  return { perSecond: count / seconds, cpu: ((await peer.request(CPU)) - cpu) / count };
}

async function lane(peer) {
  for (let n = 0; n < REQUESTS_OF_A_LANE; n++) await peer.request(PAYLOAD);
}
