import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSync } from 'esbuild';
import type { RawData, WebSocket } from 'ws';
import { WebSocketServer } from 'ws';
import { BuiltCommand } from './command.js';

/** The characters of a path on Linux, without the end. */
const LONGEST_PATH = 4_095;

let command: BuiltCommand;
let url: string;
const files = mkdtempSync(join(tmpdir(), 'rxmux-mistakes-'));
const servers: { close(): unknown }[] = [];
beforeAll(async () => {
  command = new BuiltCommand();
  writeFileSync(join(files, 'large.bin'), Buffer.alloc(3_000_000, 7));
  url = await command.serve('--files', files);
});
afterAll(() => {
  command.dispose();
  for (const server of servers) server.close();
  rmSync(files, { recursive: true });
});

/** An address of a server that ends with the tests. */
async function addressOf(server: Server | WebSocketServer): Promise<string> {
  servers.push(server);
  await once(server, 'listening');
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that returns every message. */
function echoServer(): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => {
    socket.on('message', (data: RawData, binary) => {
      socket.send(data, { binary });
    });
  });
  return addressOf(server);
}

/** A server that knows no WebSocket. */
function httpServer(): Promise<string> {
  return addressOf(createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1'));
}

describe('wrong arguments', () => {
  it.each([
    ['an address without a scheme', ['call', 'localhost:8080', '1'], 'expected an address with ws: or wss:, got localhost:8080 1'],
    ['a password', ['call', 'ftp://ann:secret@x/', '{"to":"a@b"}'], 'expected an address with ws: or wss:, got ftp://x/ {"to":"a@b"}'],
    ['a password to check', ['check', 'wss://ann:sec/ret@x:y/'], "expected an address with ws: or wss:, got 'wss://x:y/'"],
    ['an address of a file', ['call', 'file://x/'], 'expected an address with ws: or wss:, got file://x/'],
    ['an address to call with a fragment', ['call', 'ws://x/#a'], "expected an address without #, got 'ws://x/#a'"],
    ['an address to check with a fragment', ['check', 'ws://x/#a'], "expected an address without #, got 'ws://x/#a'"],
    ['an address to tap with a fragment', ['tap', 'ws://x/#a'], "expected an address without #, got 'ws://x/#a'"],
    ['an address to replay to with a fragment', ['replay', 'run', 'ws://x/#a'], "expected an address without #, got 'ws://x/#a'"],
    ['a time-out of a call that no timer has', ['call', '--timeout', '1e10', 'ws://x'], 'expected a whole number from 0 to 2147483647'],
    [
      'a time-out of a replay that no timer has',
      ['replay', '--timeout', '1e10', '/dev/null', 'ws://x'],
      'expected a whole number from 0 to 2147483647',
    ],
    [
      'no time for the rows of a check',
      ['check', '--timeout', '0', 'ws://x'],
      'expected a whole number from 1 to 2147483647 for --timeout',
    ],
    ['a header that HTTP forbids', ['call', '-H', 'a(b: c', 'ws://x'], 'expected headers that HTTP allows'],
    [
      'a header without a colon',
      ['call', '-H', 'authorization Bearer s3cret', 'ws://x'],
      "expected a header as 'name: value', got 'authorization'\n",
    ],
    [
      'a header of two lines',
      ['call', '-H', 'authorization: s3c\nret', 'ws://x'],
      'expected headers that HTTP allows: Invalid character in header content ["authorization"]\n',
    ],
    ['half a payload to take', ['stream', '--take', '1.5', 'ws://x'], 'expected a whole number from 1 to'],
    ['a directory to upload', ['upload', 'ws://x', files], 'expected a file, got the directory'],
    [
      'a payload to upload',
      ['upload', '--text', '--payload', '-', 'ws://x', '-'],
      'expected a file, got the standard input, which is the payload',
    ],
    ['a file to serve', ['serve', '--files', join(files, 'large.bin')], 'expected a directory for --files'],
    ['a port that there is not', ['serve', '--port', '99999'], "expected a whole number from 0 to 65535 for --port, got '99999'"],
    ['a port of tap that there is not', ['tap', '--port', '1.5', 'ws://x'], 'expected a whole number from 0 to 65535 for --port'],
    ['a file that tap cannot write', ['tap', '--record', join(files, 'none/run'), 'ws://x'], 'expected a file to record to: ENOENT'],
    ['no host to serve on', ['serve', '--host', ''], "expected a host, got ''"],
    ['a row that there is not', ['check', '--only', '99', 'ws://x'], "expected the number of a row or a group for --only, got '99'"],
    ['a codec that replay does not know', ['replay', '--codec', 'cbor', 'run', 'ws://x'], 'expected the codec json, rich, or msgpack with'],
    ['a project without a folder', ['create'], 'expected one folder, got 0'],
    [
      'a template that there is not',
      ['create', '--template', 'svelte', 'shop'],
      "expected a template of vanilla, react, angular, vue, got 'svelte'",
    ],
    ['a project with a name that no package has', ['create', 'My Shop'], "expected a folder whose name is of small letters, digits, '-'"],
    ['a project in a folder that is not empty', ['create', files], "expected an empty folder, got one with '"],
    ['a missing page', ['tap', '--inspect', '--page', join(files, 'none.html'), 'ws://x'], 'expected the page of the inspector: ENOENT'],
    ['a page that is not served', ['tap', '--page', join(files, 'none.html'), 'ws://x'], 'expected --page with --inspect, got it alone'],
    ['a header for a dialer', ['check', '--listen', '-H', 'a: b', '--', 'true'], 'expected -H with a URL, got it with --listen'],
    ['limits of a dialer', ['check', '--listen', '--limits', '--', 'true'], 'expected --limits with a URL, got it with --listen'],
  ])('The command exits with 2 and one reason for %s', async (_, args, reason) => {
    const { status, out, err } = await command.run(args);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toContain(`rxmux: ${reason}`);
    expect(err.trim().split('\n')).toEqual([expect.any(String), `Try: rxmux ${args[0]} --help`]);
  });

  it('A header is sent without the line break of a file', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    const sent = new Promise((resolve) => {
      server.once('upgrade', (request, socket) => {
        resolve(request.headers.authorization);
        socket.destroy();
      });
    });
    await command.run(['call', '-H', 'authorization: Bearer s3cret\n', await addressOf(server)]);
    expect(await sent).toBe('Bearer s3cret');
  });

  it('A header that comes twice is sent with both values', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    const sent = new Promise((resolve) => {
      server.once('upgrade', (request, socket) => {
        resolve(request.headers['x-tag']);
        socket.destroy();
      });
    });
    await command.run(['call', '-H', 'X-Tag: a', '-H', 'x-tag: b', await addressOf(server)]);
    expect(await sent).toBe('a, b');
  });
});

