import { format, inspect } from 'node:util';
import { describe, expect, it, jest } from '@jest/globals';
import { concat, of, throwError } from 'rxjs';
import { ResetCode } from '../../src/index.js';
import type { ErrorSerializer, Peer, ReplyHeadersInterceptor, Stream, StreamHandler } from '../../src/index.js';
import { logger } from '../../src/logger.js';
import { respond } from '../../src/peer/operators/respond.js';
import { nested, utf8 } from '../support/codec/values.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import type { HostileOptions, Role } from '../support/hostile/peer.js';
import { answersPing } from '../support/hostile/steps.js';
import { bomb, THROWN, untouchable, withBomb } from '../support/hostile/values.js';
import type { Envelope } from '../support/peer/frames.js';
import { settled } from '../support/peer/outcome.js';

describe('own faults', () => {
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
});

describe('own faults hooks', () => {
  const { APPLICATION_ERROR } = ResetCode;

  type Code = () => undefined;
  type Make = () => unknown;

  /** One whole exchange: the remote opens a stream and sends twice. */
  const exchange: readonly Step[] = [
    { type: 'open', stream: 3, payload: 'p', headers: { h: 1 } },
    { type: 'data', stream: 3, payload: 'one' },
    { type: 'data', stream: 3, payload: 'two', end: true },
    0,
  ];

  const answer = { type: 'data', stream: 3, payload: 'answer', end: true };

  /** Hooks whose failures the peer only logs. */
  const LOGGED: readonly (readonly [hook: string, hang: (peer: Peer, code: Code) => unknown])[] = [
    ['an incoming-headers interceptor', (peer, code) => peer.interceptIncomingHeaders(code)],
    ['a frame observer', (peer, code) => peer.onFrame(code)],
    ['a frame observer of what comes in', (peer, code) => peer.onFrame((direction) => (direction === 'rx' ? code() : undefined))],
    ['a frame observer of what goes out', (peer, code) => peer.onFrame((direction) => (direction === 'tx' ? code() : undefined))],
    ['a close handler', (peer, code) => peer.onClose(code)],
    ['every hook at once', (peer, code) => [peer.interceptIncomingHeaders(code), peer.onFrame(code), peer.onClose(code)]],
  ];

  /** From here on the application's logger throws at each visible line. */
  const breakLogger: Step = () => {
    for (const level of ['warn', 'error'] as const) jest.mocked(logger[level]).mockImplementation(bomb);
  };

  const fails =
    (make: Make): Code =>
    () => {
      throw make();
    };
  const rejects =
    (make: Make): Code =>
    () =>
      Promise.reject(make()) as never;

  /** Thrown values that are logged in different ways. */
  const SOME = THROWN.filter(
    ([what, , text]) => text === 'unknown error: throw an Error' || ['undefined', 'an Error', 'a thenable that throws'].includes(what),
  );

  /** Returns the error that a call throws, in a box, or `null` if it throws none. */
  function thrownBy(call: () => unknown): { readonly error: unknown } | null {
    try {
      call();
    } catch (error) {
      return { error };
    }
    return null;
  }

  const logged = (how: string, before: readonly Step[], code: (make: Make) => Code): HostileCase[] =>
    LOGGED.flatMap(([hook, hang]) =>
      SOME.map(([what, make], n) => {
        const others = { frames: 0, headers: 0, closes: 0 };
        return {
          name: `The peer calls its other hooks when ${hook} ${how} ${what}${before.length > 0 ? ', with a logger that throws' : ''}`,
          role: n % 2 === 0 ? 'acceptor' : 'dialer',
          options: { onStream: (_, stream) => stream.reply('answer') },
          fails: true,
          send: () => {
            Object.assign(others, { frames: 0, headers: 0, closes: 0 });
            return [
              ...before,
              ({ peer }) => {
                hang(peer, code(make));
                peer.onFrame(() => others.frames++);
                peer.interceptIncomingHeaders(() => {
                  others.headers++;
                });
                peer.onClose(() => {
                  others.closes++;
                });
              },
              ...exchange,
              () => {
                expect(others).toEqual({ frames: 4, headers: 1, closes: 0 });
              },
            ];
          },
          expect: 'lives',
          sends: [answer],
          got: [['p', 'one', 'two', 'end']],
          inTheEnd: () => {
            expect(others.closes).toBe(1);
          },
        };
      }),
    );

  describeHostile('hooks that fail', [...logged('throws', [], fails), ...logged('returns a promise that rejects with', [], rejects)]);

  describeHostile('hooks that fail under a failing logger', [
    ...logged('throws', [breakLogger], fails),
    ...logged('returns a promise that rejects with', [breakLogger], rejects),
  ]);

  /** Runs the code only on streams that were opened with this payload, and not on the innocent ones. */
  const onlyFor =
    (payload: unknown, code: Code): ReplyHeadersInterceptor =>
    (_, stream) =>
      stream.payload === payload ? code() : undefined;

  /** Hooks whose failures fail the call or the handler. */
  const callers = SOME.flatMap(([what, make]): HostileCase[] => {
    const thrown = make();
    const fail = fails(() => thrown);
    const isThrown = (error: unknown): boolean => Object.is(error, thrown);
    const caught: unknown[] = [];
    /** Keeps its failure and throws it again, since an error serializer does not receive an error that cannot be inspected. */
    const replying: StreamHandler = (_, stream) => {
      try {
        return stream.reply('answer');
      } catch (error) {
        caught.push(error);
        throw error;
      }
    };
    return [
      {
        name: `An open interceptor that throws ${what} fails the call, which sends nothing and spends no id`,
        send: [
          async ({ peer }) => {
            const later: string[] = [];
            const remove = peer.interceptOpen(fail);
            const removeOther = peer.interceptOpen(() => {
              later.push('called');
            });
            const outcome = await settled(peer.request('q'));
            const errors = [outcome, thrownBy(() => peer.open('q')), thrownBy(() => peer.notify('q'))];
            expect(errors.map((each) => each !== null && 'error' in each && isThrown(each.error))).toEqual([true, true, true]);
            expect(later).toEqual([]);
            remove();
            removeOther();
            peer.notify('good');
          },
        ],
        expect: 'lives',
        sends: [{ type: 'open', stream: 4, end: true, payload: 'good' }],
      },
      {
        name: `A reply-headers interceptor that throws ${what} fails the handler, and the peer resets its stream`,
        options: { onStream: replying, errorSerializer: () => null },
        send: [
          ({ peer }) => void peer.interceptReplyHeaders(onlyFor('p', fail)),
          { type: 'open', stream: 3, payload: 'p' },
          0,
          () => {
            expect(caught.splice(0).map(isThrown)).toEqual([true]);
          },
        ],
        expect: 'lives',
        resets: [[3, APPLICATION_ERROR]],
        handlerCalls: 1,
      },
      {
        name: `An onOpen callback that throws ${what} fails the call, and the peer cancels its stream`,
        send: [
          ({ peer }) => {
            const failure = thrownBy(() => peer.open('q', { onOpen: fail }));
            expect(failure !== null && isThrown(failure.error)).toBe(true);
          },
        ],
        expect: 'lives',
        sends: [{ type: 'open', stream: 4, payload: 'q' }],
        resets: [[4, ResetCode.CANCEL]],
      },
    ];
  });

  describeHostile('hooks that fail their caller', callers);

  describeHostile('hooks that return promises', [
    {
      name: 'A call fails with a TypeError when an open interceptor returns a promise that rejects',
      send: [
        ({ peer }) => {
          const remove = peer.interceptOpen(rejects(() => new Error('later')));
          expect(() => peer.open('q')).toThrow(TypeError);
          remove();
        },
      ],
      expect: 'lives',
    },
    {
      name: 'The peer resets the stream when a reply-headers interceptor returns a promise that rejects',
      options: { onStream: (_, stream) => stream.reply('answer') },
      send: [
        ({ peer }) =>
          void peer.interceptReplyHeaders(
            onlyFor(
              'p',
              rejects(() => new Error('later')),
            ),
          ),
        { type: 'open', stream: 3, payload: 'p' },
        0,
      ],
      expect: 'lives',
      resets: [[3, APPLICATION_ERROR]],
      handlerCalls: 1,
    },
  ]);

  describe('logger', () => {
    it('The logger writes only its message when the console cannot show the value', () => {
      const lines: string[] = [];
      const spy = jest.spyOn(console, 'error').mockImplementation((...args) => {
        lines.push(format(...args));
      });
      logger.error('failed', new Error('shown'), { [inspect.custom]: bomb });
      spy.mockRestore();
      expect(lines).toEqual(['failed']);
    });
  });
});

