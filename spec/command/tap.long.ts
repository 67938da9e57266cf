import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { execFile } from 'node:child_process';
import { createServer, get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect as connectTo, Server } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket as Ws, WebSocketServer } from 'ws';
import { JsonCodec } from '../../src/index.js';
import { writeLine } from '../../src/inspect.js';
import type { Line } from '../../src/inspect.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { connect, serve } from '../../src/node.js';
import { RichCodec } from '../../src/rich.js';
import { replay } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { until } from '../support/socket/leaks.js';
import { BuiltCommand } from './command.js';

collectLogs();

let command: BuiltCommand;
const files = mkdtempSync(join(tmpdir(), 'rxmux-tap-'));
beforeAll(() => {
  command = new BuiltCommand();
});
afterAll(() => {
  command.dispose();
  rmSync(files, { recursive: true });
});

const bytes = Uint8Array.of(1, 2);

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

describe('a dialer behind `rxmux tap`', () => {
  it.each([
    ['/mux?token=a', '/', '/mux?token=a'],
    ['/mux?token=a', '/other', '/other?token=a'],
    ['/mux', '/?room=1', '/mux?room=1'],
    ['', '//example.org/a%2Fb?room=1', '//example.org/a%2Fb?room=1'],
  ])('A target at %j sees a dialer that asks for %s at %s', async (path, asked, seen) => {
    const http = createServer();
    const url = `${await addressOf(http)}${path}`;
    const { url: tapped } = await command.listen('tap', '--port', '0', url);
    const upgraded = once(http, 'upgrade') as Promise<[{ url: string }, Socket]>;
    const dialer = connectTo(Number(new URL(tapped).port), '127.0.0.1').on('error', () => undefined);
    dialer.write(
      [
        `GET ${asked} HTTP/1.1`,
        'Host: a',
        'Connection: Upgrade, X-Hop',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        '',
        '',
      ].join('\r\n'),
    );
    const [request, socket] = await upgraded;
    expect(request.url).toBe(seen);
    socket.destroy();
    dialer.destroy();
    http.close();
  });

  it('A target sees the headers of a dialer, and none that are for the tap alone', async () => {
    const http = createServer();
    const { url } = await command.listen('tap', '--port', '0', await addressOf(http));
    const upgraded = once(http, 'upgrade') as Promise<[{ headers: Record<string, string> }, Socket]>;
    const own = { 'X-Kept': 'a', Cookie: 'b=c', Origin: 'http://example.org' };
    const ofOneHop = {
      'Keep-Alive': 'timeout=5',
      TE: 'trailers',
      'Proxy-Authorization': 'Basic x',
      'Proxy-Connection': 'close',
      'X-Hop': 'a',
    };
    const request = get(url.replace('ws:', 'http:'), {
      headers: {
        ...own,
        ...ofOneHop,
        Connection: 'Upgrade, X-Hop',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      },
    }).on('error', () => undefined);
    const [{ headers }, socket] = await upgraded;
    expect(headers).toMatchObject({ 'x-kept': 'a', cookie: 'b=c', origin: 'http://example.org', connection: 'Upgrade' });
    expect(Object.keys(ofOneHop).filter((name) => name.toLowerCase() in headers)).toEqual([]);
    socket.destroy();
    request.destroy();
    http.close();
  });

  it('A dialer gets the headers and the body of a refusal', async () => {
    const http = createServer().on('upgrade', (_, socket: Socket) => {
      const lines = ['Retry-After: 5', 'WWW-Authenticate: Basic realm="a"', 'Set-Cookie: a=1', 'Set-Cookie: b=2', 'Keep-Alive: timeout=5'];
      socket.end(['HTTP/1.1 401 No Entry', ...lines, 'Connection: X-Hop', 'X-Hop: a', 'Content-Length: 8', '', 'sign in\n'].join('\r\n'));
    });
    const { url } = await command.listen('tap', '--port', '0', await addressOf(http));
    const dialer = new Ws(url, 'mux.v1.json').on('error', () => undefined);
    const [, answer] = (await once(dialer, 'unexpected-response')) as [unknown, IncomingMessage];
    expect([answer.statusCode, answer.statusMessage, await text(answer)]).toEqual([401, 'No Entry', 'sign in\n']);
    expect(answer.headers).toMatchObject({ 'retry-after': '5', 'www-authenticate': 'Basic realm="a"', 'set-cookie': ['a=1', 'b=2'] });
    expect(Object.keys(answer.headers)).not.toEqual(expect.arrayContaining(['x-hop']));
    expect(answer.headers['keep-alive']).toBeUndefined();
    http.close();
  });

  it('A dialer gets the headers of the handshake', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('headers', (lines) => lines.push('Set-Cookie: session=1', 'X-Server: a'));
    await once(server, 'listening');
    const { url } = await command.listen('tap', '--port', '0', `ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const dialer = new Ws(url, 'mux.v1.json');
    const [{ headers }] = (await once(dialer, 'upgrade')) as [IncomingMessage];
    expect(headers).toMatchObject({ 'set-cookie': ['session=1'], 'x-server': 'a' });
    dialer.terminate();
    for (const client of server.clients) client.terminate();
    server.close();
  });
});

/** Characters on which a terminal acts, or which hide text: of the C0 and C1 controls, a mark of direction, a line separator. */
const UNSAFE = '\u001b[2J\u009b2J\r\u202e\u2028\u007f';
const UNSAFE_SHOWN = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('text of a remote on a terminal', () => {
  it.each([
    [[], /^\d+\.\d{3} #1 > ".*\n\d+\.\d{3} #1 > reset 1 code=8 reason=".*\n$/],
    [['--json'], /^\{.*\}\n\{.*\}\n$/],
    [['--json', '--payloads'], /^\{.*\}\n\{.*\}\n$/],
  ])('`rxmux tap %j` escapes it', async (options, expected) => {
    const { child, url } = await command.listen('tap', '--port', '0', ...options, await command.serve());
    let shown = '';
    child.stdout?.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    const dialer = new Ws(url, 'mux.v1.json');
    await once(dialer, 'open');
    dialer.send(JSON.stringify({ type: UNSAFE, [UNSAFE]: UNSAFE, other: { [UNSAFE]: 1 } }));
    dialer.send(JSON.stringify({ type: 'reset', stream: 1, code: 8, reason: UNSAFE }));
    await until('two lines', () => shown.split('\n').length > 2);
    expect(shown).not.toMatch(UNSAFE_SHOWN);
    expect(shown).toMatch(expected);
    if (options.length > 0) expect(JSON.parse(shown.split('\n')[1] ?? '')).toMatchObject({ f: { reason: UNSAFE } });
    dialer.terminate();
  });

  it('`rxmux tap` shows only the sizes of headers without --payloads', async () => {
    const { child, url } = await command.listen('tap', '--port', '0', await command.serve());
    const shown = once(child.stdout ?? child, 'data');
    const dialer = new Ws(url, 'mux.v1.json');
    await once(dialer, 'open');
    dialer.send(JSON.stringify({ type: 'open', stream: 1, end: true, headers: { token: 's3cret' }, payload: 1 }));
    expect(String(await shown)).toMatch(/ > open 1 78 bytes end headers=18 bytes\n/);
    dialer.terminate();
  });

  it.each(['json', 'msgpack'])('`rxmux tap` shows the name of a call, and the bytes of a message, under %s', async (codec) => {
    const { child, url } = await command.listen('tap', '--port', '0', await command.serve('--codec', codec));
    const shown = once(child.stdout ?? child, 'data');
    expect((await command.run(['call', '--codec', codec, url, 'check.echo', '{"a":"é"}'])).status).toBe(0);
    const bytes = codec === 'json' ? 73 : 50;
    expect(String(await shown)).toContain(` > open 1 "check.echo" ${bytes} bytes end\n`);
  });

  it.each(['call', 'stream'])('`rxmux %s` escapes the error of a remote', async (name) => {
    await using server = serve({
      port: 0,
      host: '127.0.0.1',
      onStream: () => {
        throw new Error(UNSAFE);
      },
    });
    const url = `ws://127.0.0.1:${(await server.listening).port}`;
    for (const options of [[], ['--json']]) {
      const { status, out, err } = await command.run([name, ...options, url, '1']);
      expect([status, out + err]).toEqual([3, expect.stringContaining('\\u001b[2J\\u009b2J\\r')]);
      expect(out + err).not.toMatch(UNSAFE_SHOWN);
    }
  });

  it('A terminal shows a text payload with its controls escaped, and a pipe gets it unchanged', async () => {
    await using server = serve({ port: 0, host: '127.0.0.1', onStream: (_, stream) => stream.reply(`${UNSAFE}a\n\tb`) });
    const args = ['call', `ws://127.0.0.1:${(await server.listening).port}`, '1'];
    expect((await command.run(args)).out).toBe(`${UNSAFE}a\n\tb\n`);
    const line = [process.execPath, command.path, ...args].join(' ');
    const { stdout } = await promisify(execFile)('script', ['--quiet', '--return', '--command', line, '/dev/null']);
    expect(stdout).toBe('\\u001b[2J\\u009b2J\\r\\u202e\\u2028\\u007fa\r\n\tb\r\n');
  });
});