describe('targets that fail', () => {
  it.each(['serve', 'tap'])('`rxmux %s` exits with 6 and one line where its port is taken', async (name) => {
    const { port } = new URL(url);
    const { status, out, err } = await command.run([name, '--port', port, ...(name === 'tap' ? [url] : [])]);
    expect({ status, out, err }).toEqual({
      status: 6,
      out: '',
      err: `rxmux: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`,
    });
  });

  it('`rxmux tap` leaves a recording as it is where its port is taken', async () => {
    const file = join(files, 'earlier.ndjson');
    writeFileSync(file, 'kept');
    expect((await command.run(['tap', '--port', new URL(url).port, '--record', file, url])).status).toBe(6);
    expect(readFileSync(file, 'utf8')).toBe('kept');
  });

  it('`rxmux check` names a failure for each row that an echo server fails', async () => {
    const { status, out, err } = await command.run(['check', '--codec', 'json', '--only', '5', await echoServer()]);
    expect({ status, err }).toEqual({ status: 1, err: '' });
    expect(out).toContain('✗ 5.');
  });

  it('`rxmux check` exits with 6 for a server without WebSockets', async () => {
    const { status, err } = await command.run(['check', await httpServer()]);
    expect({ status, err }).toEqual({ status: 6, err: 'rxmux check: expected an open socket, got Unexpected server response: 200\n' });
  });

  it('`rxmux replay` points to its codec where the server refuses the handshake for it', async () => {
    const recording = join(files, 'wrong-codec.ndjson');
    writeFileSync(recording, JSON.stringify({ v: 1, t: 1, c: 1, d: '>', f: { type: 'open', stream: 1, end: true, payload: 1 } }));
    const { status, err } = await command.run(['replay', '--codec', 'rich', recording, url]);
    const expected = 'rxmux replay: Unexpected server response: 400: see --codec. Frames that have not come back: 0\n';
    expect({ status, err }).toEqual({ status: 6, err: expected });
  });

  it('`rxmux check` says in one line that a server has no TLS', async () => {
    const { status, err } = await command.run(['check', (await httpServer()).replace('ws:', 'wss:')]);
    expect({ status, err }).toEqual({ status: 6, err: expect.stringMatching(/^rxmux check: expected an open socket, got .+:\n$/) });
  });

  it('`rxmux check --listen` exits with 6 for a command that does not start', async () => {
    const { status, err } = await command.run(['check', '--listen', '--', join(files, 'none')]);
    expect({ status, err }).toEqual({ status: 6, err: `rxmux: spawn ${join(files, 'none')} ENOENT\n` });
  });

  it('`rxmux check --listen` does not wait for a command that has ended', async () => {
    const { status, out } = await command.run(['check', '--timeout', '600000', '--only', '12.1', '--listen', '--', process.execPath, '-v']);
    expect(status).toBe(1);
    expect(out).toMatch(/got {7}none before the program exited with \d/);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends `rxmux check --listen`, its program, and what that has started', async (signal, status) => {
    const server = createServer().listen(0, '127.0.0.1');
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const { port } = new URL(await addressOf(server));
    const started = `'${process.execPath}' --eval 'net.connect(${port}, "127.0.0.1")' & wait`;
    const child = command.start('check', '--only', '12.1', '--listen', '--', 'sh', '-c', started);
    const [socket] = await connected;
    const closed = once(socket.on('error', () => undefined).resume(), 'close');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([status, null]);
    await closed;
  });

  it('`rxmux tap` says why it cannot reach its server, and answers a page of HTTP', async () => {
    const { child, url: tapped } = await command.listen('tap', '--port', '0', 'ws://ann:secret@127.0.0.1:1');
    const said = once(child.stderr ?? child, 'data');
    expect(await command.run(['call', tapped, '1'])).toMatchObject({ status: 6, err: expect.stringContaining('HTTP 502') });
    expect(String(await said)).toBe('rxmux tap: connection 1: ws://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1\n');
    expect((await fetch(tapped.replace('ws:', 'http:'))).status).toBe(426);
  });

  // As localhost is 127.0.0.1 and ::1: the error of Node then has no message.
  it('`rxmux tap` and `rxmux replay` say why they cannot reach a name with several addresses', async () => {
    const [names, recording] = [join(files, 'names.cjs'), join(files, 'run.ndjson')];
    const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
    writeFileSync(
      names,
      `const dns = require('node:dns');
       const { lookup } = dns;
       dns.lookup = (name, ...rest) => (name === 'several.test' ? rest.at(-1)(null, ${JSON.stringify(addresses)}) : lookup(name, ...rest));`,
    );
    writeFileSync(recording, JSON.stringify({ v: 1, t: 1, c: 1, d: '>', f: { type: 'open', stream: 1, end: true, payload: 1 } }));
    const start = (...args: string[]) => spawn(process.execPath, ['--require', names, command.path, ...args]);
    const tap = start('tap', '--port', '0', 'ws://several.test:1');
    const [line] = (await once(tap.stdout, 'data')) as [Buffer];
    await command.run(['call', line.toString().trim(), '1']);
    tap.kill('SIGKILL');
    expect(await text(tap.stderr)).toBe('rxmux tap: connection 1: ws://several.test:1: ECONNREFUSED\n');
    const replay = start('replay', recording, 'ws://several.test:1');
    expect(await text(replay.stderr)).toBe('rxmux replay: ECONNREFUSED. Frames that have not come back: 0\n');
  });

  it('`rxmux serve` does not show where its files are', async () => {
    const { status, err } = await command.run(['call', url, '["file","none"]']);
    expect({ status, err }).toEqual({ status: 3, err: "rxmux: RemoteError: no file 'none'\n" });
  });
});