describe('own faults mutation', () => {
  /** A value, and a method that changes all its parts after a call. */
  class Mutable {
    readonly bytes = Uint8Array.of(1, 2, 3);
    readonly value: { list: unknown[]; deep: Record<string, unknown>; bytes?: Uint8Array };

    constructor(binary: boolean) {
      this.value = { list: [1, 2], deep: { a: 1 }, ...(binary ? { bytes: this.bytes } : {}) };
    }

    change(): void {
      this.bytes.fill(0);
      this.value.list.push('late');
      this.value.deep['late'] = true;
      Object.assign(this.value, { list: 'late', late: true });
    }
  }

  type Value = Mutable['value'];

  /** Calls that pass a value, each with the key under which the remote receives it. */
  const CALLS: readonly (readonly [what: string, key: keyof Envelope, call: (peer: Peer, stream: Stream, value: Value) => unknown])[] = [
    ['the payload of open', 'payload', (peer, _, value) => peer.open(value)],
    ['the headers of open', 'headers', (peer, _, value) => peer.open('p', { headers: { ...value } })],
    ['the payload of open$', 'payload', (peer, _, value) => peer.open$(value).subscribe({ error: () => undefined })],
    ['the payload of a request', 'payload', (peer, _, value) => void peer.request(value).catch(() => undefined)],
    ['the headers of a request', 'headers', (peer, _, value) => void peer.request('p', { headers: value as never }).catch(() => undefined)],
    ['the payload of a notification', 'payload', (peer, _, value) => peer.notify(value)],
    ['the payload of send', 'payload', (_, stream, value) => stream.send(value)],
    ['the payload of reply', 'payload', (_, stream, value) => stream.reply(value)],
    ['the trailers of reply', 'trailers', (_, stream, value) => stream.reply('p', { trailers: value as never })],
    ['the trailers of end', 'trailers', (_, stream, value) => stream.end({ trailers: value as never })],
    ['reply headers', 'headers', (_, stream, value) => stream.sendHeaders(value)],
    ['the payload of a reset', 'payload', (_, stream, value) => stream.reset(300, 'why', value)],
    ['the payload of an error', 'payload', (_, stream, value) => stream.reset(16, 'why', value)],
  ];

  const cases = CALLS.flatMap(([what, key, call]): HostileCase[] =>
    [false, true].map((waits) => ({
      name: `Later changes do not reach the remote in ${what}, ${waits ? 'queued for the socket' : 'sent at once'}`,
      send: ({ binary }) => {
        const given = new Mutable(binary);
        const meant = structuredClone(given.value);
        return [
          { type: 'open', stream: 3, payload: 'p' },
          ({ peer, socket, calls: [taken] }) => {
            if (waits) socket.bufferedAmount = 1024 * 1024;
            if (taken === undefined) throw new Error('expected the handler to be called');
            void call(peer, taken.stream, given.value);
            given.change();
            socket.bufferedAmount = 0;
          },
          50,
          (remote) => {
            const news = remote.news();
            expect(news.map((frame) => frame[key]).filter((value) => typeof value === 'object')).toEqual([meant]);
          },
          // The rig does not track streams that `call` opens, so the remote ends them.
          { type: 'reset', stream: 4, code: 300 },
        ];
      },
      expect: 'lives',
      handlerCalls: 1,
    })),
  );

  describeHostile('values that change after a call', cases);
});
