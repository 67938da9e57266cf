import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { connect, serve } from '../../src/node.js';
import { log } from '../../src/logger.js';

/** The arguments of each line on the console. */
let lines: (readonly unknown[])[] = [];

beforeEach(() => {
  lines = [];
  for (const level of ['warn', 'error'] as const)
    jest.spyOn(console, level).mockImplementation((...line: readonly unknown[]) => void lines.push(line));
});

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

const textOf = (line: readonly unknown[]): string =>
  line.map((part) => (part instanceof Error ? String(part.stack) : String(part))).join(' ');

describe('lines that a remote causes', () => {
  it.each<[string, (nth: number) => void]>([
    [
      'a handler that throws',
      (nth) => {
        throw new Error(`${nth} ${'x'.repeat(60_000)}`);
      },
    ],
    ['a handler that rejects', (nth) => Promise.reject(new Error(`${nth} ${'x'.repeat(60_000)}`)) as never],
    [
      'a handler that throws a wide error',
      (nth) => {
        throw Object.assign(new Error('wide'), { body: `${nth} ${'x'.repeat(60_000)}` });
      },
    ],
  ])('A client that calls %s 400 times causes 20 lines, each of bounded length', async (_what, handler) => {
    let calls = 0;
    const server = serve({ port: 0, host: '127.0.0.1', handler: () => handler(calls++) });
    const address = await server.listening;
    const peer = connect(`ws://127.0.0.1:${typeof address === 'object' ? address.port : ''}`);
    await peer.opened;
    while (calls < 400) await Promise.allSettled(Array.from({ length: 40 }, (_, nth) => peer.request(nth)));
    await peer.close();
    await server.close();
    expect(lines).toHaveLength(20);
    expect(lines.filter((line) => !textOf(line).includes('a handler failed'))).toEqual([]);
    expect(Math.max(...lines.map((line) => textOf(line).length))).toBeLessThan(5_000);
  });

  it('The log counts the lines that it left out, once a minute', () => {
    jest.useFakeTimers();
    for (let nth = 1; nth <= 25; nth++) log('error', `stream ${nth}: a handler of spec failed`, `fault ${nth}`);
    expect(lines).toHaveLength(20);
    jest.advanceTimersByTime(59_999);
    expect(lines).toHaveLength(20);
    jest.advanceTimersByTime(1);
    expect(lines.slice(20)).toEqual([['rxmux: stream 25: a handler of spec failed, the last of 5 more', 'fault 25']]);
    jest.advanceTimersByTime(60_000);
    for (let nth = 1; nth <= 3; nth++) log('error', `stream ${nth}: a handler of spec failed`);
    expect(lines).toHaveLength(24);
  });

  it('Faults of different places do not hide each other', () => {
    const faults = ['a', 'b'].map((name) =>
      Object.assign(new Error(name), { stack: `Error: ${name}\n    at ${name} (/app/${name}.js:1:1)` }),
    );
    for (let nth = 0; nth < 30; nth++) log('error', 'a handler at places failed', faults[0]);
    log('error', 'a handler at places failed', faults[1]);
    expect(lines).toHaveLength(21);
    expect(lines[20]?.[1]).toBe(faults[1]);
  });

  it('A remote that chooses texts causes no more than 200 kinds of lines', () => {
    jest.useFakeTimers();
    for (let nth = 0; nth < 1_000; nth++) log('warn', `${String.fromCharCode(0x4e00 + nth)} is what a remote chose`);
    expect(lines.length).toBeLessThanOrEqual(220);
    jest.advanceTimersByTime(120_000);
  });

  it('The log leaves lines out while stderr has no reader, and says how many', () => {
    let waiting = 1_000_000;
    Object.defineProperty(process.stderr, 'writableLength', { configurable: true, get: () => waiting });
    for (let nth = 0; nth < 3; nth++) log('warn', 'a line for a slow reader');
    expect(lines).toEqual([]);
    waiting = 0;
    log('warn', 'a line for a slow reader');
    expect(lines).toEqual([
      ['rxmux: a line for a slow reader'],
      ['rxmux: 3 lines were left out of the log before this one, because its reader is slow'],
    ]);
    Reflect.deleteProperty(process.stderr, 'writableLength');
  });
});

describe('errors in the log', () => {
  const OURS = '    at run (/app/node_modules/rxmux/dist/peer/answers.js:1:1)';
  const RXJS = '    at next (/app/node_modules/rxjs/dist/cjs/internal/Subscriber.js:1:1)';
  const NODE = '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)';
  const OWN = '    at chat (/app/chat.js:12:9)';

  it.each([
    ['frames of the program stay first', [OWN, OURS, NODE], [OWN, '    at 2 of rxmux and below']],
    ['frames of the library move behind them', [OURS, RXJS, OWN, NODE], [OWN, '    at 3 of rxmux and below']],
    [
      'more than 20 frames are counted',
      [...Array.from({ length: 45 }, () => OWN), OURS],
      [...Array.from({ length: 20 }, () => OWN), '    at 25 more frames', '    at 1 of rxmux and below'],
    ],
    ['a stack without frames of the program stays as it is', [OURS, NODE], [OURS, NODE]],
  ])('In a stack %s', (what, frames, expected) => {
    const error = Object.assign(new RangeError('too much'), { stack: ['RangeError: too much', ...frames].join('\n'), status: 7 });
    log('error', `a stack where ${what}`, error);
    const shown = lines[0]?.[1] as RangeError & { readonly status: number };
    expect(shown).toBeInstanceOf(RangeError);
    expect([shown.message, shown.status, shown.stack]).toEqual(['too much', 7, ['RangeError: too much', ...expected].join('\n')]);
  });

  it('The log passes on a short error of the program itself', () => {
    const error = Object.assign(new Error('short'), { stack: `Error: short\n${OWN}` });
    log('error', 'an error that is passed on', error);
    expect(lines[0]?.[1]).toBe(error);
  });

  it.each<[string, unknown]>([
    ['a message', new Error('x'.repeat(60_000))],
    ['a property', Object.assign(new Error('large'), { body: 'x'.repeat(60_000) })],
    ['a list', Object.assign(new Error('large'), { rows: Array.from({ length: 60_000 }, () => 'x'.repeat(100)) })],
    ['a cause', new Error('outer', { cause: new Error('x'.repeat(60_000)) })],
    ['a text', 'x'.repeat(60_000)],
    ['an object', { body: 'x'.repeat(60_000) }],
  ])('The log bounds %s of 60 000 characters', (what, thrown) => {
    log('error', `a long ${what}`, thrown);
    const shown = lines[0]?.[1];
    expect(typeof shown === 'string' ? shown.length : String((shown as Error).stack).length).toBeLessThan(4_100);
  });
});
