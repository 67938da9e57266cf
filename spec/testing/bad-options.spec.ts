import { expect, it, jest } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';
import { logger } from '../../src/logger.js';
import { contract, request, stream } from '../../src/contract.js';
import { createPair, createServer, fakePeer, peerFromMarbles, virtualTime } from '../../src/testing.js';
import type { Frame } from '../../src/index.js';
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

it.each<[name: string, inbound: unknown, frames: unknown, message: string]>([
  ['a letter without a frame', '--o--x|', undefined, "inbound: expected one of o, d, e, r, p, q, g, got 'x'"],
  ['a value that is no frame', '--a|', { a: 5 }, 'frames.a: expected a frame, got 5'],
  ['a row that is no text', 5, undefined, 'inbound: expected marbles, got 5'],
  ['frames of null', '--o|', null, 'frames: expected an object, got null'],
])('`peerFromMarbles` throws for %s', (_name, inbound, frames, message) => {
  new TestScheduler(() => undefined).run((helpers) => {
    expect(() => peerFromMarbles(helpers, inbound as string, frames as Record<string, Frame>)).toThrow(new TypeError(message));
  });
});

const api = contract({ price: stream<void, number>(), chat: { send: request() } });

it.each<[name: string, rows: unknown, message: string]>([
  ['an unknown procedure', { prize: '-a|' }, "rows: expected one of price, chat.send, got 'prize'"],
  ['a namespace', { chat: '-a|' }, "rows: expected one of price, chat.send, got 'chat'"],
  ['a number', { price: 5 }, "rows['price']: expected marbles, or [marbles, values, error], got 5"],
  ['an empty list', { price: [] }, "rows['price']: expected marbles, or [marbles, values, error], got undefined"],
])('`fakePeer` of a contract throws for a row of %s', (_name, rows, message) => {
  new TestScheduler(() => undefined).run((helpers) => {
    expect(() => fakePeer(helpers, api, rows as { price: string })).toThrow(new TypeError(message));
  });
});

it.each<[call: string, message: string, misuse: (link: ReturnType<typeof createPair>['link']) => void]>([
  ['stall', "stall: expected 'dialer' or 'acceptor', got 'me'", (link) => link.stall('me' as 'dialer')],
  ['resume', "resume: expected 'dialer' or 'acceptor', got undefined", (link) => link.resume(undefined as never)],
  ['inject', "inject: expected 'dialer' or 'acceptor', got 'x'", (link) => link.inject('x' as 'dialer', '{}')],
  ['a message of inject', 'inject: expected a text or an ArrayBuffer, got an object', (link) => link.inject('dialer', {} as never)],
])('A link throws for a wrong argument of %s', (_call, message, misuse) => {
  const { link } = createPair();
  expect(() => misuse(link)).toThrow(new TypeError(message));
});

it.each([
  ['dropp', "'dropp'"],
  [{ delay: 5 }, 'an object'],
])('A script that returns the fault %p ends the connection, and the log says why', async (fault, got) => {
  const error = jest.spyOn(logger, 'error').mockReturnValue(undefined);
  const { dialer } = createPair({ faults: () => fault as never });
  await expect(dialer.request(1)).rejects.toThrow('connection lost');
  const says = `faults: expected 'drop', 'duplicate', 'cut', { delayMs } or { replace }, got ${got}`;
  expect(error).toHaveBeenCalledWith(expect.any(String), new TypeError(says));
  error.mockRestore();
});

it('`advance` rejects for Infinity, because a keepalive never ends', async () => {
  const time = virtualTime();
  await expect(time.advance(Infinity)).rejects.toThrow(new TypeError('ms: expected a finite number, got Infinity'));
  time.restore();
});
