import { expect } from '@jest/globals';
import { ResetCode } from '../../../src/index.js';
import type { Codec, Limits } from '../../../src/index.js';
import type { Message } from '../../../src/wire/codec.js';
import type { Envelope } from '../peer/frames.js';
import { TOO_MUCH } from './case.js';
import type { HostileCase, Step } from './case.js';
import { SECRET } from './peer.js';
import type { HostilePeer, Reading } from './peer.js';

// Frames that the remote sends

export const open = (stream: number, more: Envelope = {}): Envelope => ({ type: 'open', stream, payload: SECRET, ...more });
export const data = (stream: number, more: Envelope = {}): Envelope => ({ type: 'data', stream, payload: SECRET, ...more });
export const reset = (stream: number, code: number = ResetCode.CANCEL): Envelope => ({ type: 'reset', stream, code });

/** Leaves the payload out of an {@link open} or {@link data}. */
export const NONE: Envelope = { payload: undefined };

/** Replaces the payload by a slice of one; `more` says whether another follows. */
export const slice = (fragment: string, more: boolean): Envelope => ({ payload: undefined, fragment, more });

/** Slices as frames. All have `more` except the last one, which has it only if `unfinished`. */
export const framed = (fragments: readonly Message[], frame: (fields: Envelope) => Envelope, unfinished = false): Envelope[] =>
  fragments.map((fragment, nth) => frame({ ...NONE, fragment, more: unfinished || nth < fragments.length - 1 }));

/** The steps. Under a binary codec their fragments are bytes, as a real sender writes them. */
export const inKind =
  (steps: readonly Step[]) =>
  ({ binary }: Codec): readonly Step[] =>
    binary ? steps.map(asBytes) : steps;

function asBytes(step: Step): Step {
  if (typeof step !== 'object' || step instanceof ArrayBuffer || typeof step['fragment'] !== 'string') return step;
  return { ...step, fragment: new TextEncoder().encode(step['fragment']) };
}

// Actions of the peer

export const firstCall = ({ calls: [call] }: HostilePeer): Reading => present(call, 'a call of the handler');
export const firstOpened = ({ opened: [mine] }: HostilePeer): Reading => present(mine, 'a stream that the peer opened');

/** The peer opens a stream, which is {@link MINE} when it is the first. */
export const opens: Step = (remote) => {
  remote.open();
};
export const MINE: Envelope = { type: 'open', stream: 4, payload: 'mine' };

/** The peer ends its side of the first stream that its handler got. */
export const ends: Step = (remote) => firstCall(remote).stream.end();
/** The peer resets the first stream that its handler got. */
export const resets: Step = (remote) => {
  firstCall(remote).stream.reset(ResetCode.CANCEL);
};

/** The remote answers the last ping, and so has read everything before it. Bulk of the peer goes on. */
export const answersPing: Step = (remote) => {
  remote.answerPing();
};

/** The session holds at least `bytes`, and at most its limit. */
export const holds =
  (least: number): Step =>
  ({ session }) => {
    expect(session.budget.held.used).toBeGreaterThanOrEqual(least);
    expect(session.budget.held.used).toBeLessThanOrEqual(session.limits.maxHeldBytes);
  };

/** The peer has not closed the socket. */
export const isOpen = ({ socket }: HostilePeer): void => {
  expect(socket.closes).toEqual([]);
};

/** The session holds no received bytes. */
export const holdsNothing: Step = ({ session }) => {
  expect(session.budget.held.used).toBe(0);
};

export const limited = (limits: Partial<Limits>) => ({ options: { limits } });

const NO_TOKENS = { burst: 0, perSecond: 0 };

/** Options under which a single junk frame, or a single provoked reset, ends the connection. */
export const NOTHING_SPARE = { limits: { junk: NO_TOKENS, provokedResets: NO_TOKENS } };

/** One row of PROTOCOL.md, "Frames that do not fit". The last frame is the misfit. */
export interface Row extends Omit<HostileCase, 'send' | 'expect' | 'options'> {
  readonly send: readonly Step[];
  /** Whether the last frame counts as junk, or as a provoked reset. Without this it costs nothing. */
  readonly counts?: 'as junk' | 'as a provoked reset';
}

/**
 * The cases of the rows. A row that counts becomes two cases: the connection lives with default limits, and ends with
 * {@link NOTHING_SPARE}. Any other row lives with {@link NOTHING_SPARE}.
 */
export const counted = (rows: readonly Row[], asSent: (steps: readonly Step[]) => HostileCase['send'] = inKind): HostileCase[] =>
  rows.flatMap(({ counts, send, ...row }): HostileCase[] => {
    const steps = asSent(send);
    if (counts === undefined) return [{ ...row, send: steps, expect: 'lives', options: NOTHING_SPARE }];
    const resets = counts === 'as junk' ? [] : (row.resets ?? []);
    return [
      { ...row, send: steps, expect: 'lives' },
      { ...row, resets, name: `${row.name}, which counts ${counts}`, send: steps, expect: TOO_MUCH, options: NOTHING_SPARE },
    ];
  });

function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`expected ${what}, got none`);
  return value;
}
