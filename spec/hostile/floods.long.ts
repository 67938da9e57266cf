import { lastValueFrom, timer } from 'rxjs';
import { expect } from '@jest/globals';
import { DEFAULT_LIMITS, ResetCode } from '../../src/index.js';
import type { StreamHandler } from '../../src/index.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { idOf, inTurns, opens, quietly, times } from '../support/hostile/floods.js';
import { GOOD } from '../support/hostile/peer.js';

const { CANCEL, DEADLINE_EXCEEDED, REFUSED } = ResetCode;

const { maxStreams, reassemblyTimeoutMs, resets } = DEFAULT_LIMITS;

/** The innocent stream occupies one of the places. */
const FREE_PLACES = maxStreams - 1;
const A_TOKEN_MS = 1_000 / resets.perSecond;

const reset = (n: number): Step => ({ type: 'reset', stream: idOf(n), code: CANCEL });
const refused = (from: number, to: number): [number, ResetCode][] => times(to - from, (n) => [idOf(from + n), REFUSED]);

const openAndReset = (n: number): Step[] => [{ type: 'open', stream: idOf(n), payload: 'p' }, reset(n)];
/** Opens the first `count` streams and resets each at once. */
const opensAndResets = (count: number): Step[] => times(count, openAndReset).flat();

const WORK_MS = 1_000;
/** Runs for {@link WORK_MS}, even if its stream ends. */
const stubborn: StreamHandler = () => lastValueFrom(timer(WORK_MS));

const OPENS: readonly HostileCase[] = [
  {
    name: `The peer accepts ${maxStreams} concurrent streams`,
    send: [...inTurns(opens(FREE_PLACES)), ...times(FREE_PLACES, reset)],
    expect: 'lives',
    handlerCalls: FREE_PLACES,
  },
  {
    name: `The peer refuses one stream more than ${maxStreams}, and accepts streams again when one of them ends`,
    send: [...inTurns(opens(FREE_PLACES + 1)), reset(0)],
    expect: 'lives',
    handlerCalls: FREE_PLACES,
    resets: refused(FREE_PLACES, FREE_PLACES + 1),
  },
  {
    name: 'The peer refuses any number of opens over the limit and keeps the connection',
    role: 'acceptor',
    send: [...inTurns(opens(FREE_PLACES + 20_000)), reset(0)],
    expect: 'lives',
    handlerCalls: FREE_PLACES,
    resets: refused(FREE_PLACES, FREE_PLACES + 20_000),
  },
  {
    name: `Unfinished opens occupy places until ${reassemblyTimeoutMs} ms of silence`,
    send: (codec) => [
      ...inTurns(opens(FREE_PLACES + 1, { fragment: codec.binary ? Uint8Array.of(0xa9) : '"un', more: true })),
      reassemblyTimeoutMs - 1,
      ({ session }) => {
        expect(session.places).toBe(maxStreams);
      },
      1,
    ],
    expect: 'lives',
    resets: [...refused(FREE_PLACES, FREE_PLACES + 1), ...times(FREE_PLACES, (n) => [idOf(n), DEADLINE_EXCEEDED] as const)],
  },
  {
    name: 'The peer drops the later slices of a refused open',
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
    name: `The peer answers ${2 * maxStreams} consecutive requests`,
    send: inTurns(opens(2 * maxStreams, { payload: GOOD, end: true })),
    expect: 'lives',
    sends: times(2 * maxStreams, (n) => ({ type: 'data', stream: idOf(n), end: true, payload: GOOD })),
  },
];

const RAPID_RESETS: readonly HostileCase[] = [
  {
    name: `The peer runs at most ${maxStreams} handlers at once, even if they ignore resets`,
    options: { onStream: stubborn },
    send: [...inTurns(opensAndResets(2 * maxStreams)), WORK_MS],
    expect: 'lives',
    handlerCalls: FREE_PLACES,
    resets: refused(FREE_PLACES, 2 * maxStreams),
  },
  {
    name: 'A place is free again only when its handler has settled',
    options: { onStream: stubborn, limits: { maxStreams: 3 } },
    send: [...opensAndResets(3), WORK_MS - 1, ...openAndReset(3), 1, ...openAndReset(4), WORK_MS],
    expect: 'lives',
    handlerCalls: 3,
    resets: refused(2, 4),
  },
  {
    name: `The peer accepts ${resets.burst} resets of running handlers`,
    options: { onStream: stubborn, limits: { maxStreams: 5 * resets.burst } },
    send: [...inTurns(opensAndResets(resets.burst)), WORK_MS],
    expect: 'lives',
    handlerCalls: resets.burst,
  },
  {
    name: `The peer accepts one stream every ${A_TOKEN_MS} ms after a flood of resets, refuses the others and keeps the connection`,
    options: { onStream: stubborn, limits: { maxStreams: 5 * resets.burst } },
    send: [
      ...inTurns(opensAndResets(resets.burst + 1)),
      A_TOKEN_MS / 2,
      ...openAndReset(resets.burst + 1),
      A_TOKEN_MS / 2,
      ...[2, 3].flatMap((more) => openAndReset(resets.burst + more)),
      A_TOKEN_MS,
      ...[4, 5].flatMap((more) => openAndReset(resets.burst + more)),
      2 * WORK_MS,
    ],
    expect: 'lives',
    handlerCalls: resets.burst + 2,
    resets: [0, 1, 3, 5].flatMap((more) => refused(resets.burst + more, resets.burst + more + 1)),
  },
  {
    name: `The peer does not count ${2 * resets.burst} resets of streams whose handlers have settled`,
    options: { onStream: () => undefined },
    send: inTurns(opensAndResets(2 * resets.burst)),
    expect: 'lives',
    handlerCalls: 2 * resets.burst,
    sends: times(2 * resets.burst, (n) => ({ type: 'data', stream: idOf(n), end: true })),
  },
  {
    name: 'A stream ends once even if the remote resets it several times',
    send: [...opens(1), reset(0), reset(0), reset(0)],
    expect: 'lives',
    got: [['p', 'RESET']],
  },
];

describeHostile('floods of opens', quietly(OPENS));
describeHostile('floods of opens and resets', quietly(RAPID_RESETS));
