import { defer, takeWhile, timeout } from 'rxjs';
import type { Observable } from 'rxjs';
import { LONGEST_TIMER_MS } from '../../wire/longest-timer.js';
import type { Attempt, DialContext } from './attempt.js';
import { observableOf } from '../base/guard.js';

/** Calls a function of the user's for a dial, and emits its result. Emits nothing if the function has closed the peer. */
export function callPerDial<T>(make: (context: DialContext) => T | Promise<T>, attempt: Attempt): Observable<T> {
  return defer(() => observableOf(make(attempt))).pipe(takeWhile(() => !attempt.givenUp));
}

/** Errors with a TimeoutError if `source` emits nothing within `ms`. 0, and times that no timer can count, set no limit. */
export function withTimeout<T>(source: Observable<T>, ms: number): Observable<T> {
  return ms > 0 && ms <= LONGEST_TIMER_MS ? source.pipe(timeout({ first: ms })) : source;
}
