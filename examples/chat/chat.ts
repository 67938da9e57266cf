// The client: a page and a program have it alike.
import { concatMap, EMPTY, type Observable, of, retry, throwError } from 'rxjs';
import { isMuxError, type Peer, reopenOnReconnect } from 'rxmux';
import { client } from 'rxmux/contract';
import { topic } from 'rxmux/topics';
import { api, type Line, type Present, type Room } from './api.js';

const SAFE = { retry: 'safe' } as const;

/** One room for one member. Its Observables outlive connections and servers. */
export interface Chat {
  /** Every kept line and every new one, each once and in order. */
  readonly line$: Observable<Line>;
  /** The member is in the room as long as this has a subscriber. */
  readonly present$: Observable<Present>;
  /** Says texts in order, each once. */
  readonly say: (text$: Observable<string>) => Observable<unknown>;
}

export function enter(peer: Peer, room: Room, name: string): Chat {
  const calls = client(peer, api);
  return {
    line$: topic(peer, (since: string | null) => calls.lines({ room, since }, SAFE), { onLost: () => EMPTY }),
    present$: reopenOnReconnect(peer, { open: () => calls.join({ room, name }, SAFE) }),
    say: (text$) => {
      const writer = crypto.randomUUID();
      return text$.pipe(
        concatMap((text, index) =>
          calls.say({ room, line: { writer, nth: index + 1, name, text } }, SAFE).pipe(retry({ delay: sayAgain })),
        ),
      );
    },
  };
}

/** A server that was killed may have published the line. The next one publishes it again under the same key, so it counts once. */
function sayAgain(error: unknown): Observable<unknown> {
  return isMuxError(error) && error.code === 'CONNECTION_LOST' ? of(null) : throwError(() => error);
}
