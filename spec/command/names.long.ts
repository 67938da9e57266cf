import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RemoteError } from '../../src/index.js';
import { answering } from '../../src/contract.js';
import { serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { answers, api } from './api.js';
import { BuiltCommand } from './command.js';

let command: BuiltCommand;
/** The contract, as a module. */
let apiModule: string;
let server: MuxServer;
let url: string;
const files = mkdtempSync(join(tmpdir(), 'rxmux-names-'));

/** A module of two contracts. */
const TWO = 'export const one = { add: { kind: "request" } }; export const other = { drop: { kind: "request" } };';

beforeAll(() => {
  command = new BuiltCommand();
  apiModule = command.built('api.ts');
  writeFileSync(join(files, 'ten.bin'), 'ten bytes.');
  writeFileSync(join(files, 'id.json'), '{"id":"file"}');
});

afterAll(() => {
  command.dispose();
  rmSync(files, { recursive: true });
});

beforeEach(async () => {
  server = serve({ port: 0, host: '127.0.0.1', ...answering(api, answers()) });
  url = `ws://127.0.0.1:${(await server.listening).port}`;
});

afterEach(() => server.close({ drainMs: 0 }));
collectLogs();

/** Writes a module, and returns its path. */
function written(name: string, text: string): string {
  const path = join(files, name);
  writeFileSync(path, text);
  return path;
}

describe('a call by its name', () => {
  it.each<[what: string, args: readonly string[], input: string, out: string]>([
    ['a payload', ['call', '--json', 'URL', 'add', '{"id":"x"}'], '', '{"payload":{"id":"x","count":1}}\n'],
    ['a file', ['call', '--json', 'URL', 'add', `@${join(files, 'id.json')}`], '', '{"payload":{"id":"file","count":1}}\n'],
    ['the standard input', ['call', '--json', 'URL', 'add', '-'], '{"id":"in"}', '{"payload":{"id":"in","count":1}}\n'],
    ['no payload', ['call', 'URL', 'count'], '', '0\n'],
    ['the address last', ['call', 'count', 'URL'], '', '0\n'],
    ['a namespace', ['stream', 'URL', 'rows.watch', '{"from":5}'], '', '5\n6\n7\n'],
    ['a file to upload', ['upload', '--payload', '{"name":"a"}', 'URL', 'rows.store', join(files, 'ten.bin')], '', 'a: 10\n'],
    ['the payload of its open', ['call', 'URL', '["count"]'], '', '0\n'],
  ])('The command makes a call with %s', async (_, args, input, out) => {
    const ended = await command.run(
      args.map((arg) => (arg === 'URL' ? url : arg)),
      input,
    );
    expect(ended).toEqual({ status: 0, out, err: '' });
  });

  it('`rxmux push` and `rxmux bench` take a name too', async () => {
    expect(await command.run(['push', url, 'add', '{"id":"x"}'])).toEqual({ status: 0, out: '', err: '' });
    expect((await command.run(['bench', '--seconds', '0', '--flight', '1', url, 'count'])).out).toMatch(/^1 requests /);
    expect((await command.run(['call', url, 'count'])).out).toBe('1\n');
  });

  it.each<[payload: string, options: readonly string[], sent: unknown]>([
    ['true', [], true],
    ['null ', [], null],
    ['false', [], false],
    ['null', [], null],
    ['12', [], 12],
    ['"add"', [], 'add'],
    ['{"op":"add"}', [], { op: 'add' }],
    ['add', ['--text'], 'add'],
  ])('The payload %s with the options %j is no name', async (payload, options, sent) => {
    await using echo = serve({ port: 0, host: '127.0.0.1', onStream: (value, stream) => stream.reply([value]) });
    const at = `ws://127.0.0.1:${(await echo.listening).port}`;
    const { out } = await command.run(['call', '--json', ...options, at, payload]);
    expect(JSON.parse(out)).toEqual({ payload: [sent] });
  });

  it('A name and a text make a call with the text', async () => {
    await using echo = serve({ port: 0, host: '127.0.0.1', onStream: (value, stream) => stream.reply(value) });
    const at = `ws://127.0.0.1:${(await echo.listening).port}`;
    expect((await command.run(['call', '--json', '--text', at, 'say', 'hello'])).out).toBe('{"payload":["say","hello"]}\n');
  });

  it.each([
    ['two payloads', ['call', '{"a":1}', '{"b":2}'], 'expected the name of a call before the payload, got \'{"a":1}\''],
    ['three arguments', ['call', 'add', '1', '2'], 'expected at most a name and a payload beside the address, got 3 arguments'],
    ['three arguments to upload', ['upload', 'a', '1', 'f'], 'expected at most a name and a file beside the address, got 3 arguments'],
    ['a payload before a file', ['upload', '{}', 'f'], "expected the name of a call before the file, got '{}': --payload takes a payload"],
  ])('The command refuses %s', async (_, [name = '', ...args], reason) => {
    const { status, err } = await command.run([name, 'ws://x', ...args]);
    expect([status, err]).toEqual([2, `rxmux: ${reason}\nTry: rxmux ${name} --help\n`]);
  });
});

describe('an error of a call', () => {
  it('A declared error is printed with its data', async () => {
    const add = ['call', url, 'add', '{"id":"x"}'];
    await command.run(add);
    expect(await command.run(add)).toEqual({ status: 3, out: '', err: "rxmux: RemoteError: EXISTS { id: 'x' }\n" });
  });

  it.each<[what: string, payload: unknown, err: string]>([
    ['only names it', { name: 'Error', message: 'full' }, 'rxmux: RemoteError: full\n'],
    ['has more', { name: 'Error', message: 'full', seats: 0 }, "rxmux: RemoteError: full { name: 'Error', message: 'full', seats: 0 }\n"],
    ['is a list', [1, [2]], 'rxmux: RemoteError: full [ 1, [ 2 ] ]\n'],
    ['acts on a terminal', { seat: '\u001b[2J\u202e' }, "rxmux: RemoteError: full { seat: '\\x1B[2J\\u202e' }\n"],
    ['is missing', null, 'rxmux: RemoteError: full\n'],
  ])('An error whose payload %s is printed with all that its message lacks', async (_, payload, err) => {
    await using failing = serve({
      port: 0,
      host: '127.0.0.1',
      onStream: () => {
        throw new RemoteError('full', payload);
      },
    });
    const at = `ws://127.0.0.1:${(await failing.listening).port}`;
    expect(await command.run(['call', at, '1'])).toEqual({ status: 3, out: '', err });
  });

  it('The server names near calls, and the issues of a payload', async () => {
    expect((await command.run(['call', url, 'ad'])).err).toBe("rxmux: RemoteError: no 'ad'; did you mean 'add'?\n");
    expect((await command.run(['call', url, 'add', '{"id":1}'])).err).toMatch(
      /^rxmux: RemoteError: the payload of 'add' is invalid: id: .*\n$/,
    );
  });
});

describe('--contract', () => {
  it('`--list` prints each call of a contract, with the command that makes it', async () => {
    const listed = ['call    add', 'call    count', 'stream  rows.watch', 'upload  rows.store', 'upload  rows.talk', ''].join('\n');
    expect(await command.run(['call', '--list', '--contract', apiModule])).toEqual({ status: 0, out: listed, err: '' });
    const { out } = await command.run(['stream', '--list', '--json', '--contract', apiModule]);
    expect(JSON.parse(out.split('\n')[2] ?? '')).toEqual({ name: 'rows.watch', kind: 'stream' });
  });

  it('The command makes calls of a contract', async () => {
    expect(await command.run(['call', '--contract', apiModule, url, 'count'])).toEqual({ status: 0, out: '0\n', err: '' });
    const echoed = await command.run(['upload', '--contract', apiModule, url, 'rows.talk', join(files, 'ten.bin')]);
    expect(echoed).toEqual({ status: 0, out: `${Buffer.from('ten bytes.').toString('base64')}\n`, err: '' });
  });

  it.each<[what: string, args: readonly string[], reason: string]>([
    [
      'a misspelt name',
      ['call', 'ws://x', 'rows.wach'],
      "expected a call of the contract, got 'rows.wach'; did you mean 'rows.watch' or 'rows.talk'?",
    ],
    ['an unlike name', ['call', 'ws://x', 'zzzzzz'], "expected a call of the contract, got 'zzzzzz'; --list prints them"],
    ['another kind', ['call', 'ws://x', 'rows.watch'], "'rows.watch' is a stream: use rxmux stream"],
    ['an upload to stream', ['stream', 'ws://x', 'rows.store'], "'rows.store' is an upload: use rxmux upload"],
    ['a request to upload', ['upload', 'ws://x', 'add', '/dev/null'], "'add' is a request: use rxmux call"],
  ])('The command refuses %s of a contract before it dials', async (_, [name = '', ...args], reason) => {
    const { status, err } = await command.run([name, '--contract', apiModule, ...args]);
    expect([status, err]).toEqual([2, `rxmux: ${reason}\nTry: rxmux ${name} --help\n`]);
  });

  it.each<[what: string, name: string, text: string, reason: string]>([
    ['no contract', 'none.mjs', 'export const port = 80; export default () => 1;', 'to export a contract, got default, port'],
    ['nothing', 'nothing.mjs', '', 'to export a contract, got nothing'],
    ['a loop', 'loop.mjs', 'export const a = {}; a.a = a;', 'to export a contract, got a'],
    ['two contracts', 'two.mjs', TWO, 'to export one contract, got one, other: name one, as in'],
    ['an error', 'error.mjs', 'throw new Error("broken")', 'to load, got Error: broken'],
    ['another language', 'api.coffee', '', 'to load, got TypeError: Unknown file extension ".coffee"'],
  ])('The command says of a module with %s what it expects', async (_, name, text, reason) => {
    const { status, err } = await command.run(['call', '--list', '--contract', written(name, text)]);
    expect([status, err.split('\n')[0]]).toEqual([2, expect.stringContaining(`${name} ${reason}`)]);
  });

  it('The command says that there is no module', async () => {
    const { status, err } = await command.run(['call', '--list', '--contract', './none.mjs#api']);
    expect([status, err.split('\n')[0]]).toEqual([2, 'rxmux: expected the module of a contract, got no file at ./none.mjs']);
  });

  it.each<[what: string, name: string, text: string, suffix: string]>([
    ['is the default', 'default.mjs', 'export default { add: { kind: "request" } }', ''],
    ['has a name beside another', 'named.mjs', TWO, '#one'],
    ['is the module itself', 'whole.mjs', 'export const add = { kind: "request" }; export const other = 1;', ''],
    ['is of CommonJS', 'common.cjs', 'exports.api = { add: { kind: "request" } }', ''],
  ])('The command takes a contract that %s', async (_, name, text, suffix) => {
    const { out } = await command.run(['call', '--list', '--contract', `${written(name, text)}${suffix}`]);
    expect(out).toBe('call    add\n');
  });

  it('A module of TypeScript is loaded, or the command says which Node loads it', async () => {
    const path = written('api.ts', 'export const api = { add: { kind: "request" as const } };');
    const { status, out, err } = await command.run(['call', '--list', '--contract', path]);
    if ('typescript' in process.features && process.features.typescript !== false) expect([status, out]).toEqual([0, 'call    add\n']);
    else expect([status, err]).toEqual([2, expect.stringContaining('Node reads TypeScript from 22.18 on, and before with tsx')]);
  });

  it('The command refuses --list without a contract', async () => {
    const { status, err } = await command.run(['call', '--list']);
    expect([status, err]).toEqual([2, 'rxmux: expected --contract FILE beside --list\nTry: rxmux call --help\n']);
  });
});

describe('what a person meant', () => {
  it.each([
    ['a command', ['cal', 'ws://x'], 'rxmux: expected one of the commands call, stream, push, upload, bench, check, tap, replay, serve, '],
    ['an option', ['call', '--jsn', 'ws://x'], "rxmux: Unknown option '--jsn'"],
  ])('The command names what is near to %s', async (_, args, begin) => {
    const { status, err } = await command.run(args);
    expect([status, err]).toEqual([2, expect.stringMatching(/; did you mean '(call|--json)'\?\n/)]);
    expect(err.startsWith(begin)).toBe(true);
  });

  it.each([
    ['--contract FILE ws://x co', 'count'],
    ['--contract FILE ws://x rows.w', 'rows.watch'],
    ['--contract FILE ws://x --li', '--list'],
    ['--contract=FILE ws://x a', 'add'],
  ])('The script of `rxmux completion bash` completes the names of a contract: %s', async (line, completed) => {
    const { out } = await command.run(['completion', 'bash']);
    const words = ['rxmux', 'call', ...line.replace('FILE', apiModule).split(' ')];
    const script = `rxmux() { '${process.execPath}' '${command.path}' "$@"; }
${out}
COMP_WORDS=(${words.join(' ').replace('--contract=', '--contract = ')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _rxmux; echo "\${COMPREPLY[*]}"`;
    expect(execFileSync('bash', ['-c', script]).toString().trim()).toBe(completed);
  });
});

describe('an address of HTTP', () => {
  it('The command dials it, as `connect` does', async () => {
    expect((await command.run(['call', url.replace('ws:', 'http:'), 'count'])).out).toBe('0\n');
    const { child, url: tapped } = await command.listen('tap', '--port', '0', url.replace('ws:', 'http:'));
    expect((await command.run(['call', tapped, 'count'])).out).toBe('0\n');
    child.kill('SIGTERM');
    await once(child, 'exit');
  });

  it('A text of HTTP beside an address of a socket is the payload', async () => {
    await using echo = serve({ port: 0, host: '127.0.0.1', onStream: (value, stream) => stream.reply(value) });
    const at = `ws://127.0.0.1:${(await echo.listening).port}`;
    expect((await command.run(['call', '--text', 'http://x/', at])).out).toBe('http://x/\n');
  });
});
