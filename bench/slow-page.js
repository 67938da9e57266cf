// `npm run bench:slow-page` measures small calls beside a page that takes 12 MiB/s from a faster server, and the same calls alone. A bare
// socket does the same by hand: it asks for one piece after each piece that it has read, so no two arrive together. Both run by turns.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { compareInChromium } from './browser/slow-page.js';
import { builtIn, inOrder, load, median, root } from './builds.js';

const PIECE_BYTES = 64 * 1024;
const PIECES = 384;
/** The bare server keeps as many pieces on their way as a window holds. */
const PIECES_AHEAD = 24;
const BYTES_PER_MS = (12 * 1024 * 1024) / 1000;
const CALL_EVERY_MS = 2;
const ROUNDS = 8;
/** The first rounds run on cold code. */
const COLD_ROUNDS = 2;
const PROTOCOL = 'mux.v1.json';

const WIRES = { rxmux: { serve: serveRxmux, dial: dialRxmux }, 'a bare socket': { serve: serveBare, dial: dialBare } };

const { WebSocket, WebSocketServer } = createRequire(join(root, 'package.json'))('ws');

const [role, ...args] = process.argv.slice(2);

if (role === 'server') await serveWires(args[0]);
else if (role === '--chromium') await compareSockets();
else await compare();

/** The same with a page of Chromium, over both kinds of its sockets. */
async function compareSockets() {
  const built = builtIn('dist/slow-page');
  try {
    await compareInChromium(built);
  } finally {
    rmSync(built, { recursive: true });
  }
}

async function compare() {
  const built = builtIn('dist/slow-page');
  const server = fork(import.meta.filename, ['server', built]);
  try {
    const [ports] = await once(server, 'message');
    const dialed = {};
    for (const [name, { dial }] of Object.entries(WIRES)) dialed[name] = { wire: await dial(ports[name], built), rounds: [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const { wire, rounds } of Object.values(dialed)) rounds.push(await roundOf(wire));
    }
    for (const [name, { rounds }] of Object.entries(dialed)) console.log(`${name}: ${summary(rounds.slice(COLD_ROUNDS))}`);
  } finally {
    server.kill();
    rmSync(built, { recursive: true });
  }
  // Both connections are still open.
  process.exit();
}

/** Calls beside a reader, and then for as long without it. */
async function roundOf(wire) {
  const begun = performance.now();
  let isReading = true;
  const beside = waits(wire, () => isReading);
  await read(wire.pieces());
  isReading = false;
  const busy = await beside;
  const until = performance.now() * 2 - begun;
  return { busy, alone: await waits(wire, () => performance.now() < until) };
}

async function read(pieces) {
  const begun = performance.now();
  let count = 0;
  for await (const piece of pieces) {
    if (piece.length !== PIECE_BYTES) throw new Error(`expected a piece of ${PIECE_BYTES} bytes, got ${piece.length}`);
    await wait(Math.max(0, begun + (++count * PIECE_BYTES) / BYTES_PER_MS - performance.now()));
  }
  if (count !== PIECES) throw new Error(`expected ${PIECES} pieces, got ${count}`);
}

/** Returns how long each call took, in ms, in order of their length. */
async function waits({ call }, more) {
  const found = [];
  while (more()) {
    const begun = performance.now();
    await call();
    found.push(performance.now() - begun);
    await wait(CALL_EVERY_MS);
  }
  return inOrder(found);
}

function summary(rounds) {
  const shares = Object.entries({ p50: 0.5, p99: 0.99 }).map(([name, share]) => {
    const [alone, busy] = ['alone', 'busy'].map((when) => median(inOrder(rounds.map((round) => at(round[when], share)))));
    return `${name} ${alone.toFixed(2)} ms alone, ${busy.toFixed(2)} beside the page (${(busy / alone).toFixed(1)} times)`;
  });
  return `${shares.join('; ')}. Medians of ${rounds.length} rounds.`;
}

function at(sorted, share) {
  return sorted[Math.floor(sorted.length * share)];
}

async function serveWires(built) {
  process.on('disconnect', () => process.exit());
  const ports = {};
  for (const [name, { serve }] of Object.entries(WIRES)) ports[name] = await serve(built);
  process.send(ports);
}

function piece() {
  return 'x'.repeat(PIECE_BYTES);
}

function* allPieces() {
  for (let nth = 0; nth < PIECES; nth++) yield piece();
}

async function serveRxmux(built) {
  const { serve } = await load(built, 'node');
  const onStream = (asked, stream) => (asked === 'pieces' ? stream.sendAll(allPieces()) : stream.reply(asked));
  return (await serve({ host: '127.0.0.1', port: 0, onStream }).listening).port;
}

async function dialRxmux(port, built) {
  const { Peer } = await load(built, 'index');
  // A page's socket cannot be paused.
  const socket = Object.assign(new WebSocket(address(port), PROTOCOL, { perMessageDeflate: false }), { pause() {}, resume() {} });
  const peer = new Peer(socket, { isDialer: true });
  void peer.serve();
  await peer.opened;
  return { call: () => peer.request('small'), pieces: () => peer.open('pieces', { end: true }) };
}

async function serveBare() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  await once(server, 'listening');
  server.on('connection', (socket) => {
    socket.on('message', (data) => {
      const { id, pieces = 0 } = JSON.parse(data.toString());
      if (id !== undefined) socket.send(JSON.stringify({ id }));
      for (let nth = 0; nth < pieces; nth++) socket.send(JSON.stringify({ piece: piece() }));
    });
  });
  return server.address().port;
}

async function dialBare(port) {
  const socket = new WebSocket(address(port), { perMessageDeflate: false });
  await once(socket, 'open');
  const answers = new Map();
  const arrived = [];
  let wake = () => {};
  socket.on('message', (data) => {
    const { id, piece: text } = JSON.parse(data.toString());
    if (id === undefined) arrived.push(text);
    else answers.get(id)();
    wake();
  });
  const ask = (pieces) => socket.send(JSON.stringify({ pieces }));

  async function* pieces() {
    ask(PIECES_AHEAD);
    for (let read = 0; read < PIECES; read++) {
      while (arrived.length === 0) await new Promise((resolve) => (wake = resolve));
      yield arrived.shift();
      if (read + PIECES_AHEAD < PIECES) ask(1);
    }
  }

  let calls = 0;
  async function call() {
    const id = ++calls;
    await new Promise((resolve) => {
      answers.set(id, resolve);
      socket.send(JSON.stringify({ id }));
    });
    answers.delete(id);
  }

  return { call, pieces };
}

function address(port) {
  return `ws://127.0.0.1:${port}`;
}
