import { EMPTY, Observable } from 'rxjs';
import { eventsOf } from './transport.js';

/** A reason to check a connection now: the network came back, or the page became visible. */
export type Resume = 'network' | 'page';

/** Reports of the platform about its network and its page. */
export interface Connectivity {
  /** Whether the platform says that there is no network. */
  readonly offline: boolean;
  readonly resumes$: Observable<Resume>;
}

/** For a platform without such reports, such as a server or a worker without events. */
export const ALWAYS_ONLINE: Connectivity = { offline: false, resumes$: EMPTY };

/** Connectivity of the browser that runs this program, or {@link ALWAYS_ONLINE} outside of browsers. */
export function browserConnectivity(): Connectivity {
  if (typeof addEventListener !== 'function' || typeof navigator === 'undefined') return ALWAYS_ONLINE;
  return {
    get offline() {
      return navigator.onLine === false;
    },
    resumes$: new Observable((subscriber) => {
      subscriber.add(
        eventsOf(globalThis, 'online').subscribe(() => {
          subscriber.next('network');
        }),
      );
      if (typeof document === 'undefined') return;
      subscriber.add(
        eventsOf(document, 'visibilitychange').subscribe(() => {
          if (document.visibilityState === 'visible') subscriber.next('page');
        }),
      );
    }),
  };
}
