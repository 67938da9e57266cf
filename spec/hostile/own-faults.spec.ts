import { concat, of, throwError } from 'rxjs';
import { expect } from '@jest/globals';
import { ResetCode } from '../../src/index.js';
import type { ErrorSerializer, Stream, StreamHandler } from '../../src/index.js';
import { respond } from '../../src/peer/operators/respond.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import type { HostileOptions, Role } from '../support/hostile/peer.js';
import { answersPing } from '../support/hostile/steps.js';
import { bomb, THROWN, untouchable, withBomb } from '../support/hostile/values.js';
import { nested, utf8 } from '../support/codec/values.js';

const { APPLICATION_ERROR } = ResetCode;

const open: Step = { type: 'open', stream: 3, payload: 'p' };

/** Checks each field of the only reset of stream 3 that the peer has sent. */
const told =
  (reset: object): Step =>
  (remote) => {
    const expected = { type: 'reset', stream: 3, code: APPLICATION_ERROR, ...reset };
    expect(remote.news().filter(({ type }) => type === 'reset')).toEqual([remote.codec.binary ? utf8(expected) : expected]);
  };

/** The same as {@link told} with any payload. */
const toldText =
  (text: string): Step =>
  (remote) => {
    const reset = remote.news().find(({ type }) => type === 'reset');
    const expected = { type: 'reset', stream: 3, code: APPLICATION_ERROR, ...reason(text) };
    expect({ ...reset, payload: undefined }).toEqual(remote.codec.binary ? utf8(expected) : expected);
  };

const reason = (text: string): object => (text === '' ? {} : { reason: text });

/** Alternates the roles, for cases that hardly depend on the role. */
const inTurn = (n: number): Role => (n % 2 === 0 ? 'acceptor' : 'dialer');

/** Application code that fails with a value, in each place that takes part in an answer. */
const FAILING: readonly (readonly [place: string, fail: (make: () => unknown) => StreamHandler])[] = [
  [
    'a handler throws',
    (make) => () => {
      throw make();
    },
  ],
  ['a handler rejects with', (make) => () => Promise.reject(make())],
  [
    'a handler that has sent something rejects with',
    (make) => async (_, stream) => {
      await stream.send('first');
      throw make();
    },
  ],
  ['an Observable input errors with', (make) => (_, stream) => stream.sendAll(concat(of('first'), throwError(make)))],
  ['an iterable input throws', (make) => (_, stream) => stream.sendAll(iterable(make))],
  ['an async iterable input rejects with', (make) => (_, stream) => stream.sendAll(asyncIterable(make))],
  [
    'a trailers callback throws',
    (make) => (_, stream) => {
      stream.setTrailers(() => {
        throw make();
      });
    },
  ],
];

function* iterable(make: () => unknown): Generator<string> {
  yield 'first';
  throw make();
}

async function* asyncIterable(make: () => unknown): AsyncGenerator<string> {
  yield await Promise.resolve('first');
  throw make();
}

const failures = (place: string, fail: (make: () => unknown) => StreamHandler): HostileCase[] =>
  THROWN.map(([what, make, text], n) => ({
    name: `The peer resets only the stream when ${place} ${what}`,
    role: inTurn(n),
    options: { onStream: fail(make) },
    send: [open, 0, toldText(text)],
    expect: 'lives',
    handlerCalls: 1,
  }));

describeHostile(
  'handlers that fail',
  FAILING.flatMap(([place, fail]) => failures(place, fail)),
);

/** Answers stream 3 through `respond`, ahead of the handler. */
const responding =
  (answer: (stream: Stream) => unknown): Step =>
  ({ peer }) => {
    peer.streams$.pipe(respond((payload, stream) => (payload === 'p' ? (answer(stream) as never) : undefined))).subscribe();
  };

describeHostile(
  'projects of respond that fail',
  THROWN.flatMap(([what, make, text], n): HostileCase[] => [
    {
      name: `The peer resets only the stream when the project of respond throws ${what}`,
      role: inTurn(n),
      send: [
        responding(() => {
          throw make();
        }),
        open,
        0,
        toldText(text),
      ],
      expect: 'lives',
    },
    {
      name: `The peer resets only the stream when the project of respond returns an Observable that errors with ${what}`,
      role: inTurn(n + 1),
      send: [responding(() => throwError(make)), open, 0, toldText(text)],
      expect: 'lives',
    },
  ]),
);

