import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocketServer } from 'ws';
import type { Stream } from '../../src/index.js';
import { serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { BuiltCommand } from '../command/command.js';
import { tableBelow, writeTable } from '../docs/markdown.js';
import { collectLogs } from '../support/peer/logs.js';
import { LIBRARIES } from './libraries.js';
import type { Program } from './libraries.js';

const PAGE = ['docs/PROTOCOL.md', 'Fragmentation'] as const;
const MAX_FRAME_BYTES = 65_536;
const COUNT = 1_000;
const LONGEST_ERROR = 48;
/** The rows of `rxmux check` that meet the library: handshake, ping, fragments, close code, subprotocol. LONG=1 runs all. */
const ROWS = process.env['LONG'] === '1' ? ['12'] : ['12.1', '12.2', '12.3', '12.6', '12.9'];

type Job = { readonly op: string; readonly value?: unknown };

let cause: Stream['closed'];
const ANSWERS: Readonly<Record<string, (stream: Stream, value: unknown) => unknown>> = {
  echo: (stream, value) => stream.reply(value),
  count: (stream) => stream.sendAll(Array.from({ length: COUNT }, (_, n) => n)),
  ticks: async (stream) => {
    cause = stream.closed;
    for (let n = 0; !stream.signal.aborted; n++) {
      await stream.send(n);
      await new Promise(setImmediate);
    }
  },
  cause: async (stream) => {
    const ended = await cause;
    return stream.reply({ how: ended.how, code: 'code' in ended ? ended.code : null });
  },
  ping: async (stream) => {
    await stream.peer.ping();
    return stream.reply('answered');
  },
  fail: () => {
    throw new RangeError('out of range');
  },
  leave: async (stream) => {
    await stream.reply(null);
    void stream.peer.close();
  },
};

let folder: string;
let command: BuiltCommand;
let mux: MuxServer;
let url: string;
const ends: Promise<unknown>[] = [];
/** A server that picks no subprotocol, and sends one message of the longest length of the wire. */
let plain: WebSocketServer;
const extensions: (string | undefined)[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rxmux-ports-'));
  command = new BuiltCommand();
  mux = serve({
    host: '127.0.0.1',
    port: 0,
    // A message beyond the cap ends the connection.
    limits: { maxMessageBytes: MAX_FRAME_BYTES },
    handler: (payload, stream) => ANSWERS[(payload as Job).op]?.(stream, (payload as Job).value),
  });
  mux.peers$.subscribe((peer) => {
    ends.push(peer.closed.then(({ code, wasClean }) => ({ code, wasClean })));
  });
  url = `ws://127.0.0.1:${(await mux.listening).port}`;
  plain = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, handleProtocols: () => false });
  plain.on('connection', (socket, { headers }) => {
    extensions.push(headers['sec-websocket-extensions']);
    socket.on('error', () => undefined);
    socket.send('x'.repeat(MAX_FRAME_BYTES));
  });
});
afterAll(async () => {
  await mux.close();
  for (const socket of plain.clients) socket.terminate();
  plain.close();
  command.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const logs = collectLogs();

/** Runs a program to its end, and returns what it prints. */
async function outcomeOf({ command: [program, ...args] }: Program, mode: string, address: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(program, [...args, mode, address]);
  return JSON.parse(stdout);
}

describe.each(LIBRARIES)('A port over $name', ({ name, raise, build }) => {
  let program: Program;
  beforeAll(() => {
    program = build(folder);
  });

  it('A port calls, streams, cancels, sees a failure, answers pings, and cuts and joins 1 MB', async () => {
    ends.length = 0;
    expect(await outcomeOf(program, 'calls', url)).toEqual({
      echo: ['é😀'],
      count: COUNT,
      first: [0, 1, 2],
      cause: [{ how: 'reset', code: 8 }],
      pinged: ['answered'],
      big: true,
      failed: [16, { name: 'RangeError', message: 'out of range' }],
      goaway: 0,
      close: 1000,
    });
    expect(await Promise.all(ends)).toEqual([
      { code: 1000, wasClean: true },
      { code: 1000, wasClean: true },
    ]);
    expect(logs.errors).toEqual([expect.stringMatching(/stream 13: a handler failed$/)]);
  });

  it('A port passes the rows of `rxmux check` for dialers', async () => {
    const only = ROWS.flatMap((row) => ['--only', row]);
    const { status, out } = await command.run(['check', ...only, '--timeout', '60000', '--listen', '--', ...program.command, 'hello']);
    expect(out).toMatch(/ passed, 0 failed, 0 skipped/);
    expect(status).toBe(0);
  });

  it('The table of PROTOCOL.md has what was seen', async () => {
    const { port } = plain.address() as AddressInfo;
    const seen = await outcomeOf(program, 'facts', `ws://127.0.0.1:${port}`);
    const { characters, error, pieces, subprotocol } = seen as {
      characters?: number;
      error?: string;
      pieces: number;
      subprotocol: unknown;
    };
    const said = error !== undefined && error.length > LONGEST_ERROR ? `${error.slice(0, LONGEST_ERROR)}…` : error;
    const reads = said !== undefined ? `no: \`${said}\`` : pieces > 1 ? 'yes, in pieces' : 'yes';
    if (error === undefined) expect(characters).toBe(MAX_FRAME_BYTES);
    const opens = subprotocol === '' ? 'an empty text' : `\`${String(subprotocol)}\``;
    const row = [name, program.version, reads, raise, opens, extensions.at(-1) === undefined ? 'no' : 'yes'];
    const rows = tableBelow(...PAGE);
    if (process.env['TABLES'] === 'write') writeTable(...PAGE, [...rows.filter(([first]) => first !== name), row]);
    // Another version of the library passes, too, if it does the same.
    const written = tableBelow(...PAGE).find(([first]) => first === name) ?? [];
    expect(written.map((cell, nth) => (nth === 1 ? program.version : cell))).toEqual(row);
  });
});
