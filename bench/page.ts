// `npm run bench:page` says how much of a client's code runs in a page, step by step: what no step runs is for rarer cases.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { from, interval, lastValueFrom, map, take } from 'rxjs';
import type * as rxmux from 'rxmux';
import type { Peer } from 'rxmux';
import { serve } from 'rxmux/node';
import { WebSocket } from 'ws';
import { BUILT, ROOT } from './harness/place.js';
import { figure, markdown } from './report/table.js';
import { writeBetween } from './report/write.js';

const PAGE = join(ROOT, 'docs/PERFORMANCE.md');
const LARGE = 'x'.repeat(1_000_000);

/** The program of a page, a step in each row. Each step goes on with the peer of the one before. */
const STEPS: readonly (readonly [name: string, run: (peer: Peer) => Promise<unknown>])[] = [
  ['connects, and sends a request', (peer) => peer.request('echo')],
  [
    'opens a stream, and unsubscribes from another',
    async (peer) => {
      await lastValueFrom(peer.open$('ticks').pipe(take(3)));
      await lastValueFrom(peer.open$('few'));
    },
  ],
  [
    'has a call fail, one time out, and one aborted',
    (peer) =>
      Promise.allSettled([
        peer.request('throws'),
        peer.request('never', { timeoutMs: 20 }),
        peer.request('never', { signal: AbortSignal.timeout(20) }),
      ]),
  ],
  ['sends headers, and 1 MB both ways', (peer) => peer.request(LARGE, { headers: { op: 'echo' } })],
  ['uploads the values of an Observable', (peer) => lastValueFrom(peer.open$('upload', { input: interval(1).pipe(take(5)) }))],
  [
    'answers a call of the server',
    (peer) => {
      peer.onStream((payload, stream) => stream.reply(payload));
      return peer.request('call me');
    },
  ],
  [
    'loses its socket, and dials again',
    async (peer) => {
      void peer.request('hang up').catch(() => undefined);
      await lastValueFrom(peer.closes$.pipe(take(1)));
      return peer.request('echo');
    },
  ],
  ['closes', (peer) => peer.close()],
];

const folder = mkdtempSync(join(ROOT, 'dist/page-'));
process.on('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
const file = join(folder, 'page.mjs');
await build({
  stdin: { contents: `export { connect } from './index.js';`, resolveDir: BUILT },
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  external: ['rxjs'],
  outfile: file,
});
const code = readFileSync(file, 'utf8');
/** For each character of the code, whether it has run. */
const hasRun = new Uint8Array(code.length);

const server = serve({ port: 0, onPeer: answer, onError: () => undefined });
await server.listening;
Object.assign(globalThis, { WebSocket });
const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
const { connect } = (await import(pathToFileURL(file).href)) as typeof rxmux;
const peer = connect(server.url, { reconnect: { minDelayMs: 1 } });
const whole = gzipped(code);
const rows: string[][] = [];
for (const [name, run] of STEPS) {
  await run(peer);
  await note();
  const bytes = gzipped(code.replaceAll(/[^]/g, (character, at: number) => (hasRun[at] === 1 ? character : '')));
  rows.push([name, figure(bytes), `${((bytes / whole) * 100).toFixed(0)} %`]);
}
const text = `\`npm run bench:page\` writes this table. A client without rxjs has ${figure(whole)} bytes of gzip in its page. A row shows the bytes that have run once the page has done its step, and all steps before.

${markdown(['the page', 'bytes of gzip that have run', 'share'], rows)}`;
console.log(text);
await writeBetween(PAGE, 'page', text);
process.exit();

/** Answers the calls of {@link STEPS}. */
function answer(caller: Peer): void {
  caller.onStream(async (payload, stream) => {
    if (payload === 'throws') throw new Error('this call fails');
    if (payload === 'hang up') caller.close({ drainMs: 0 }).catch(() => undefined);
    else if (payload === 'ticks') await stream.sendAll(interval(1));
    else if (payload === 'few') await stream.sendAll(from([1, 2, 3]));
    else if (payload === 'upload') await stream.reply(await lastValueFrom(stream.pipe(map(String))));
    else if (payload === 'call me') await stream.reply(await caller.request('echo'));
    else if (payload !== 'never') await stream.reply(payload);
  });
}

/** Marks what has run since the last call. */
async function note(): Promise<void> {
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  const ran = new Uint8Array(code.length);
  const functions = result.find(({ url }) => url.endsWith('/page.mjs'))?.functions ?? [];
  // A function comes after the function around it, and its ranges replace a part of that function's.
  for (const { ranges } of [...functions].sort((one, other) => (one.ranges[0]?.startOffset ?? 0) - (other.ranges[0]?.startOffset ?? 0)))
    for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  for (const [at, value] of ran.entries()) if (value === 1) hasRun[at] = 1;
}

function gzipped(text: string): number {
  return gzipSync(text, { level: 9 }).length;
}
