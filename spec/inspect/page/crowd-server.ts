// A server under inspection, and its dialers: `node crowd-server.js DIALERS STREAMS ENDS`. The first dialer keeps STREAMS streams open, of which
// ENDS a second end and are opened anew; all dialers send requests. It prints the address of the page, and at each input what has passed.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tap } from 'rxjs';
import type { Stream } from '../../../src/index.js';
import { answerInspector, inspect } from '../../../src/inspect.js';
import type { Inspection } from '../../../src/inspect.js';
import { connect, serve } from '../../../src/node.js';

const EVERY_MS = 50;
const REQUESTS = 10;
const [dialers, streams, ends, file] = [Number(process.argv[2]), Number(process.argv[3]), Number(process.argv[4]), String(process.argv[5])];
const limits = { maxStreams: 2 * streams };
const passed = { bytes: 0, viewers: 0, requests: 0, answers: 0, parts: 0 };

const open: Stream[] = [];
const app = serve({
  port: 0,
  host: '127.0.0.1',
  limits,
  handler: (payload, stream) => {
    if ((payload as string[])[0] !== 'watch') return stream.reply(payload);
    open.push(stream);
    return stream.closed;
  },
});
await app.listening;
const inspection = inspect(app);

const page = readFileSync(file);
const http = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page)).listen(0, '127.0.0.1');
await once(http, 'listening');
const viewers = new Set<Socket>();
/** Counts the lines and the peers of the batches that viewers get. */
const counted: Inspection = {
  lines: inspection.lines,
  feed: (payloads$) => inspection.feed(payloads$).pipe(tap((batch) => (passed.parts += batch.lines.length + batch.peers.length))),
  close: () => {
    inspection.close();
  },
};
serve({
  server: http,
  path: '/inspect',
  onPeer: (_, request) => {
    const socket = request?.socket;
    if (socket !== undefined) viewers.add(socket.on('close', () => viewers.delete(socket)));
  },
  handler: answerInspector(counted, { verify: () => true }),
});

const url = `ws://127.0.0.1:${(app.address() as AddressInfo).port}`;
const peers = Array.from({ length: dialers }, () => connect(url, { limits }));
await Promise.all(peers.map((peer) => peer.opened));
const watch = (): unknown => peers[0]?.open$(['watch']).subscribe();
for (let n = 0; n < streams; n++) watch();
let turn = 0;
setInterval(() => {
  for (let n = 0; n < (ends * EVERY_MS) / 1_000; n++) {
    void open.shift()?.end();
    watch();
  }
  for (let n = 0; n < REQUESTS; n++) void peers[turn++ % dialers]?.request(['hi']).then(() => passed.answers++);
}, EVERY_MS);

console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}/#/inspect`);
process.stdin.on('data', () => {
  const bytes = [...viewers].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  console.log(JSON.stringify({ ...passed, bytes, viewers: viewers.size, requests: turn }));
});
