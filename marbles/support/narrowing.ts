import { expect, it } from '@jest/globals';
import type { OperatorFunction } from 'rxjs';
import { ResetCode } from '../../src/index.js';
import type { Frame, FrameDirection } from '../../src/index.js';
import { marbles } from './virtual.js';

/** An event of `frames$` without the peer, which no narrowing operator reads. */
export interface Event {
  readonly direction: FrameDirection;
  readonly frame: Frame;
}

const event = (direction: FrameDirection, frame: Frame): Event => ({ direction, frame });

/** Letters for events: small ones for stream 1, capital ones for stream 3. */
export const EVENTS: Readonly<Record<string, Event>> = {
  o: event('tx', { type: 'open', stream: 1 }),
  d: event('rx', { type: 'data', stream: 1, payload: 'd' }),
  e: event('rx', { type: 'data', stream: 1, end: true }),
  r: event('tx', { type: 'reset', stream: 1, code: ResetCode.CANCEL }),
  O: event('tx', { type: 'open', stream: 3 }),
  D: event('rx', { type: 'data', stream: 3, payload: 'D' }),
  p: event('tx', { type: 'ping', nonce: 'n' }),
  q: event('rx', { type: 'pong', nonce: 'n' }),
};

/** One diagram of a narrowing operator. */
export interface NarrowingRow {
  readonly does: string;
  readonly events: string;
  readonly subs: string;
  readonly expected: string;
  readonly unsub?: string;
}

/** Runs each row as a test. */
export function narrows(name: string, operator: OperatorFunction<Event, Event>, rows: readonly NarrowingRow[]): void {
  it.each(rows)(
    `\`${name}\` $does`,
    marbles<[NarrowingRow]>(({ hot, expectObservable, expectSubscriptions }, { events, subs, expected, unsub }) => {
      const events$ = hot(events, EVENTS);
      expectObservable(events$.pipe(operator), unsub).toBe(expected, EVENTS);
      expectSubscriptions(events$.subscriptions).toBe(subs);
    }),
  );
  it(
    `\`${name}\` passes on the same events`,
    marbles(({ cold, flush }) => {
      const seen: Event[] = [];
      cold('(oderODpq)', EVENTS)
        .pipe(operator)
        .subscribe((passed) => seen.push(passed));
      flush();
      for (const passed of seen) expect(Object.values(EVENTS)).toContain(passed);
      expect(seen).not.toHaveLength(0);
    }),
  );
}