const circle: Record<string, unknown> = {};
circle['self'] = circle;

const nothing = {};
const thrownNull: unknown = null;
const throwsNull = (): never => {
  throw thrownNull;
};
const carried = (payload: unknown) => ({ payload });

/** Results of an error serializer, each with the fields of the reset under each codec. */
const SERIALIZED: readonly (readonly [what: string, give: ErrorSerializer, json: object, msgpack: object])[] = [
  ['throws', bomb, nothing, nothing],
  ['throws null', throwsNull, nothing, nothing],
  ['returns undefined', () => undefined, nothing, nothing],
  ['returns false', () => false, carried(false), carried(false)],
  ['returns 0', () => 0, carried(0), carried(0)],
  ['returns an empty text', () => '', carried(''), carried('')],
  ['returns a promise', () => Promise.resolve(1), nothing, nothing],
  ['returns a promise that rejects', () => Promise.reject(new Error('later')), nothing, nothing],
  ['returns a thenable that throws', () => ({ then: bomb }), nothing, nothing],
  ['returns bytes', () => Uint8Array.of(1, 2), nothing, carried(Uint8Array.of(1, 2))],
  ['returns a circle', () => circle, nothing, nothing],
  ['returns a function', () => () => 1, nothing, nothing],
  ['returns a symbol', () => Symbol('s'), nothing, nothing],
  ['returns a bigint', () => 1n, nothing, nothing],
  ['returns NaN', () => NaN, nothing, carried(NaN)],
  ['returns a Map', () => new Map([[1, 2]]), nothing, nothing],
  ['returns the Error itself', (error) => error, { reason: 'why' }, { reason: 'why' }],
  ['returns an invalid Date', () => ({ at: new Date(NaN) }), carried({ at: null }), nothing],
  ['returns 96 levels', () => nested(96, (inner) => [inner]), carried(nested(96, (inner) => [inner])), nothing],
  ['returns 257 levels', () => nested(257, (inner) => [inner]), nothing, nothing],
  ['returns an object that cannot be read', () => withBomb({}, 'secret'), nothing, nothing],
  ['returns an object whose message cannot be read', () => withBomb({}, 'message'), nothing, nothing],
  ['returns an object whose message is no text', () => ({ message: 1 }), carried({ message: 1 }), carried({ message: 1 })],
  ['returns an object whose toJSON throws', () => ({ toJSON: bomb }), nothing, nothing],
  [
    'returns a key __proto__',
    () => JSON.parse('{"__proto__":{"admin":true}}') as object,
    carried(JSON.parse('{"__proto__":{"admin":true}}')),
    nothing,
  ],
  ['returns a proxy that refuses everything', () => untouchable, nothing, nothing],
];

const failing = (errorSerializer: ErrorSerializer): HostileOptions => ({
  errorSerializer,
  onStream: () => {
    throw new Error('why');
  },
});

describeHostile(
  'error serializers',
  SERIALIZED.flatMap(([name, give, json, msgpack]): HostileCase[] =>
    (['json', 'msgpack'] as const).map((codec) => ({
      name: `The peer resets the stream of a failed handler when its error serializer ${name}`,
      codec,
      options: failing(give),
      send: [open, 0, told({ reason: 'internal error', ...(codec === 'json' ? json : msgpack) })],
      expect: 'lives',
      handlerCalls: 1,
    })),
  ),
);

describeHostile('large resets', [
  {
    name: 'The peer cuts the reason of a reset when a handler throws an Error with a message of 1 MiB',
    options: {
      onStream: () => {
        throw new Error('€'.repeat(350_000));
      },
    },
    send: [
      open,
      50,
      // The reset is bulk, which waits for answers.
      ...Array.from({ length: 16 }, (): readonly Step[] => [answersPing, 50]).flat(),
      (remote) => {
        const sent = remote.news();
        expect(new Set(sent.map((frame) => frame['reason']))).toEqual(new Set(['€'.repeat(341)]));
        expect(sent.map(({ more }) => more === true).indexOf(false)).toBe(sent.length - 1);
      },
    ],
    expect: 'lives',
    handlerCalls: 1,
  },
]);
