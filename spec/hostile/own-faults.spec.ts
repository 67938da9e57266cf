import { concat, of, throwError } from 'rxjs';
import { expect } from '@jest/globals';
import { ResetCode } from '../../src/index.js';
import type { ErrorSerializer, Stream, StreamHandler } from '../../src/index.js';
import { respond } from '../../src/peer/operators/respond.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import type { HostileOptions, Role } from '../support/hostile/peer.js';
import { bomb, THROWN, untouchable, withBomb } from '../support/hostile/values.js';
import { nested, utf8 } from '../support/values.js';

const { APPLICATION_ERROR } = ResetCode;

const open: Step = { type: 'open', stream: 3, payload: 'p' };

/** The one reset of stream 3 that the peer has sent, with all that is told to the remote. */
const told =
  (reset: object): Step =>
  (remote) => {
    const expected = { type: 'reset', stream: 3, code: APPLICATION_ERROR, ...reset };
    expect(remote.news().filter(({ type }) => type === 'reset')).toEqual([remote.codec.binary ? utf8(expected) : expected]);
  };

/** {@link told}, whatever the payload. */
const toldText =
  (text: string): Step =>
  (remote) => {
    const reset = remote.news().find(({ type }) => type === 'reset');
    const expected = { type: 'reset', stream: 3, code: APPLICATION_ERROR, ...reason(text) };
    expect({ ...reset, payload: undefined }).toEqual(remote.codec.binary ? utf8(expected) : expected);
  };

const reason = (text: string): object => (text === '' ? {} : { reason: text });

/** What has little to do with who dialed is shown of each role in turn. */
const inTurn = (n: number): Role => (n % 2 === 0 ? 'acceptor' : 'dialer');

/** Code of an application that fails with this value, in each place where an answer is made. */
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
    'trailers that are asked for throw',
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
    name: `${place} ${what}`,
    role: inTurn(n),
    options: { onStream: fail(make) },
    send: [open, 0, toldText(text)],
    expect: 'lives',
    handlerCalls: 1,
  }));

describeHostile(
  'a stream is reset, and nothing else happens, when',
  FAILING.flatMap(([place, fail]) => failures(place, fail)),
);

/** Streams that are taken by an operator, before the handler. */
const responding =
  (answer: (stream: Stream) => unknown): Step =>
  ({ peer }) => {
    peer.streams$.pipe(respond((payload, stream) => (payload === 'p' ? (answer(stream) as never) : undefined))).subscribe();
  };

describeHostile(
  'a stream is reset, and nothing else happens, when the project of respond',
  THROWN.flatMap(([what, make, text], n): HostileCase[] => [
    {
      name: `throws ${what}`,
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
      name: `gives an Observable that errors with ${what}`,
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

/** What an error serializer gives, and what of it is told to the remote under each codec. */
const SERIALIZED: readonly (readonly [what: string, give: ErrorSerializer, json: object, msgpack: object])[] = [
  ['throws', bomb, nothing, nothing],
  ['throws null', throwsNull, nothing, nothing],
  ['gives undefined', () => undefined, nothing, nothing],
  ['gives false', () => false, carried(false), carried(false)],
  ['gives 0', () => 0, carried(0), carried(0)],
  ['gives an empty text', () => '', carried(''), carried('')],
  ['gives a promise', () => Promise.resolve(1), nothing, nothing],
  ['gives a promise that rejects', () => Promise.reject(new Error('later')), nothing, nothing],
  ['gives a thenable that throws', () => ({ then: bomb }), nothing, nothing],
  ['gives bytes', () => Uint8Array.of(1, 2), nothing, carried(Uint8Array.of(1, 2))],
  ['gives a circle', () => circle, nothing, nothing],
  ['gives a function', () => () => 1, nothing, nothing],
  ['gives a symbol', () => Symbol('s'), nothing, nothing],
  ['gives a bigint', () => 1n, nothing, nothing],
  ['gives NaN', () => NaN, nothing, carried(NaN)],
  ['gives a Map', () => new Map([[1, 2]]), nothing, nothing],
  ['gives the Error itself', (error) => error, { reason: 'why' }, { reason: 'why' }],
  ['gives an invalid Date', () => ({ at: new Date(NaN) }), carried({ at: null }), nothing],
  ['gives 96 levels', () => nested(96, (inner) => [inner]), carried(nested(96, (inner) => [inner])), nothing],
  ['gives 257 levels', () => nested(257, (inner) => [inner]), nothing, nothing],
  ['gives an object that cannot be read', () => withBomb({}, 'secret'), nothing, nothing],
  ['gives an object whose message cannot be read', () => withBomb({}, 'message'), nothing, nothing],
  ['gives an object whose message is no text', () => ({ message: 1 }), carried({ message: 1 }), carried({ message: 1 })],
  ['gives an object whose toJSON throws', () => ({ toJSON: bomb }), nothing, nothing],
  [
    'gives a key __proto__',
    () => JSON.parse('{"__proto__":{"admin":true}}') as object,
    carried(JSON.parse('{"__proto__":{"admin":true}}')),
    nothing,
  ],
  ['gives a proxy that refuses everything', () => untouchable, nothing, nothing],
];

const failing = (errorSerializer: ErrorSerializer): HostileOptions => ({
  errorSerializer,
  onStream: () => {
    throw new Error('why');
  },
});

describeHostile(
  'a failing handler’s stream is reset with a reason of the library, and with a payload where there is one to send, when the error serializer',
  SERIALIZED.flatMap(([name, give, json, msgpack]): HostileCase[] =>
    (['json', 'msgpack'] as const).map((codec) => ({
      name,
      codec,
      options: failing(give),
      send: [open, 0, told({ reason: 'internal error', ...(codec === 'json' ? json : msgpack) })],
      expect: 'lives',
      handlerCalls: 1,
    })),
  ),
);

describeHostile('a reset goes in fragments, and as much of its reason as fits, when', [
  {
    name: 'the error serializer gives more than 16 MiB',
    role: 'acceptor',
    options: failing(() => 'x'.repeat(16 * 1024 * 1024 + 1)),
    send: [
      open,
      50,
      (remote) => {
        const sent = remote.news();
        expect(sent.length).toBeGreaterThan(256);
        expect(sent.filter(({ type, stream, code }) => type !== 'reset' || stream !== 3 || code !== APPLICATION_ERROR)).toEqual([]);
        expect(sent.map(({ more }) => more === true).indexOf(false)).toBe(sent.length - 1);
      },
    ],
    expect: 'lives',
    handlerCalls: 1,
  },
  {
    name: 'a handler throws an Error with a message of 1 MiB',
    options: {
      onStream: () => {
        throw new Error('€'.repeat(350_000));
      },
    },
    send: [
      open,
      50,
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
