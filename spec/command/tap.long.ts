import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectTo, Server } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket as Ws, WebSocketServer } from 'ws';
import { until } from '../support/socket/leaks.js';
import { BuiltCommand } from './command.js';

let command: BuiltCommand;
const files = mkdtempSync(join(tmpdir(), 'rxmux-tap-'));
beforeAll(() => {
  command = new BuiltCommand();
});
afterAll(() => {
  command.dispose();
  rmSync(files, { recursive: true });
});

/** The address of a server that listens on a free port of this machine. */
async function addressOf(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Records one call through a tap, and returns the recording. */
async function recorded(codec: string, file: string, ...options: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const server = await command.serve('--codec', codec);
  const tap = await command.listen('tap', '--port', '0', '--record', file, ...options, server);
  const { status, out } = await command.run(['call', '--json', '--codec', codec, tap.url, '["check.echo",{"a":[1]}]']);
  expect({ status, out }).toEqual({ status: 0, out: '{"payload":{"a":[1]}}\n' });
  tap.child.kill('SIGTERM');
  await once(tap.child, 'exit');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('rxmux tap', () => {
  it.each(['json', 'msgpack'])('`rxmux tap` records the frames of both sides under %s', async (codec) => {
    const lines = await recorded(codec, join(files, `${codec}.ndjson`), '--payloads');
    expect(lines.slice(0, 2)).toMatchObject([
      { v: 1, c: 1, d: '>', f: { type: 'open', stream: 1, end: true, payload: ['check.echo', { a: [1] }] } },
      { v: 1, c: 1, d: '<', f: { type: 'data', stream: 1, end: true, payload: { a: [1] } } },
    ]);
  });

  it('`rxmux tap` records only the size of a payload without --payloads', async () => {
    const [first] = await recorded('json', join(files, 'sizes.ndjson'));
    expect(first).toMatchObject({ f: { type: 'open', payload: { $size: 24 } } });
  });

  it('`rxmux tap` refuses a handshake that names a subprotocol twice, and says so', async () => {
    const tap = await command.listen('tap', '--port', '0', await command.serve());
    const said = once(tap.child.stderr ?? tap.child, 'data');
    const dialer = connectTo(Number(new URL(tap.url).port), '127.0.0.1');
    dialer.write('GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: a, a\r\nHost: a\r\n\r\n');
    expect(String(await once(dialer, 'data'))).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
    expect(String(await said)).toMatch(/^rxmux tap: connection 1: .*: An invalid or duplicated subprotocol was specified\n$/);
    expect(tap.child.exitCode).toBeNull();
  });

  it('`rxmux tap` passes on a payload that is nested too deep to be shown', async () => {
    const server = await command.serve();
    const tap = await command.listen('tap', '--port', '0', server);
    const shown = once(tap.child.stdout ?? tap.child, 'data');
    const dialer = new Ws(tap.url, 'mux.v1.json');
    await once(dialer, 'open');
    dialer.send(`{"type":"open","stream":1,"payload":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
    expect(await once(dialer, 'close')).toEqual([1002, expect.anything()]);
    expect(String(await shown)).toMatch(/ #1 > a message that does not decode\n/);
  });

  it.each(['mux.v1.msgpack', 'mux.v1.cbor'])('`rxmux tap` passes on the message that a server sends first, under %s', async (protocol) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => {
      socket.send(Uint8Array.of(0x80));
    });
    await once(server, 'listening');
    const tap = await command.listen('tap', '--port', '0', `ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const dialer = new Ws(tap.url, protocol);
    const [message] = (await once(dialer, 'message')) as [Buffer];
    expect([...message]).toEqual([0x80]);
    dialer.terminate();
    for (const client of server.clients) client.terminate();
    server.close();
  });
});

describe('a target of `rxmux tap`', () => {
  const sockets = new Set<Socket>();
  let server: Server;

  function watch(target: Server): Promise<string> {
    server = target.on('connection', (socket: Socket) => {
      sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    });
    return addressOf(target);
  }

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('A target that has not answered yet loses the connection of a dialer that leaves', async () => {
    // Behind an upgrade, Node leaves a socket half-open whose other end has gone.
    const url = await watch(createServer().on('upgrade', (_, socket) => socket.on('end', () => socket.destroy())));
    const tap = await command.listen('tap', '--port', '0', url);
    const dialer = new Ws(tap.url, 'mux.v1.json').on('error', () => undefined);
    await until('a connection', () => sockets.size === 1);
    dialer.terminate();
    await until('its end', () => sockets.size === 0);
  });

  it('A target that refuses a dialer without closing loses the connection, and the dialer has its status', async () => {
    const refusal = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\n\r\nnever';
    const url = await watch(new Server((socket) => socket.once('data', () => socket.write(refusal))));
    const tap = await command.listen('tap', '--port', '0', url);
    const [{ message }] = (await once(new Ws(tap.url, 'mux.v1.json'), 'error')) as [Error];
    expect(message).toBe('Unexpected server response: 403');
    await until('the end of the connection', () => sockets.size === 0);
  });

  it('A target loses the connection of a dialer whose handshake is a wrong one', async () => {
    const upgrades = new WebSocketServer({ noServer: true });
    let accepted = 0;
    const http = createServer().on('upgrade', (request, socket, head) => {
      upgrades.handleUpgrade(request, socket, head, () => accepted++);
    });
    const tap = await command.listen('tap', '--port', '0', await watch(http));
    const answer = await fetch(tap.url.replace('ws:', 'http:')).then(({ status }) => status);
    expect(answer).toBe(426);
    const wrong = connectTo(Number(new URL(tap.url).port), '127.0.0.1').on('error', () => undefined);
    wrong.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 7\r\n\r\n');
    await until('a connection', () => accepted === 1);
    await until('its end', () => sockets.size === 0);
    wrong.destroy();
  });

  it('A target hears of a close as the dialer closed: with a code, without one, or without a word', async () => {
    const closes: number[] = [];
    const upgrades = new WebSocketServer({ noServer: true });
    const http = createServer().on('upgrade', (request, socket, head) => {
      upgrades.handleUpgrade(request, socket, head, (accepted) => accepted.on('close', (code) => closes.push(code)));
    });
    const tap = await command.listen('tap', '--port', '0', await watch(http));
    for (const [close, code] of [
      [(dialer: Ws) => dialer.close(4321, 'why'), 4321],
      [(dialer: Ws) => dialer.close(), 1005],
      [(dialer: Ws) => dialer.terminate(), 1006],
    ] as const) {
      const dialer = new Ws(tap.url, 'mux.v1.json');
      await once(dialer, 'open');
      close(dialer);
      await until('a close', () => closes.length > 0);
      expect(closes.splice(0)).toEqual([code]);
    }
  });
});

describe('rxmux replay', () => {
  it.each(['json', 'msgpack'])('`rxmux replay` sends the frames again, and prints the answers under %s', async (codec) => {
    const file = join(files, `replayed-${codec}.ndjson`);
    await recorded(codec, file, '--payloads');
    const server = await command.serve('--codec', codec);
    const { status, out } = await command.run(['replay', '--json', '--speed', '0', '--codec', codec, '--timeout', '60000', file, server]);
    expect(status).toBe(0);
    expect(out).toContain('"f":{"type":"data","stream":1,"end":true,"payload":{"a":[1]}}');
  });

  it.each(['5', 'null', '[1]', 'no JSON', Buffer.from([1])])(
    '`rxmux replay` shows a message that is no frame, and goes on: %j',
    async (message) => {
      const file = join(files, 'lone.ndjson');
      const [asked, answered] = [
        { type: 'open', stream: 1, end: true, payload: 1 },
        { type: 'data', stream: 1, end: true, payload: 1 },
      ];
      writeFileSync(file, [asked, answered].map((f, t) => JSON.stringify({ v: 1, t, c: 1, d: t === 0 ? '>' : '<', f })).join('\n'));
      const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
      server.on('connection', (socket) => {
        socket.on('message', () => {
          socket.send(message);
          socket.send(JSON.stringify(answered));
        });
      });
      await once(server, 'listening');
      const { status, out } = await command.run(['replay', file, `ws://127.0.0.1:${(server.address() as AddressInfo).port}`]);
      expect({ status, out }).toEqual({
        status: 0,
        out: expect.stringMatching(/ a message that does not decode\n.* data 1 1 units end\n$/),
      });
      server.close();
    },
  );

  it.each([
    ['no answer comes', { type: 'open', stream: 1, payload: 1 }, '>', 5, 'no frame came for 51 ms'],
    [
      'the server never opens the stream that the recording answers',
      { type: 'open', stream: 2, payload: 1 },
      '<',
      5,
      'no frame came for 51 ms',
    ],
  ] as const)('`rxmux replay` ends and says why when %s', async (_what, open, d, expected, why) => {
    const file = join(files, 'unanswered.ndjson');
    const answer = { type: 'data', stream: open.stream, end: true, payload: 1 };
    const lines = [
      { t: 0, d, f: open },
      { t: 1, d: d === '>' ? '<' : '>', f: answer },
    ];
    writeFileSync(file, lines.map((line) => JSON.stringify({ v: 1, c: 1, ...line })).join('\n'));
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { status, err } = await command.run(['replay', '--timeout', '50', file, url]);
    expect({ status, err }).toEqual({ status: expected, err: `rxmux replay: ${why}. Frames that have not come back: 1\n` });
    server.close();
  });

  it('`rxmux replay --timeout 0` waits without end', async () => {
    const file = join(files, 'slow.ndjson');
    const answer = { type: 'data', stream: 1, end: true, payload: 1 };
    const lines = [
      { t: 0, d: '>', f: { type: 'open', stream: 1, end: true, payload: 1 } },
      { t: 1, d: '<', f: answer },
    ];
    writeFileSync(file, lines.map((line) => JSON.stringify({ v: 1, c: 1, ...line })).join('\n'));
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => {
      socket.on('message', () => {
        setTimeout(() => {
          socket.send(JSON.stringify(answer));
        }, 200);
      });
    });
    await once(server, 'listening');
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await command.run(['replay', '--timeout', '0', file, url])).toMatchObject({ status: 0, err: '' });
    server.close();
  });

  it('`rxmux replay` reads a recording of many frames', async () => {
    const file = join(files, 'many.ndjson');
    const row = JSON.stringify({ v: 1, t: 0, c: 1, d: '>', f: { type: 'open', stream: 1, end: true, payload: 1 } });
    writeFileSync(file, `${row}\n`.repeat(150_000));
    const { status, err } = await command.run(['replay', file, 'ws://127.0.0.1:1']);
    expect({ status, err }).toEqual({ status: 6, err: expect.stringMatching(/^rxmux replay: connect ECONNREFUSED .*\n$/) });
  });

  it('`rxmux replay` refuses a recording without payloads', async () => {
    const file = join(files, 'without.ndjson');
    await recorded('json', file);
    const { status, err } = await command.run(['replay', file, 'ws://127.0.0.1:1']);
    expect({ status, err }).toMatchObject({
      status: 2,
      err: expect.stringContaining('rxmux tap --record FILE --payloads makes a recording'),
    });
  });
});
