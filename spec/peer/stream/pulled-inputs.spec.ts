import { ReadableStream } from 'node:stream/web';
import { describe, expect, it } from '@jest/globals';
import { of } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { withCredit } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { collectLogs } from '../../support/peer/logs.js';
import { progressOf } from '../../support/peer/outcome.js';
import { fillSocket } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

type Next = () => unknown;

const KINDS: readonly (readonly [kind: string, make: (next: Next, back?: Next) => ObservableInput<unknown>])[] = [
  ['an iterable', (next, back) => ({ [Symbol.iterator]: () => ({ next, return: back }) }) as unknown as Iterable<unknown>],
  [
    'an async iterable',
    (next, back) =>
      ({
        [Symbol.asyncIterator]: () => ({ next: () => new Promise((resolve) => resolve(next())), return: back }),
      }) as unknown as AsyncIterable<unknown>,
  ],
];

describe.each(KINDS)('Input that is %s', (_kind, make) => {
  it.each<[string, Next, object]>([
    ['is done', () => ({ done: true, value: undefined }), { settled: true, error: null }],
    [
      'has failed',
      () => {
        throw new RangeError('no more');
      },
      { settled: true, error: new RangeError('no more') },
    ],
    [
      'returns a result that cannot be read',
      () => ({
        get done(): never {
          throw new RangeError('no more');
        },
      }),
      { settled: true, error: new RangeError('no more') },
    ],
  ])('A pulled input is not stopped once it %s', async (_what, next, outcome) => {
    const { dialer } = createPair();
    let stopped = 0;
    const told = progressOf(dialer.open().sendAll(make(next, () => ++stopped)));
    await time.advance();
    expect([told, stopped]).toEqual([outcome, 0]);
  });

  it('A pulled input is stopped when its stream ends before the first value', async () => {
    const { dialer, link } = createPair();
    link.stall('acceptor');
    fillSocket(dialer);
    await time.advance();
    const stream = dialer.open();
    const calls: string[] = [];
    void stream.sendAll(
      make(
        () => calls.push('next'),
        () => calls.push('return'),
      ),
    );
    stream.reset();
    await time.advance();
    expect(calls).toEqual(['return']);
  });

  it('A pulled input may lack `return`', async () => {
    const { dialer } = createPair();
    const stream = dialer.open();
    const input = make(() => {
      stream.reset();
      return { done: false, value: 1 };
    });
    const told = progressOf(stream.sendAll(input));
    await time.advance();
    expect([told, logs.errors]).toEqual([{ settled: true, error: expect.objectContaining({ code: 'CANCELLED' }) }, []]);
  });
});

it('A pulled input may hold 50 000 values without a stack overflow', () => {
  const values = Array.from({ length: 50_000 }, (_, n) => n);
  const given: unknown[] = [];
  withCredit(1)
    .spend(of(values.length))(values)
    .subscribe({ next: (value) => given.push(value), error: (error: unknown) => given.push(error) });
  expect(given).toEqual(values);
});

it('A declined input that cannot be ended is logged, and does no other harm', async () => {
  const { dialer } = createPair();
  const stream = dialer.open();
  stream.reset();
  const locked = new ReadableStream();
  locked.getReader();
  const told = progressOf(stream.sendAll(locked));
  await time.advance();
  expect(told.error).toMatchObject({ code: 'CANCELLED' });
  expect(logs.errors).toEqual(['rxmux: ending an input failed']);
});