describe('payloads', () => {
  it('A file of an editor of Windows may begin with a byte order mark', async () => {
    const file = join(files, 'bom.json');
    writeFileSync(file, '\ufeff{"a":1}');
    expect(await command.run(['call', '--json', url, `@${file}`])).toEqual({ status: 0, out: '{"payload":{"a":1}}\n', err: '' });
  });

  it('A payload may be the text of the address', async () => {
    expect(await command.run(['call', '--text', url, url])).toEqual({ status: 0, out: `${url}\n`, err: '' });
  });

  it('A payload that the codec does not carry is a wrong argument', async () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const { status, err } = await command.run(['call', url, '-'], deep);
    expect(status).toBe(2);
    expect(err).toContain('levels of nesting in payload');
  });

  it('A check without a row to run has not passed', async () => {
    const { status, err } = await command.run(['check', '--listen', '--only', '1', '--', process.execPath]);
    expect(status).toBe(2);
    expect(err).toContain('rxmux: expected a row to run, got none');
  });
});

describe('servers that leave early', () => {
  /** A server of raw sockets, which answers the first message of each. */
  function leaving(answer: (socket: WebSocket) => void): Promise<string> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => socket.once('message', () => answer(socket)));
    return addressOf(server);
  }

  it.each<[what: string, leave: (socket: WebSocket) => void, lost: string]>([
    ['drops the connection', (socket) => socket.terminate(), '1006'],
    ['closes it for a reason', (socket) => socket.close(1008, 'no entry'), '1008 no entry'],
  ])('`rxmux push` exits with 6 where the remote %s', async (_, leave, lost) => {
    const { status, err } = await command.run(['push', await leaving(leave), '"seen"']);
    expect([status, err]).toEqual([6, expect.stringContaining(`ConnectionLostError: connection lost (${lost}`)]);
  });

  it('`rxmux upload` exits with 3 where the remote fails after its answer', async () => {
    const url = await leaving((socket) => {
      socket.send('{"type":"data","stream":1,"end":true,"payload":"begun"}');
      socket.send('{"type":"reset","stream":1,"code":16,"reason":"disk full"}');
    });
    const child = command.start('upload', url, '-');
    child.stdin?.write('a beginning');
    const [exited, out, err] = await Promise.all([
      once(child, 'exit'),
      text(child.stdout ?? process.stdin),
      text(child.stderr ?? process.stdin),
    ]);
    expect([exited[0], out, err]).toEqual([3, 'begun\n', 'rxmux: RemoteError: disk full\n']);
  });
});

