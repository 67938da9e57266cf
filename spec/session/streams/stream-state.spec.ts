import { describe, expect, it } from '@jest/globals';
import { ENDED } from '../../../src/session/base/close-cause.js';
import { StreamState, TRANSITIONS } from '../../../src/session/streams/stream-state.js';
import type { StreamInput, StreamPhase } from '../../../src/session/streams/stream-state.js';

// A dash marks an input that breaks the protocol.
const TABLE = `
                  sendOpen  recvOpen  sendData          recvData         sendEnd          recvEnd           sendReset  recvReset  lose
idle              open      open      -                 -                -                -                 closed     closed     closed
open              -         -         open              open             halfClosedLocal  halfClosedRemote  closed     closed     closed
halfClosedLocal   -         -         -                 halfClosedLocal  -                closed            closed     closed     closed
halfClosedRemote  -         -         halfClosedRemote  -                closed           -                 closed     closed     closed
closed            -         -         -                 -                -                -                 -          -          -
`;

const [INPUTS = [], ...ROWS] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/ +/));

const CELLS = ROWS.flatMap(([phase, ...nexts]) =>
  INPUTS.map((input, at) => [phase as StreamPhase, input as StreamInput, nexts[at] as StreamPhase | '-'] as const),
);

/** Inputs that bring a new stream to a phase. */
const WAYS: Readonly<Record<StreamPhase, readonly StreamInput[]>> = {
  idle: [],
  open: ['sendOpen'],
  halfClosedLocal: ['sendOpen', 'sendEnd'],
  halfClosedRemote: ['recvOpen', 'recvEnd'],
  closed: ['sendOpen', 'sendReset'],
};

describe('TRANSITIONS', () => {
  it('`TRANSITIONS` has a cell for each of 5 phases and 9 inputs', () => {
    expect(CELLS).toHaveLength(45);
    expect(new Set(CELLS.map(([phase, input]) => `${phase} ${input}`)).size).toBe(45);
  });

  it.each(CELLS)('`TRANSITIONS` leads from %s by %s to %s', (phase, input, next) => {
    expect(TRANSITIONS[phase][input]).toBe(next === '-' ? undefined : next);
  });
});

describe('StreamState', () => {
  it.each(CELLS)('StreamState moves from %s by %s to %s, and stays unchanged for a dash', (phase, input, next) => {
    const state = new StreamState();
    for (const way of WAYS[phase]) state.advance(way);
    expect(state.phase).toBe(phase);
    expect(state.closesWith(input)).toBe(next === 'closed');
    expect(state.advance(input)).toBe(next !== '-');
    expect(state.phase).toBe(next === '-' ? phase : next);
    expect(state.closed).toBe(state.phase === 'closed');
  });

  it('StreamState keeps the cause of its last `close`', () => {
    const state = new StreamState();
    const cause = { how: 'reset', by: 'remote', code: 8, reason: '', payload: null } as const;
    state.advance('recvOpen');
    state.close('recvReset', cause);
    expect([state.phase, state.cause]).toEqual(['closed', cause]);
    state.close('lose', ENDED);
    expect([state.phase, state.cause]).toEqual(['closed', ENDED]);
  });
});