describe('a slow output of `rxmux tap`', () => {
  it('A tap leaves out lines that an output does not take, reports their number, and passes every message on', async () => {
    const { child, url } = await command.listen('tap', '--port', '0', '--json', '--payloads', await command.serve());
    // Nothing reads the standard output from here on.
    child.stdout?.pause();
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const dialer = new Ws(url, 'mux.v1.json', { perMessageDeflate: false });
    await once(dialer, 'open');
    let answers = 0;
    dialer.on('message', () => answers++);
    const payload = 'x'.repeat(60_000);
    for (let nth = 0; nth < 600; nth++) dialer.send(JSON.stringify({ type: 'open', stream: 2 * nth + 1, end: true, payload }));
    await until(
      () => `600 answers, got ${answers}`,
      () => answers >= 600,
    );
    let shown = 0;
    child.stdout?.on('data', (chunk: Buffer) => (shown += chunk.toString().split('\n').length - 1)).resume();
    // A line that comes once the output flows again makes the tap report.
    const asking = setInterval(() => {
      dialer.send(JSON.stringify({ type: 'ping', nonce: 'n' }));
    }, 100);
    await until('a report', () => said !== '');
    clearInterval(asking);
    const leftOut = Number(/^rxmux tap: (\d+) lines were left out, because the output is too slow\n$/.exec(said)?.[1]);
    expect(leftOut).toBeGreaterThan(0);
    await until('the other lines', () => shown + leftOut >= 1_200);
    dialer.terminate();
  });
});

