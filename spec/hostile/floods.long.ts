import { lastValueFrom, timer } from 'rxjs';
import { ResetCode } from '../../src/index.js';
import type { StreamHandler } from '../../src/index.js';
import { describeHostile } from '../support/hostile-case.js';
import type { HostileCase, Step } from '../support/hostile-case.js';
import { idOf, inTurns, opens, quietly, times } from '../support/hostile-floods.js';
import { GOOD } from '../support/hostile-peer.js';

const { CANCEL, DEADLINE_EXCEEDED, REFUSED } = ResetCode;

/** Of the thousand places one is the innocent stream's. */
const FREE_PLACES = 999;

const reset = (n: number): Step => ({ type: 'reset', stream: idOf(n), code: CANCEL });
const refused = (from: number, to: number): [number, ResetCode][] => times(to - from, (n) => [idOf(from + n), REFUSED]);

/** Opens and resets at once, so many times. */
const opensAndResets = (count: number): Step[] => opens(count).flatMap((open, n) => [open, reset(n)]);

/** Works for a second, whatever becomes of its stream. */
const stubborn: StreamHandler = () => lastValueFrom(timer(1_000));

const OPENS: readonly HostileCase[] = [
  {
    name: 'a thousand streams at a time are all taken',
    send: [...inTurns(opens(FREE_PLACES)), ...times(FREE_PLACES, reset)],
    expect: 'lives',
    handlerCalls: FREE_PLACES,
  },
  {
    name: 'one more than a thousand is refused, and its handler not called; there is room again when one of them ends',
    send: [...inTurns(opens(FREE_PLACES + 1)), reset(0)],
    expect: 'lives',
    handlerCalls: FREE_PLACES,
    resets: refused(FREE_PLACES, FREE_PLACES + 1),
  },
  {
    name: 'opens over the limit are put up with, each refused, however many they are',
    role: 'acceptor',
    send: [...inTurns(opens(FREE_PLACES + 20_000)), reset(0)],
    expect: 'lives',
    handlerCalls: FREE_PLACES,
    resets: refused(FREE_PLACES, FREE_PLACES + 20_000),
  },
  {
    name: 'opens that are never whole take places too, for 30 s of silence',
    send: (codec) => [
      ...inTurns(opens(FREE_PLACES + 1, { fragment: codec.binary ? Uint8Array.of(0xa9) : '"un', more: true })),
      29_999,
      (remote) => {
        if (remote.session.streams.occupied < FREE_PLACES) throw new Error('expected the places to be taken for 30 s');
      },
      1,
    ],
    expect: 'lives',
    resets: [...refused(FREE_PLACES, FREE_PLACES + 1), ...times(FREE_PLACES, (n) => [idOf(n), DEADLINE_EXCEEDED] as const)],
  },
  {
    name: 'the other slices of an open that was refused are late, and dropped',
    options: { limits: { maxStreams: 2 } },
    send: ({ binary }) => [
      ...opens(1),
      ...times(20, () => ({ type: 'open', stream: idOf(1), fragment: binary ? Uint8Array.of(0x90) : '[', more: true })),
      { type: 'open', stream: idOf(1), fragment: binary ? Uint8Array.of(0x90) : '[]' },
      reset(0),
    ],
    expect: 'lives',
    handlerCalls: 1,
    resets: refused(1, 2),
  },
  {
    name: '2 000 requests one after the other are all answered',
    send: inTurns(opens(2_000, { payload: GOOD, end: true })),
    expect: 'lives',
    sends: times(2_000, (n) => ({ type: 'data', stream: idOf(n), end: true, payload: GOOD })),
  },
];

const RAPID_RESETS: readonly HostileCase[] = [
  {
    name: 'no more than a thousand handlers run at once, whatever they make of the reset',
    options: { onStream: stubborn },
    send: [...inTurns(opensAndResets(2_000)), 1_000],
    expect: 'lives',
    handlerCalls: FREE_PLACES,
    resets: refused(FREE_PLACES, 2_000),
  },
  {
    name: 'places come back when the handlers have settled, not before',
    options: { onStream: stubborn, limits: { maxStreams: 3 } },
    send: [...opensAndResets(3), 999, { type: 'open', stream: idOf(3) }, reset(3), 1, { type: 'open', stream: idOf(4) }, reset(4), 1_000],
    expect: 'lives',
    handlerCalls: 3,
    resets: refused(2, 4),
  },
  {
    name: 'a thousand resets of running handlers are put up with',
    options: { onStream: stubborn, limits: { maxStreams: 5_000 } },
    send: [...inTurns(opensAndResets(1_000)), 1_000],
    expect: 'lives',
    handlerCalls: 1_000,
  },
  {
    name: 'after them a new stream every 10 ms is taken, and the others refused: a page that drops everything is slowed, not cut off',
    options: { onStream: stubborn, limits: { maxStreams: 5_000 } },
    send: [
      ...inTurns(opensAndResets(1_001)),
      10,
      ...[1_001, 1_002].flatMap((n) => [{ type: 'open', stream: idOf(n) }, reset(n)]),
      10,
      ...[1_003, 1_004].flatMap((n) => [{ type: 'open', stream: idOf(n) }, reset(n)]),
      2_000,
    ],
    expect: 'lives',
    handlerCalls: 1_002,
    resets: [...refused(1_000, 1_001), ...refused(1_002, 1_003), ...refused(1_004, 1_005)],
  },
  {
    name: '2 000 resets after handlers that have settled cost nothing',
    options: { onStream: () => undefined },
    send: inTurns(opensAndResets(2_000)),
    expect: 'lives',
    handlerCalls: 2_000,
    sends: times(2_000, (n) => ({ type: 'data', stream: idOf(n), end: true })),
  },
  {
    name: 'a stream that is reset twice ends once',
    send: [...opens(1), reset(0), reset(0), reset(0)],
    expect: 'lives',
    got: [['p', 'RESET']],
  },
];

describeHostile('a flood of opens', quietly(OPENS));
describeHostile('a flood of opens and resets', quietly(RAPID_RESETS));