describe('pipes and signals', () => {
  it.each(['stdout', 'stderr'] as const)('A full disk below %s ends the command with one line and 6', async (name) => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [command.path, 'call', name === 'stdout' ? url : 'ws://127.0.0.1:1', '1'], {
      stdio: ['ignore', name === 'stdout' ? full : 'pipe', name === 'stderr' ? full : 'pipe'],
    });
    closeSync(full);
    const said = child.stderr === null ? Promise.resolve('') : text(child.stderr);
    const [exited, err] = await Promise.all([once(child, 'exit'), said]);
    expect(exited).toEqual([6, null]);
    expect(err).toBe(name === 'stdout' ? 'rxmux: ENOSPC: no space left on device, write\n' : '');
  });

  it('A closed pipe ends the command without a word', async () => {
    const child = command.start('stream', url, '["file","large.bin"]');
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await Promise.all([once(child, 'exit'), text(child.stderr ?? process.stdin)])).toEqual([[0, null], '']);
  });

  it('Without a reader of its messages, the exit status still says that a call has failed', async () => {
    const child = command.start('call', 'ws://127.0.0.1:1', '1');
    child.stderr?.destroy();
    expect(await once(child, 'exit')).toEqual([6, null]);
  });

  it.each<[what: string, payload: string, status: number]>([
    ['refuses', '["file","../secret"]', 4],
    ['has answered', '["check.hold",0]', 0],
  ])('`rxmux upload -` to a server that %s it ends, although the standard input goes on', async (_, payload, status) => {
    const child = command.start('upload', '--payload', payload, url, '-');
    child.stdin?.write('a beginning');
    expect(await once(child, 'exit')).toEqual([status, null]);
  });

  it('`rxmux upload -` sends the standard input', async () => {
    const sent = await command.run(['upload', '--payload', '["check.sink"]', url, '-'], Buffer.alloc(10));
    expect(sent).toEqual({ status: 0, out: '1\n', err: '' });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s cancels the stream, closes the connection and exits with %i', async (signal, status) => {
    const { child: tap, url: tapped } = await command.listen('tap', '--port', '0', url);
    const shown = lines(tap.stdout);
    const child = command.start('upload', '--payload', '["check.hold",600000]', tapped, join(files, 'large.bin'));
    await shown.until(/ > open 1 /);
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([status, null]);
    await shown.until(/ > reset 1 code=8/);
  });
});

