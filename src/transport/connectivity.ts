import { EMPTY, Observable } from 'rxjs';

/**
 * The events of a browser that concern a connection. The network is back (`online`). The page leaves or enters the back/forward cache
 * (`pageshow`, `pagehide`). A frozen page runs again (`resume`). The page becomes visible (`visibilitychange`).
 */
const EVENTS = ['online', 'pageshow', 'pagehide', 'resume', 'visibilitychange'] as const;

/** One of {@link EVENTS}. */
export type PageEvent = (typeof EVENTS)[number];

/** Reports of the platform about its network and its page. */
export interface Connectivity {
  /** Whether the platform says that there is no network. */
  readonly offline: boolean;
  readonly events$: Observable<PageEvent>;
}

/** For a platform without such reports, such as a server or a worker without events. */
export const ALWAYS_ONLINE: Connectivity = { offline: false, events$: EMPTY };

/** The part of a platform by which it is no page. */
interface Runtime {
  readonly process?: { readonly versions?: { readonly node?: unknown } };
}

/**
 * Whether this program is a page, a worker or a native app. Its user waits until it has found its server again. A program of Node, Deno or
 * Bun is none: its caller reads how it ended.
 */
export function isPage(): boolean {
  return typeof document !== 'undefined' || (globalThis as Runtime).process?.versions?.node === undefined;
}

/** Connectivity of the browser that runs this program, or {@link ALWAYS_ONLINE} on a platform without its events. */
export function browserConnectivity(): Connectivity {
  if (typeof addEventListener !== 'function' || typeof navigator === 'undefined') return ALWAYS_ONLINE;
  return {
    get offline() {
      return navigator.onLine === false;
    },
    events$: new Observable((subscriber) => {
      const left = new AbortController();
      for (const type of EVENTS)
        addEventListener(
          type,
          ({ persisted }: Event & { readonly persisted?: boolean }) => {
            // A page that loads or ends has a `pageshow` or a `pagehide` too, which is not `persisted`.
            if (persisted !== false && (type !== 'visibilitychange' || !document.hidden)) subscriber.next(type);
          },
          // Events of the document pass through the window while they are captured.
          { capture: true, signal: left.signal },
        );
      return () => {
        left.abort();
      };
    }),
  };
}
