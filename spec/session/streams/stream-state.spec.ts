import { describe, expect, it } from '@jest/globals';
import { TABLE } from '../../../src/stream/state.js';
import type { StateName, StreamInput, StreamPhase } from '../../../src/stream/state.js';
import { StreamCore } from '../../../src/stream/stream-core.js';
import { ABSENT } from '../../../src/wire/frame.js';
import { scriptedOwner } from '../../support/session/rig.js';

// A dash marks an input that breaks the protocol.
const PICTURE = `
state                   phase             leave          sendOpen          recvOpen    recvData         seal                    sendEnd               recvEnd                 sendReset  recvReset  close
queued                  idle              leaving        -                 -           -                queuedSealed            -                     -                       withdrawn  withdrawn  withdrawn
queuedSealed            idle              leavingSealed  -                 -           -                -                       -                     -                       withdrawn  withdrawn  withdrawn
leaving                 idle              -              unanswered        -           -                leavingSealed           -                     -                       closed     closed     closed
leavingSealed           idle              -              unansweredSealed  -           -                -                       -                     -                       closed     closed     closed
arriving                idle              -              -                 open        -                arrivingSealed          -                     -                       closed     closed     closed
arrivingSealed          idle              -              -                 openSealed  -                -                       -                     -                       closed     closed     closed
unanswered              open              -              -                 -           open             unansweredSealed        -                     halfClosedRemote        closed     closed     closed
unansweredSealed        open              -              -                 -           openSealed       -                       halfClosedUnanswered  halfClosedRemoteSealed  closed     closed     closed
open                    open              -              -                 -           open             openSealed              -                     halfClosedRemote        closed     closed     closed
openSealed              open              -              -                 -           openSealed       -                       halfClosedLocal       halfClosedRemoteSealed  closed     closed     closed
halfClosedUnanswered    halfClosedLocal   -              -                 -           halfClosedLocal  -                       -                     closed                  closed     closed     closed
halfClosedLocal         halfClosedLocal   -              -                 -           halfClosedLocal  -                       -                     closed                  closed     closed     closed
halfClosedRemote        halfClosedRemote  -              -                 -           -                halfClosedRemoteSealed  -                     -                       closed     closed     closed
halfClosedRemoteSealed  halfClosedRemote  -              -                 -           -                -                       closed                -                       closed     closed     closed
withdrawn               closed            -              -                 -           -                -                       -                     -                       -          -          -
closed                  closed            -              -                 -           -                -                       -                     -                       -          -          -
`;

const [[, , ...INPUTS] = [], ...ROWS] = PICTURE.trim()
  .split('\n')
  .map((line) => line.trim().split(/ +/));

const CELLS = ROWS.flatMap(([state, phase, ...nexts]) =>
  INPUTS.map((input, at) => [state as StateName, input as StreamInput, nexts[at] as StateName | '-', phase as StreamPhase] as const),
);

/** The side that opens the stream, and the inputs that bring it to a state. */
const WAYS: Readonly<Record<StateName, readonly ['this side' | 'the remote', ...StreamInput[]]>> = {
  queued: ['this side'],
  queuedSealed: ['this side', 'seal'],
  leaving: ['this side', 'leave'],
  leavingSealed: ['this side', 'leave', 'seal'],
  arriving: ['the remote'],
  arrivingSealed: ['the remote', 'seal'],
  unanswered: ['this side', 'leave', 'sendOpen'],
  unansweredSealed: ['this side', 'leave', 'sendOpen', 'seal'],
  open: ['the remote', 'recvOpen'],
  openSealed: ['the remote', 'recvOpen', 'seal'],
  halfClosedUnanswered: ['this side', 'leave', 'sendOpen', 'seal', 'sendEnd'],
  halfClosedLocal: ['the remote', 'recvOpen', 'seal', 'sendEnd'],
  halfClosedRemote: ['the remote', 'recvOpen', 'recvEnd'],
  halfClosedRemoteSealed: ['the remote', 'recvOpen', 'recvEnd', 'seal'],
  withdrawn: ['this side', 'sendReset'],
  closed: ['the remote', 'sendReset'],
};

const UNSENT: readonly StateName[] = ['queued', 'queuedSealed', 'withdrawn'];
const HEADERS_DUE: readonly StateName[] = ['unanswered', 'unansweredSealed', 'halfClosedUnanswered'];
const SEALED: readonly StateName[] = [
  'queuedSealed',
  'leavingSealed',
  'arrivingSealed',
  'unansweredSealed',
  'openSealed',
  'halfClosedUnanswered',
  'halfClosedLocal',
  'halfClosedRemoteSealed',
  'withdrawn',
  'closed',
];

function stateIn(name: StateName): StreamCore {
  const [opener, ...inputs] = WAYS[name];
  const state = new StreamCore(scriptedOwner(), opener === 'this side', false, null, ABSENT);
  for (const input of inputs) expect(state.advance(input)).toBe(true);
  return state;
}

function isDue(name: StateName): boolean {
  const row = TABLE[name];
  return 'headersDue' in row && row.headersDue;
}

describe('TABLE', () => {
  it('`TABLE` has a cell for each of 16 states and 10 inputs', () => {
    expect(ROWS.map(([state]) => state)).toEqual(Object.keys(TABLE));
    expect(new Set(CELLS.map(([state, input]) => `${state} ${input}`)).size).toBe(160);
  });

  it.each(CELLS)('`TABLE` leads from %s by %s to %s', (state, input, next) => {
    const leads: Partial<Record<StreamInput, StateName>> = TABLE[state].leads;
    expect(leads[input]).toBe(next === '-' ? undefined : next);
  });
});

describe('the state of a stream', () => {
  it.each(Object.keys(WAYS) as StateName[])('A stream shows the facts of the state %s', (name) => {
    const { phase, isClosed, sealed, unsent } = stateIn(name);
    expect(phase).toBe(TABLE[name].phase);
    expect(isClosed).toBe(phase === 'closed');
    expect([sealed, unsent, isDue(name)]).toEqual([SEALED, UNSENT, HEADERS_DUE].map((names) => names.includes(name)));
  });

  it.each(CELLS)('A stream moves from %s by %s to %s, and stays unchanged for a dash', (name, input, next, phase) => {
    const state = stateIn(name);
    const isAllowed = next !== '-';
    expect(state.phase).toBe(phase);
    expect(state.accepts(input)).toBe(isAllowed);
    expect(state.advance(input)).toBe(isAllowed);
    const { sealed, unsent } = state;
    const after = isAllowed ? next : name;
    expect(state.phase).toBe(TABLE[after].phase);
    expect([sealed, unsent, isDue(after)]).toEqual([SEALED, UNSENT, HEADERS_DUE].map((names) => names.includes(after)));
  });
});