describe('rxmux create', () => {
  it('The commands that it prints are for a shell, which a path with a space needs quotes for', async () => {
    const folder = join(files, 'my projects/shop');
    const { status, out } = await command.run(['create', folder]);
    expect([status, out.split('\n')[1]]).toEqual([0, `  cd "${folder}"`]);
  });

  it('A run that fails leaves the folder as it was, so that the next one may succeed', async () => {
    // The names of the first files still fit into the longest path of the system.
    const deep = join(files, `${'d'.repeat(50)}/`.repeat(82)).slice(0, LONGEST_PATH - '/tsconfig.json'.length - 1);
    const folder = `${deep}s`;
    const { status, err } = await command.run(['create', folder]);
    expect({ status, err }).toEqual({ status: 6, err: expect.stringContaining('ENAMETOOLONG') });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('The server of a project answers a request for // as it answers any other', async () => {
    const folder = join(files, 'served');
    await command.run(['create', folder]);
    writeFileSync(
      join(folder, 'src/mux.ts'),
      'export const answer = (http) => ({ get url() { return `ws://127.0.0.1:${http.address().port}/mux`; } });',
    );
    const outfile = join(folder, 'dist/server/server.mjs');
    buildSync({ entryPoints: [join(folder, 'src/server.ts')], outfile, bundle: true, platform: 'node', format: 'esm' });
    const server = spawn(process.execPath, [outfile], { env: { ...process.env, PORT: '0' } });
    const [address] = (await once(server.stdout, 'data')) as [Buffer];
    const { port } = new URL(String(address).trim());
    const statuses: unknown[] = [];
    for (const path of ['//', '/none']) {
      const [response] = (await once(request({ port, path }).end(), 'response')) as [IncomingMessage];
      statuses.push(response.resume().statusCode);
    }
    server.kill();
    expect(statuses).toEqual([404, 404]);
  });
});

describe('rxmux --version and rxmux help', () => {
  it('`rxmux --version` prints the version of the package', async () => {
    expect((await command.run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  });

  it('`rxmux help COMMAND` prints the page of the command', async () => {
    expect(await command.run(['help', 'call'])).toEqual(await command.run(['call', '--help']));
    expect(await command.run(['help'])).toEqual(await command.run([]));
  });
});

/** Reads an output, and waits for what it says. */
function lines(output: NodeJS.ReadableStream | null): { until(pattern: RegExp): Promise<void> } {
  let all = '';
  let heard = (): void => undefined;
  output?.on('data', (chunk: Buffer) => {
    all += chunk.toString();
    heard();
  });
  return {
    until: async (pattern) => {
      while (!pattern.test(all)) await new Promise<void>((resolve) => (heard = resolve));
    },
  };
}
