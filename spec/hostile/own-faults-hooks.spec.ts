import { format, inspect } from 'node:util';
import { describe, expect, it, jest } from '@jest/globals';
import { ResetCode } from '../../src/index.js';
import type { Peer, ReplyHeadersInterceptor, StreamHandler } from '../../src/index.js';
import { logger } from '../../src/logger.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { bomb, THROWN } from '../support/hostile/values.js';
import { settled } from '../support/peer/outcome.js';

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
  ([what, , text]) => text === 'unknown error' || ['undefined', 'an Error', 'a thenable that throws'].includes(what),
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
