import { TestScheduler } from 'rxjs/testing';
import type { MarbleRow } from './recorded.js';

/** From when to when, in ms. Infinity where it does not end. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One moment of a lane: the letters of its values, and how the lane ends there. */
export interface Moment {
  readonly at: number;
  readonly letters: readonly string[];
  readonly end: 'complete' | 'error' | 'left' | null;
}

/** A row of marbles on the time line of its test. */
export interface Lane {
  /** From when to when values can come. */
  readonly lives: readonly Span[];
  readonly moments: readonly Moment[];
  /** The checked subscriptions of a source; null where the test checks none. */
  readonly subscriptions: readonly Span[] | null;
}

const spanOf = (marbles: string): Span => {
  const { subscribedFrame, unsubscribedFrame } = TestScheduler.parseMarblesAsSubscriptions(marbles, true);
  return { from: subscribedFrame, to: unsubscribedFrame };
};

/** The moments of a row that begins at a time. */
function momentsOf(marbles: string, from: number): Moment[] {
  const byTime = new Map<number, Moment>();
  for (const { frame, notification } of TestScheduler.parseMarbles(marbles, undefined, undefined, false, true)) {
    const at = from + frame;
    const { letters, end } = byTime.get(at) ?? { letters: [], end: null };
    if (notification.kind === 'N') byTime.set(at, { at, letters: [...letters, String(notification.value)], end });
    else byTime.set(at, { at, letters, end: notification.kind === 'C' ? 'complete' : 'error' });
  }
  return [...byTime.values()];
}

const endOf = (moments: readonly Moment[]): number => moments.find(({ end }) => end !== null)?.at ?? Infinity;

/**
 * One run of a row: a hot row runs once, and a cold row runs for each subscription.
 * `isTaken` says whether the value at the moment of the unsubscription still reached its subscriber.
 */
function runOf(marbles: string, from: number, to: number, isTaken = true): { readonly life: Span; readonly moments: readonly Moment[] } {
  const moments = momentsOf(marbles, from).filter(({ at, end }) => at < to || (at === to && (isTaken || end !== null)));
  return { life: { from, to: Math.min(to, endOf(moments)) }, moments };
}

/** An expected row, which a subscriber may leave early. */
function expectedLane({ marbles, unsub }: MarbleRow): Lane {
  const { from, to } = unsub === undefined ? { from: 0, to: Infinity } : spanOf(unsub);
  const { life, moments } = runOf(marbles, 0, Infinity);
  const begins = Number.isFinite(from) ? from : 0;
  const left: Moment[] = to < life.to ? [{ at: to, letters: [], end: 'left' }] : [];
  return { lives: [{ from: begins, to: Math.min(to, life.to) }], moments: joined([...moments, ...left]), subscriptions: null };
}

/** Joins what happens at one moment. */
function joined(moments: readonly Moment[]): Moment[] {
  const byTime = new Map<number, Moment>();
  for (const { at, letters, end } of moments) {
    const before = byTime.get(at);
    byTime.set(at, { at, letters: [...(before?.letters ?? []), ...letters], end: end ?? before?.end ?? null });
  }
  return [...byTime.values()].sort((one, other) => one.at - other.at);
}

/** Turns a row of a test into a lane. A cold source begins with each of its subscriptions. */
export function laneOf(row: MarbleRow, isTaken: boolean): Lane {
  if (row.kind === 'expected') return expectedLane(row);
  const subscriptions = row.subscriptions?.map(spanOf) ?? null;
  const runs =
    row.kind === 'hot' || subscriptions === null
      ? [runOf(row.marbles, 0, Infinity)]
      : subscriptions.map(({ from, to }) => runOf(row.marbles, from, to, isTaken));
  return { lives: runs.map(({ life }) => life), moments: joined(runs.flatMap(({ moments }) => moments)), subscriptions };
}
