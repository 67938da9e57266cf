import { expect, it } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';
import { createPair, createServer, fakePeer } from '../../src/testing.js';
import type { FakePeerOptions, PairOptions, TestServerOptions } from '../../src/testing.js';

type Row = readonly [options: unknown, message: string];

/** Wrong options of the line between two peers, and the errors. */
const OF_LINES: readonly Row[] = [
  [null, 'options: expected an object, got null'],
  ['slow', "options: expected an object, got 'slow'"],
  [{ latencyMs: 'x' }, "latencyMs: expected a number of at least 0, got 'x'"],
  [{ latencyMs: NaN }, 'latencyMs: expected a number of at least 0, got NaN'],
  [{ latencyMs: -5 }, 'latencyMs: expected a number of at least 0, got -5'],
  [{ faults: 5 }, 'faults: expected a function, got 5'],
  [{ limits: 5 }, 'limits: expected an object, got 5'],
];

it.each<Row>([
  ...OF_LINES,
  [{ dialer: 5 }, 'dialer: expected an object, got 5'],
  [{ acceptor: null }, 'acceptor: expected an object, got null'],
])('`createPair` throws for %p', (options, message) => {
  expect(() => createPair(options as PairOptions)).toThrow(new TypeError(message));
});

it.each<Row>([...OF_LINES, [{ onStream: 5 }, 'onStream: expected a function, got 5']])(
  '`createServer` throws for %p, not only at the first dial',
  (options, message) => {
    expect(() => createServer(options as TestServerOptions)).toThrow(new TypeError(message));
  },
);

it.each<[name: string, helpers: unknown, got: string]>([
  ['null', null, 'null'],
  ['an object without helpers', {}, 'an object'],
  ['a function', () => undefined, 'a function'],
])('`fakePeer` throws for %s as helpers', (_name, helpers, got) => {
  expect(() => fakePeer(helpers as RunHelpers, { a: '--a' })).toThrow(
    expect.objectContaining({ name: 'TypeError', message: `helpers: expected the helpers of TestScheduler.run, got ${got}` }),
  );
});

it.each<[name: string, rows: unknown, options: unknown, message: string]>([
  ['rows of null', null, {}, 'rows: expected an object, got null'],
  ['a row that is no string', { a: 5 }, {}, "rows['a']: expected marbles, got 5"],
  ['options of null', { a: '-a' }, null, 'options: expected an object, got null'],
  ['a name that is no function', { a: '-a' }, { name: 'op' }, "name: expected a function, got 'op'"],
])('`fakePeer` throws for %s', (_name, rows, options, message) => {
  new TestScheduler(() => undefined).run((helpers) => {
    expect(() => fakePeer(helpers, rows as Record<string, string>, options as FakePeerOptions)).toThrow(new TypeError(message));
  });
});