describe('the end of `rxmux tap`', () => {
  it('A tap that is interrupted passes every line on before it exits', async () => {
    const { child, url } = await command.listen('tap', '--port', '0', '--json', '--payloads', await command.serve());
    child.stdout?.pause();
    const dialer = new Ws(url, 'mux.v1.json', { perMessageDeflate: false });
    await once(dialer, 'open');
    let answers = 0;
    dialer.on('message', (message: Buffer) => (answers += Number(message.includes('payload'))));
    const payload = 'x'.repeat(60_000);
    for (let nth = 0; nth < 20; nth++) dialer.send(JSON.stringify({ type: 'open', stream: 2 * nth + 1, payload }));
    await until('20 answers', () => answers === 20);
    child.kill('SIGINT');
    const [shown, exited] = await Promise.all([text(child.stdout ?? process.stdin), once(child, 'exit')]);
    expect([exited[0], shown.match(/"d":"<".*"payload":"x*"\}\}\n/g)?.length]).toEqual([0, 20]);
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
        out: expect.stringMatching(/ a message that does not decode\n.* data 1 49 bytes end\n$/),
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

  /** Replays lines to a server that answers the first message, and returns what the server got. */
  async function replayedTo(lines: readonly Line[]): Promise<{ readonly status: number | null; readonly heard: readonly string[] }> {
    const file = join(files, 'replayed.ndjson');
    writeFileSync(file, lines.map((each) => `${writeLine(each)}\n`).join(''));
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    const heard: string[] = [];
    const closed = new Promise((resolve) => {
      server.on('connection', (socket) => {
        socket.on('close', resolve).on('message', (message: Buffer) => {
          if (heard.push(message.toString()) === 1) socket.send('{"type":"data","stream":1,"end":true,"payload":1}');
        });
      });
    });
    await once(server, 'listening');
    const { status } = await command.run(['replay', file, `ws://127.0.0.1:${(server.address() as AddressInfo).port}`]);
    await closed;
    server.close();
    return { status, heard };
  }

  it('`rxmux replay` sends the frames behind the last answer too', async () => {
    const answer = { type: 'data', stream: 1, end: true, payload: 1 };
    const { status, heard } = await replayedTo([
      { v: 1, t: 0, c: 1, d: '>', f: { type: 'open', stream: 1, end: true, payload: 1 } },
      { v: 1, t: 1, c: 1, d: '<', f: answer },
      { v: 1, t: 50, c: 1, d: '>', f: { type: 'open', stream: 3, end: true, payload: 2 } },
      { v: 1, t: 60_000, c: 1, d: '>', f: { type: 'ping', nonce: 'a' } },
    ]);
    expect([status, heard.map((message) => (JSON.parse(message) as { stream: number }).stream)]).toEqual([0, [1, 3]]);
  });

  it('`rxmux replay` sends the whole of a large last frame', async () => {
    const payload = 'x'.repeat(20_000_000);
    const { status, heard } = await replayedTo([{ v: 1, t: 0, c: 1, d: '>', f: { type: 'open', stream: 1, end: true, payload } }]);
    expect([status, heard.map(({ length }) => length > payload.length)]).toEqual([0, [true]]);
  });

  it.each([
    ['json', new JsonCodec(), { at: new Date(5), none: undefined }],
    ['msgpack', new MsgpackCodec(), { at: new Date(5), none: undefined, list: [undefined], raw: bytes }],
    ['rich', new RichCodec(), { at: new Date(5), none: undefined, lots: new Map([['a', new Set([1n, -0])]]), raw: bytes, $: 1 }],
  ])('`rxmux replay` sends the values that record() has written, as %s sends them', async (name, codec, payload) => {
    const file = join(files, `values-${name}.ndjson`);
    const open = { type: 'open', stream: 1, end: true, headers: { tags: ['a'] }, payload };
    const reply = { type: 'data', stream: 1, end: true, payload: 1 };
    const lines: readonly Line[] = [
      { v: 1, t: 0, c: 1, d: '>', f: open },
      { v: 1, t: 1, c: 1, d: '<', f: reply },
    ];
    writeFileSync(file, lines.map((each) => `${writeLine(each)}\n`).join(''));
    const asked: unknown[] = [];
    await using server = serve({
      port: 0,
      host: '127.0.0.1',
      codec,
      onStream: (value, stream) => {
        asked.push(value, stream.headers);
        return stream.reply(1);
      },
    });
    const url = `ws://127.0.0.1:${(await server.listening).port}`;
    expect(await command.run(['replay', '--codec', name, file, url])).toMatchObject({ status: 0, err: '' });
    expect(asked).toStrictEqual([codec.decodePayload(codec.encodePayload(payload)), { tags: ['a'] }]);
  });

  it('`rxmux replay` refuses a value that its codec does not carry', async () => {
    const file = join(files, 'bytes.ndjson');
    writeFileSync(file, writeLine({ v: 1, t: 0, c: 1, d: '>', f: { type: 'open', stream: 1, end: true, payload: bytes } }));
    const { status, err } = await command.run(['replay', file, 'ws://127.0.0.1:1']);
    expect([status, err]).toEqual([
      2,
      expect.stringContaining("codec 'json': expected a value it can carry at payload.payload, got bytes"),
    ]);
  });

  it('A recording of `rxmux tap` under rich plays the values that were sent', async () => {
    const file = join(files, 'rich.ndjson');
    const payload = { lots: new Map([['a', 1n]]), at: new Date(5), $: 1 };
    const tap = await command.listen('tap', '--port', '0', '--record', file, '--payloads', await command.serve('--codec', 'rich'));
    const peer = connect(tap.url, { codec: new RichCodec() });
    expect(await peer.request(payload)).toEqual(payload);
    await peer.close();
    tap.child.kill('SIGTERM');
    await once(tap.child, 'exit');
    const asked: unknown[] = [];
    const { played } = replay(readFileSync(file, 'utf8'), {
      codec: new RichCodec(),
      onStream: (value, stream) => {
        asked.push(value);
        return stream.reply(value);
      },
    });
    await played;
    await until('the call', () => asked.length > 0);
    expect(asked).toEqual([payload]);
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
