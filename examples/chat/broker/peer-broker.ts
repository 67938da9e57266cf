// A log and a bus over one rxmux connection.
import { filter, map, type Observable, ReplaySubject, share, switchMap, take } from 'rxjs';
import { reopenOnReconnect } from 'rxmux';
import { client } from 'rxmux/contract';
import { connect } from 'rxmux/node';
import type { Log, Message, TopicItem } from 'rxmux/topics';
import type { Line } from '../api.js';
import { byKey } from '../by-key.js';
import { brokerApi } from './api.js';
import type { Broker } from './broker.js';

const SAFE = { retry: 'safe' } as const;

export function connectPeerBroker(url: string): Broker {
  const peer = connect(url, { reconnect: { maxAttempts: Infinity } });
  const calls = client(peer, brokerApi);
  const channels = byKey((channel): Observable<unknown> =>
    reopenOnReconnect(peer, { open: () => calls.hear({ channel }, SAFE) }).pipe(share()),
  );
  return {
    log: byKey((room): Log<Line> => {
      // All readers share one stream. It begins with its own place, and goes on after its last item on a new connection.
      const items$ = reopenOnReconnect(peer, {
        initial: null,
        open: (since: string | null) => calls.follow({ room, since }, SAFE),
        cursor: ({ cursor }) => cursor,
      }).pipe(share({ connector: () => new ReplaySubject(1) }));
      return {
        live$: items$.pipe(filter(hasLine)),
        // Both wait for the first item: all later lines are then on their way through `live$`.
        head: () =>
          items$.pipe(
            take(1),
            map(({ cursor }) => cursor),
          ),
        history: (since) =>
          items$.pipe(
            take(1),
            switchMap(() => calls.history({ room, since }, SAFE)),
          ),
        publish: (line, { key } = {}) => calls.publish.promise({ room, line, key }, SAFE),
        newer: (a, b) => placeOf(a) > placeOf(b),
      };
    }),
    bus: {
      on: <T>(channel: string) => channels(channel) as Observable<T>,
      send: (channel, value) => calls.send.promise({ channel, value }, SAFE),
    },
  };
}

function hasLine(item: TopicItem<Line>): item is Message<Line, string> {
  return item.value !== undefined;
}

/** The number in a cursor such as `k3f:12`. */
function placeOf(cursor: string): number {
  return Number(cursor.split(':')[1]);
}
