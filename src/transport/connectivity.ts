import { EMPTY, filter, fromEvent, map, merge } from 'rxjs';
import type { Observable } from 'rxjs';

/** What makes a connection worth a look: the network came back, or the page became visible. */
export type Resume = 'network' | 'page';

/** What a platform tells of its network and its page. */
export interface Connectivity {
  /** Whether it says that there is no network. */
  readonly offline: boolean;
  readonly resumes$: Observable<Resume>;
}

/** A platform that tells nothing: a server, a worker without events. */
export const ALWAYS_ONLINE: Connectivity = { offline: false, resumes$: EMPTY };

/** The browser around this program, or {@link ALWAYS_ONLINE} where there is none. */
export function browserConnectivity(): Connectivity {
  if (typeof addEventListener !== 'function' || typeof navigator === 'undefined') return ALWAYS_ONLINE;
  return {
    get offline() {
      return navigator.onLine === false;
    },
    resumes$: merge(
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
