import { expect } from '@jest/globals';
import { DEFAULT_LIMITS, ResetCode } from '../../src/index.js';
import { describeHostile, TOO_MUCH } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { idOf, inTurns, opens, quietly, times } from '../support/hostile/floods.js';
import { unfinished } from '../support/hostile/messages.js';
import { INNOCENT, SECRET } from '../support/hostile/peer.js';
import { isOpen } from '../support/hostile/steps.js';
import { progressOf } from '../support/peer/outcome.js';
import type { Envelope } from '../support/peer/frames.js';

const { CANCEL, PROTOCOL_ERROR, STREAM_CLOSED } = ResetCode;
const { junk: JUNK_RATE, provokedResets: PROVOKED_RATE } = DEFAULT_LIMITS;

/** Ids that were never opened: the first of the remote, and one of the peer. */
const NEVER = 90_001;
const NEVER_MINE = 90_002;

const JUNK: readonly (readonly [what: string, junk: (n: number) => Envelope])[] = [
  ['pongs without a ping', (n) => ({ type: 'pong', nonce: `${SECRET}${n}` })],
  ['pongs without a nonce', () => ({ type: 'pong' })],
  ['resets of streams that were never opened', (n) => ({ type: 'reset', stream: NEVER + 2 * n, code: CANCEL, payload: SECRET })],
  ['resets of streams that the peer has never opened', () => ({ type: 'reset', stream: NEVER_MINE, code: CANCEL })],
  ['resets without a stream', () => ({ type: 'reset', code: CANCEL })],
  ['resets of stream 0', () => ({ type: 'reset', stream: 0, code: CANCEL })],
  ['data frames without a stream', () => ({ type: 'data', payload: SECRET })],
  ['data frames without content', () => ({ type: 'data', stream: 1 })],
];

const junk = (count: number, frame: (n: number) => Envelope): Step[] => inTurns(times(count, frame));

/** The first kind tests the default burst. The others test a smaller one, so as to take less time. */
const junkCases = JUNK.flatMap(([what, frame], nth): HostileCase[] => {
  const { perSecond } = JUNK_RATE;
  const burst = nth === 0 ? JUNK_RATE.burst : 400;
  const options = { limits: { junk: { burst, perSecond } } };
  return [
    { name: `The peer accepts ${burst} ${what}`, options, send: junk(burst, frame), expect: 'lives' },
    { name: `The peer ends the connection at ${burst + 1} ${what}`, options, send: junk(burst + 1, frame), expect: TOO_MUCH },
    {
      name: `The peer accepts ${perSecond} more ${what} each second, and ends the connection at one more`,
      options: { limits: { junk: { burst: 400, perSecond } } },
      send: [...junk(400, frame), 1_000, ...junk(perSecond, frame), 1_000, ...junk(perSecond, frame), isOpen, ...junk(1, frame)],
      expect: TOO_MUCH,
    },
  ];
});

const PONGS: readonly HostileCase[] = [
  {
    name: 'Only a pong with the same nonce answers a ping, and a second such pong is junk',
    options: { limits: { junk: { burst: 10, perSecond: 0 } } },
    send: () => {
      let progress = progressOf(Promise.resolve());
      return [
        (remote) => {
          progress = progressOf(remote.peer.ping());
        },
        ...times(10, (n) => ({ type: 'pong', nonce: `other-${n}` })),
        0,
        (remote) => {
          expect(progress.settled).toBe(false);
          remote.answerPing();
        },
        0,
        (remote) => {
          expect(progress).toEqual({ settled: true, error: null });
          isOpen(remote);
          remote.answerPing();
        },
      ];
    },
    expect: TOO_MUCH,
  },
];

