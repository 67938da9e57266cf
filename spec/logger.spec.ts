import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { log, logger } from '../src/logger.js';
import type { LogLevel } from '../src/logger.js';
import { RemoteError } from '../src/wire/errors.js';

const METHODS = ['debug', 'info', 'warn', 'error'] as const;
const spies = METHODS.map((method) => jest.spyOn(console, method));

beforeEach(() => {
  for (const spy of spies) spy.mockReset().mockReturnValue(undefined);
});

afterEach(() => {
  logger.level = 'warn';
});

describe('logger', () => {
  it("The logger has the level 'warn' by default", () => {
    expect(logger.level).toBe('warn');
  });

  it.each<[string, readonly string[]]>([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
    ['silent', []],
    ['verbose', []],
    ['', []],
    ['constructor', []],
  ])("The logger at level '%s' writes %j", (level, expected) => {
    logger.level = level as LogLevel;
    for (const method of METHODS) logger[method]('a line');
    expect(METHODS.filter((_method, index) => spies[index]?.mock.calls.length === 1)).toEqual(expected);
    expect([...METHODS, 'silent' as const].filter((method) => logger.isEnabledFor(method))).toEqual(expected);
  });

  it('The logger is never enabled for an unknown level', () => {
    logger.level = 'debug';
    expect(logger.isEnabledFor('verbose' as LogLevel)).toBe(false);
  });

  it.each(METHODS.map((method, index) => [method, index] as const))(
    'The logger passes the other arguments of %s to the console',
    (method, index) => {
      logger.level = 'debug';
      const error = new Error('cause');
      logger[method]('a line', error, { id: 1 });
      expect(spies[index]?.mock.calls).toEqual([['a line', error, { id: 1 }]]);
    },
  );

  it.each(METHODS.map((method, index) => [method, index] as const))(
    'The logger writes only the text of %s when the console cannot show the other arguments',
    (method, index) => {
      logger.level = 'debug';
      spies[index]?.mockImplementationOnce(() => {
        throw new TypeError('cannot be shown');
      });
      logger[method]('a line', 'what refuses');
      expect(spies[index]?.mock.calls).toEqual([['a line', 'what refuses'], ['a line']]);
    },
  );

  it('The methods of the logger work without the object', () => {
    const { warn, isEnabledFor } = logger;
    warn('a line');
    expect([spies[2]?.mock.calls, isEnabledFor('info')]).toEqual([[['a line']], false]);
  });
});

describe('log', () => {
  const circular = new Error('circular');
  circular.cause = circular;

  it.each<[what: string, error: unknown]>([
    ['an error', new Error('plain')],
    ['an error that is its own cause', circular],
    ['a RemoteError without a payload', new RemoteError('failed', null)],
    ['a value that is no error', 'thrown'],
  ])('`log` passes %s on as it is', (_what, error) => {
    log('error', 'a line', error);
    expect(spies[3]?.mock.calls).toEqual([['rxmux: a line', error]]);
    expect(spies[3]?.mock.calls[0]?.[1]).toBe(error);
  });

  it('`log` writes an error as text, with its causes, when one of them holds a payload', () => {
    const cause = new Error('middle', { cause: new RemoteError('inner', { password: 's3cret' }) });
    log('error', 'a line', new Error('outer', { cause }));
    const call: readonly unknown[] = spies[3]?.mock.calls[0] ?? [];
    const [line, text] = call;
    expect(line).toBe('rxmux: a line');
    expect(text).toMatch(/^Error: outer\n[^]*\ncaused by: Error: middle\n[^]*\ncaused by: RemoteError: inner\n/);
    expect(text).not.toContain('s3cret');
  });

  it.each<readonly [what: string, text: string, shown: string]>([
    ['line ends', 'no\r\nrxmux: forged', 'no\\r\\nrxmux: forged'],
    ['C1 controls', '\u009b31m', '\\u009b31m'],
    ['escape sequences', '\u001b[2J', '\\u001b[2J'],
    ['megabytes', 'x'.repeat(1_000_000), 'x'.repeat(1_000)],
  ])("The logger shows a remote's %s as one line that a terminal can print", (_what, text, shown) => {
    log('warn', `the remote said ${text}`, new Error('outer', { cause: new RemoteError(text, null) }));
    const call: readonly unknown[] = spies[2]?.mock.calls[0] ?? [];
    const [line, error] = call.map(String);
    expect(line).toContain(`rxmux: the remote said ${shown}`);
    expect(error).toContain(`caused by: RemoteError: ${shown}`);
    expect(`${String(line)}${String(error)}`).not.toMatch(/(?![\n])\p{Cc}|\nrxmux|x{2001}/u);
  });

  it("The logger shows an application's error of several lines as it is", () => {
    const error = new Error('two\nlines');
    log('error', 'a line', error);
    expect(spies[3]?.mock.calls[0]?.[1]).toBe(error);
  });
});
