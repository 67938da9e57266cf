import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serve } from '../../src/node.js';
import { BuiltCommand } from './command.js';

/** The part of a line of \`rxmux bench --json\` that the tests read. */
interface BenchRun {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly flight: number;
  readonly latencyMs: Readonly<Record<string, number>>;
}

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
    ['no address', ['call', '1'], 'expected an address with ws: or wss:, got 1'],
    ['no JSON', ['call', 'ws://x', '{'], 'expected JSON as the payload'],
    ['an unknown option', ['call', '--none-such', 'ws://x'], "Unknown option '--none-such'"],
    ['an unknown command', ['none-such'], 'expected one of the commands call,'],
    ['a bad header', ['call', '-H', 'x', 'ws://x'], "expected a header as 'name: value', got 'x'"],
  ])('The command exits with 2 for %s', async (_, args, err) => {
    expect(await command.run(args)).toMatchObject({ status: 2, out: '', err: expect.stringContaining(err) });
  });
});

describe('rxmux stream, push and upload', () => {
  it('`rxmux stream --take` cancels the stream after that number of payloads', async () => {
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

  it('In a terminal, each answer to `rxmux upload` has a line of its own', async () => {
    await using echo = serve({ port: 0, onStream: (_, stream) => stream.sendAll(stream) });
    const { port } = await echo.listening;
    const args = [process.execPath, command.path, 'upload', `ws://127.0.0.1:${port}`, join(files, 'query.json')];
    const { stdout } = await promisify(execFile)('script', ['--quiet', '--return', '--command', args.join(' '), '/dev/null']);
    expect(stdout.split('\r\n')).toEqual(['\r100 % of 20 bytes', 'WyJjaGVjay5lY2hvIixbMSwyXV0=', '']);
  });

  it('In a terminal, the error of `rxmux upload` has a line of its own', async () => {
    await using full = serve({ port: 0, onStream: (_, stream) => stream.reset(300, 'no room') });
    const { port } = await full.listening;
    writeFileSync(join(files, 'huge.bin'), Buffer.alloc(30_000_000));
    const args = [process.execPath, command.path, 'upload', `ws://127.0.0.1:${port}`, join(files, 'huge.bin')];
    const { stdout } = await promisify(execFile)('script', ['--quiet', '--command', args.join(' '), '/dev/null']);
    expect(stdout).toMatch(/^((\r\d+ % of 30000000 bytes)+\r\n)?rxmux: ResetError: stream 1: reset with 300: no room\r\n$/);
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

describe('rxmux bench', () => {
  it('`rxmux bench` counts requests, and prints how long the answers took', async () => {
    const { status, out } = await command.run(['bench', '--json', '--seconds', '0.2', '--flight', '4', url, '["check.echo",1]']);
    expect(status).toBe(0);
    const { requests, seconds, perSecond, flight, latencyMs } = JSON.parse(out) as BenchRun;
    expect(flight).toBe(4);
    expect(requests).toBeGreaterThan(4);
    expect(perSecond / (requests / seconds)).toBeCloseTo(1, 1);
    expect(Object.values(latencyMs)).toEqual([...Object.values(latencyMs)].sort((one, other) => one - other));
  });

  it('`rxmux bench` prints two lines for a person', async () => {
    const { out } = await command.run(['bench', '--seconds', '0', '--flight', '1', url, '["check.echo",1]']);
    expect(out).toMatch(/^1 requests in [\d.]+ s, 1 in flight: \d+ a second\nanswered after .* ms \(all\)\n$/);
  });

  it('`rxmux bench` exits with the status of the first request that fails', async () => {
    expect(await command.run(['bench', url, '["file","none-such"]'])).toMatchObject({ status: 3, out: '' });
  });

  it('`rxmux bench` expects one request in flight or more', async () => {
    const ended = await command.run(['bench', '--flight', '0', url]);
    expect(ended).toMatchObject({
      status: 2,
      err: expect.stringContaining("expected a whole number from 1 to 100000 for --flight, got '0'"),
    });
  });
});

describe('rxmux completion', () => {
  it.each([
    ['rxmux st', 'stream'],
    ['rxmux stream --ta', '--take'],
    ['rxmux serve --fi', '--files'],
    ['rxmux completion f', 'fish'],
    ['rxmux create --template v', 'vanilla vue'],
    ['rxmux help up', 'upload'],
    ['rxmux call --codec m', 'msgpack'],
  ])('The script of `rxmux completion bash` completes %s to %s', async (line, completed) => {
    const { out } = await command.run(['completion', 'bash']);
    const words = line.split(' ');
    const script = `${out}\nCOMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _rxmux; echo "\${COMPREPLY[*]}"`;
    expect(execFileSync('bash', ['-c', script]).toString().trim()).toBe(completed);
  });

  it('The script of `rxmux completion fish` has a line for the commands, and one for each option', async () => {
    const { out } = await command.run(['completion', 'fish']);
    const [completed = '', names = ''] = out.split('function ');
    expect(names).toMatch(/^__rxmux_calls\n[^]+\nend\ncomplete .* call stream push upload bench' -a '\(__rxmux_calls\)'\n$/);
    const [commands, shells, ...options] = completed.trim().split('\n');
    expect(commands).toMatch(/^complete -c rxmux -n __fish_use_subcommand -f -a 'call stream .*'$/);
    expect(shells).toBe("complete -c rxmux -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'");
    expect(options).toContain("complete -c rxmux -n '__fish_seen_subcommand_from call' -l codec -x -a 'json rich msgpack'");
    expect(options).toContain("complete -c rxmux -n '__fish_seen_subcommand_from stream' -l take");
    expect(options).toContain("complete -c rxmux -n '__fish_seen_subcommand_from call' -s H");
    expect(
      options.filter(
        (line) => !/^complete -c rxmux -n '__fish_seen_subcommand_from [a-z]+' (-l [a-z]+( -x -a '[a-z ]+')?|-s H)$/.test(line),
      ),
    ).toEqual([]);
  });

  it('`rxmux completion` expects a shell that it knows', async () => {
    const ended = await command.run(['completion', 'csh']);
    expect(ended).toMatchObject({ status: 2, err: expect.stringContaining('expected one of the shells bash, zsh, fish, got csh') });
  });
});

describe('rxmux --help', () => {
  it.each(['call', 'stream', 'push', 'upload', 'bench', 'check', 'serve', 'tap', 'replay', 'create', 'asyncapi', 'completion'])(
    '`rxmux %s --help` prints a page of lines that fit a terminal',
    async (name) => {
      const { status, out } = await command.run([name, '--help']);
      expect(status).toBe(0);
      expect(out).toMatch(new RegExp(`^rxmux ${name}: .*\\n\\nUSAGE\\n`));
      expect(out.split('\n').filter((line) => line.length > 90)).toEqual([]);
    },
  );
});