/** How often each frame is sent to a peer that accepts no junk at all. */
const MANY = 300;
const NO_JUNK = { junk: { burst: 0, perSecond: 0 } };
const UNKNOWN = ['window_update', 'constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '', 'x'.repeat(1_000)];

const free = (frame: (n: number) => Envelope): Step[] => inTurns(times(MANY, frame));
const whole: Envelope = { payload: 'p', end: true };

const FREE: readonly HostileCase[] = [
  {
    name: 'The peer ignores any number of frames of unknown types',
    send: free((n) => ({ type: UNKNOWN[n % UNKNOWN.length], stream: n % 5, payload: SECRET, headers: { [SECRET]: 1 }, nonce: SECRET })),
    expect: 'lives',
  },
  {
    name: 'The peer drops any number of data frames of a stream that has ended',
    options: { onStream: () => undefined },
    send: [...opens(1, whole), 0, ...free(() => ({ type: 'data', stream: 3, payload: 'late' }))],
    expect: 'lives',
    sends: [{ type: 'data', stream: 3, end: true }],
    got: [['p', 'end']],
  },
  {
    name: 'The peer drops any number of data frames of a stream that it has reset',
    options: { onStream: (_, stream) => stream.reset(300, 'enough') },
    send: [...opens(1), ...free(() => ({ type: 'data', stream: 3, payload: 'late' }))],
    expect: 'lives',
    resets: [[3, 300]],
    handlerCalls: 1,
  },
  {
    name: 'The peer drops any number of data frames of a stream that the remote has reset',
    send: [
      ...opens(1),
      { type: 'reset', stream: 3, code: CANCEL },
      ...free(() => ({ type: 'data', stream: 3, payload: 'late', end: true })),
    ],
    expect: 'lives',
    got: [['p', 'RESET']],
  },
  {
    name: 'The peer drops any number of resets of a closed stream',
    send: [...opens(1), ...free(() => ({ type: 'reset', stream: 3, code: CANCEL }))],
    expect: 'lives',
    got: [['p', 'RESET']],
  },
  {
    name: 'The peer drops any number of data frames and resets of skipped ids',
    send: [
      { type: 'open', stream: idOf(MANY), payload: 'p' },
      ...free((n) => ({ type: n % 2 === 0 ? 'data' : 'reset', stream: idOf(n), payload: 'skipped' })),
    ],
    expect: 'lives',
    handlerCalls: 1,
  },
  {
    name: 'The peer drops any number of late slices of an open',
    send: ({ binary }) => [
      ...opens(1),
      { type: 'reset', stream: 3, code: CANCEL },
      ...free(() => ({ type: 'open', stream: 3, fragment: binary ? Uint8Array.of(0x90) : '[', more: true })),
    ],
    expect: 'lives',
    got: [['p', 'RESET']],
  },
  {
    name: 'The peer ignores any number of headers on later frames',
    send: [
      { type: 'open', stream: 3, payload: 'p', headers: { mine: 1 } },
      ...free(() => ({ type: 'data', stream: 3, headers: { [SECRET]: 1 } })),
      ({ calls: [call] }) => {
        if (JSON.stringify(call?.stream.headers) !== '{"mine":1}') throw new Error('expected the headers of the open');
      },
    ],
    expect: 'lives',
    handlerCalls: 1,
  },
  {
    name: 'The peer ignores any number of trailers without an end',
    send: [...opens(1), ...times(50, () => ({ type: 'data', stream: 3, payload: 1, trailers: { [SECRET]: 1 } }))],
    expect: 'lives',
    got: [['p', ...times(50, () => 1)]],
  },
  {
    name: 'The peer ignores any number of unknown keys',
    send: [...opens(1), ...times(50, (n) => ({ type: 'data', stream: 3, payload: n, [SECRET]: SECRET, constructor: 1 }))],
    expect: 'lives',
    got: [['p', ...times(50, (n) => n)]],
  },
];

const bad = (binary: boolean): unknown => (binary ? Uint8Array.of(0xc1) : '{');

/** Violations for which the peer resets a stream. */
const PROVOCATIONS: readonly (readonly [
  what: string,
  code: ResetCode,
  frames: (id: number, binary: boolean) => Envelope[],
  reaches: boolean,
])[] = [
  ['data after the end', STREAM_CLOSED, () => [whole, { payload: 'more' }], true],
  ['a second end', STREAM_CLOSED, () => [whole, { end: true }], true],
  ['`more` beside a payload', PROTOCOL_ERROR, () => [{}, { payload: 1, more: true }], true],
  ['`more` alone', PROTOCOL_ERROR, () => [{}, { more: true }], true],
  ['an end beside `more`', PROTOCOL_ERROR, (_, binary) => [{}, { fragment: unfinished(binary), more: true, end: true }], true],
  [
    'an open that goes on after its end',
    PROTOCOL_ERROR,
    (_, binary) => [{}, { type: 'open', fragment: unfinished(binary), more: true }],
    true,
  ],
  ['a payload between fragments', PROTOCOL_ERROR, (_, binary) => [{}, { fragment: unfinished(binary), more: true }, { payload: 1 }], true],
  [
    'data before the open is complete',
    PROTOCOL_ERROR,
    (_, binary) => [{ fragment: unfinished(binary), more: true }, { payload: 1 }],
    false,
  ],
  ['a fragment that does not decode', PROTOCOL_ERROR, (_, binary) => [{}, { fragment: bad(binary) }], true],
  ['an open that does not decode', PROTOCOL_ERROR, (_, binary) => [{ fragment: bad(binary) }], false],
];

const provoked = (count: number, from: number, frames: (n: number) => readonly Envelope[]): Step[] =>
  inTurns(times(count, (n) => frames(from + n)).flat());

const provocationCases = PROVOCATIONS.flatMap(([what, code, frames, reaches], nth): HostileCase[] => {
  const on = (binary: boolean) => (n: number) =>
    frames(idOf(n), binary).map((frame, nth) => ({ type: nth === 0 ? 'open' : 'data', stream: idOf(n), ...frame }));
  const common = (count: number) => ({
    resets: times(count, (n) => [idOf(n), code] as const),
    handlerCalls: reaches ? count : 0,
  });
  const { perSecond } = PROVOKED_RATE;
  const burst = nth === 0 ? PROVOKED_RATE.burst : 50;
  const options = { limits: { provokedResets: { burst, perSecond } } };
  return [
    {
      name: `The peer accepts ${what} ${burst} times`,
      options,
      send: ({ binary }) => provoked(burst, 0, on(binary)),
      expect: 'lives',
      ...common(burst),
    },
    {
      name: `The peer ends the connection when ${what} comes ${burst + 1} times`,
      options,
      send: ({ binary }) => provoked(burst + 1, 0, on(binary)),
      expect: TOO_MUCH,
      ...common(burst + 1),
    },
    {
      name: `The peer accepts ${what} once more each second, and ends the connection at one more`,
      options: { limits: { provokedResets: { burst: 20, perSecond } } },
      send: ({ binary }) => [...provoked(20, 0, on(binary)), 3_000, ...provoked(4, 20, on(binary))],
      expect: TOO_MUCH,
      ...common(24),
    },
  ];
});

const NEVER_OPENED: readonly HostileCase[] = [PROVOKED_RATE.burst, PROVOKED_RATE.burst + 1].map((count, nth) => ({
  name: `The peer answers ${count} data frames of never opened streams${nth === 0 ? '' : ', and then ends the connection'}`,
  send: inTurns(times(count, (n) => ({ type: 'data', stream: NEVER + 2 * n, payload: INNOCENT }))),
  expect: nth === 0 ? 'lives' : TOO_MUCH,
  resets: times(count, (n) => [NEVER + 2 * n, PROTOCOL_ERROR] as const),
}));

describeHostile('floods of junk', quietly([...junkCases, ...PONGS]));
describeHostile('frames that are not counted', quietly(FREE.map((each) => ({ ...each, options: { ...each.options, limits: NO_JUNK } }))));
describeHostile('provoked resets', quietly([...provocationCases, ...NEVER_OPENED]));
