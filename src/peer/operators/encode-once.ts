import { map } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import { SharedPayload } from '../../stream/shared-payload.js';

/**
 * Makes each value a {@link SharedPayload}: many streams that answer with one hot source then encode each value once. Place it before the
 * source is shared.
 *
 * @example
 * ```ts
 * const price$ = feed$.pipe(encodeOnce(), share());
 * server.peers$.pipe(mergeMap(({ streams$ }) => streams$.pipe(respond(() => price$)))).subscribe();
 * // 300 subscribers: one JSON.stringify for each price
 * ```
 */
export function encodeOnce<T>(): OperatorFunction<T, SharedPayload<T>> {
  return map((value) => new SharedPayload(value));
}
