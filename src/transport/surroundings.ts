import { EMPTY, filter, fromEvent, map, merge } from 'rxjs';
import type { Observable } from 'rxjs';

/** What woke: the network came back, or the page became visible. */
export type Wake = 'network' | 'page';

/** What a platform tells of its network and its page. */
export interface Surroundings {
  /** Whether it says that there is no network. */
  readonly offline: boolean;
  readonly wakes$: Observable<Wake>;
}

/** A platform that tells nothing: a server, a worker without events. */
export const STEADY: Surroundings = { offline: false, wakes$: EMPTY };

/** The browser around this program, or {@link STEADY} where there is none. */
export function browserSurroundings(): Surroundings {
  if (typeof addEventListener !== 'function' || typeof navigator === 'undefined') return STEADY;
  return {
    get offline() {
      return navigator.onLine === false;
    },
    wakes$: merge(
      fromEvent(globalThis, 'online').pipe(map(() => 'network' as const)),
      typeof document === 'undefined'
        ? EMPTY
        : fromEvent(document, 'visibilitychange').pipe(
            filter(() => document.visibilityState === 'visible'),
            map(() => 'page' as const),
          ),
    ),
  };
}
