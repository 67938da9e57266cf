import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BuiltCommand } from './command.js';

let command: BuiltCommand;
let url: string;
const files = mkdtempSync(join(tmpdir(), 'rxmux-command-'));
beforeAll(async () => {
  command = new BuiltCommand();
  writeFileSync(join(files, 'query.json'), '["check.echo",[1,2]]');
  writeFileSync(join(files, 'large.bin'), Buffer.alloc(200_000, 7));
  url = await command.serve('--files', files);
});
afterAll(() => {
  command.dispose();
  rmSync(files, { recursive: true });
});

describe('rxmux call', () => {
  it.each([
    ['an argument', ['["check.echo",{"a":1}]'], '', '{"payload":{"a":1}}\n'],
    ['a file', [`@${join(files, 'query.json')}`], '', '{"payload":[1,2]}\n'],
    ['the standard input', ['-'], '["check.echo","in"]', '{"payload":"in"}\n'],
    ['a text', ['--text', 'no JSON'], '', '{"payload":"no JSON"}\n'],
  ])('`rxmux call` takes the payload from %s', async (_, args, input, out) => {
    expect(await command.run(['call', '--json', url, ...args], input)).toEqual({ status: 0, out, err: '' });
  });

  it('`rxmux call` prints a readable answer without --json', async () => {
    expect((await command.run(['call', url, '["check.echo",{"a":[1]}]'])).out).toBe('{ a: [ 1 ] }\n');
  });

  it.each([
    ['a refusal', 4, '60000', ['file', '../secret'], 'RefusedError'],
    ['a failure of the remote', 3, '60000', ['file', 'none-such'], 'RemoteError'],
    ['a time-out', 5, '3000', ['check.hold', 60_000], 'DeadlineExceededError'],
  ])('`rxmux call` exits after %s with %i', async (_, status, timeout, payload, name) => {
    const ended = await command.run(['call', '--json', '--timeout', timeout, url, JSON.stringify(payload)]);
    expect(ended.status).toBe(status);
    expect(JSON.parse(ended.out)).toMatchObject({ error: { name } });
  });

  it('`rxmux call` exits with 6 without a connection', async () => {
    expect(await command.run(['call', 'ws://127.0.0.1:1', '1'])).toMatchObject({ status: 6, out: '' });
  });

  it.each([
    ['no address', ['call', '1'], 'expected an address with ws: or wss:, got none'],
    ['no JSON', ['call', 'ws://x', '{'], 'expected JSON as the payload'],
    ['an unknown option', ['call', '--none-such', 'ws://x'], "Unknown option '--none-such'"],
    ['an unknown command', ['none-such'], 'expected one of the commands call,'],
    ['a bad header', ['call', '-H', 'x', 'ws://x'], "expected a header as 'name: value', got 'x'"],
  ])('The command exits with 2 for %s', async (_, args, err) => {
    expect(await command.run(args)).toMatchObject({ status: 2, out: '', err: expect.stringContaining(err) });
  });
});

describe('rxmux stream, push and upload', () => {
  it('`rxmux stream --take` cancels the stream after so many payloads', async () => {
    const { status, out } = await command.run(['stream', '--json', '--take', '2', url, '["file","large.bin"]']);
    expect(status).toBe(0);
    expect(out.trim().split('\n')).toHaveLength(2);
  });

  it('`rxmux stream` prints every payload up to the end', async () => {
    const { status, out } = await command.run(['stream', url, '["file","large.bin"]']);
    expect(status).toBe(0);
    expect(
      Buffer.concat(
        out
          .trim()
          .split('\n')
          .map((piece) => Buffer.from(piece, 'base64')),
      ),
    ).toEqual(Buffer.alloc(200_000, 7));
  });

  it('`rxmux push` sends a notification and prints nothing', async () => {
    expect(await command.run(['push', url, '"seen"'])).toEqual({ status: 0, out: '', err: '' });
  });

  it('`rxmux upload` sends a file in pieces', async () => {
    const sent = await command.run(['upload', '--json', '--payload', '["check.sink"]', url, join(files, 'large.bin')]);
    expect(sent).toEqual({ status: 0, out: '{"payload":4}\n', err: '' });
  });
});

describe('rxmux check --listen', () => {
  it('The dialer of the library passes `rxmux check --listen`', async () => {
    const dialer = [process.execPath, command.path, 'call', '--timeout', '30000', '["check.echo","hello"]'];
    const { status, out } = await command.run(['check', '--timeout', '60000', '--listen', '--', ...dialer]);
    expect(out).not.toContain('✗');
    expect(out).toContain('10 passed');
    expect(status).toBe(0);
  });
});

describe('rxmux completion', () => {
  it.each([
    ['rxmux st', 'stream'],
    ['rxmux stream --ta', '--take'],
    ['rxmux serve --fi', '--files'],
  ])('The script of `rxmux completion bash` completes %s to %s', async (line, completed) => {
    const { out } = await command.run(['completion', 'bash']);
    const words = line.split(' ');
    const script = `${out}\nCOMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _rxmux; echo "\${COMPREPLY[*]}"`;
    expect(execFileSync('bash', ['-c', script]).toString().trim()).toBe(completed);
  });
});

describe('rxmux --help', () => {
  it.each(['call', 'stream', 'push', 'upload', 'check', 'serve', 'tap', 'replay', 'completion'])(
    '`rxmux %s --help` prints a page of lines that fit a terminal',
    async (name) => {
      const { status, out } = await command.run([name, '--help']);
      expect(status).toBe(0);
      expect(out).toMatch(new RegExp(`^rxmux ${name}: .*\\n\\nUSAGE\\n`));
      expect(out.split('\n').filter((line) => line.length > 90)).toEqual([]);
    },
  );
});
