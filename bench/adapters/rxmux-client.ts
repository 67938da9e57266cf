import { DEFAULT_LIMITS } from 'rxmux';
import type { Limits, Peer } from 'rxmux';
import { topic } from 'rxmux/topics';
import type { TopicItem } from 'rxmux/topics';
import type { Client, Needs } from '../harness/adapter.js';

/** Envelopes, quotes and the like, beside a payload. */
const AROUND = 1024;

/** A small request beside the large payload. The peer holds it with its envelope until its handler has settled. */
const SMALL = 256;
/** An upper bound of the memory of one decoded value, in bytes: what `maxHeldBytes` counts for a part of an object. */
const ITEM = 48;

/** A peer as a client of the benchmarks, in Node and in a page. */
export function clientOf(peer: Peer): Client {
  return {
    request: (payload, headers) => peer.request(payload, headers === undefined ? {} : { headers }),
    stream: (ask, sink) => {
      if (ask.by === 'topic') {
        topic(peer, () => peer.open$<TopicItem<unknown>>({ stream: ask }, { retry: 'safe' })).subscribe(sink);
        return;
      }
      if (ask.by !== 'notify') {
        peer.open$({ stream: ask }).subscribe(sink);
        return;
      }
      peer.onStream((value) => {
        sink.next(value);
      });
      peer.notify({ stream: ask });
    },
    close: () => peer.close().then(() => undefined),
  };
}

/** The limits that the needs of a workload exceed, raised to these needs. */
export function raised({ payloadBytes = 0, payloadItems = 0, streams = 0 }: Needs): Partial<Limits> {
  const bytes = payloadBytes + AROUND;
  const needed = {
    maxPayloadBytes: bytes,
    maxPayloadItems: payloadItems,
    maxHeldBytes: bytes + streams * SMALL + payloadItems * ITEM,
    maxUnreadBytes: bytes,
    maxUnsentBytes: bytes,
    maxStreams: streams,
  };
  const names = Object.keys(needed) as (keyof typeof needed)[];
  return Object.fromEntries(names.filter((name) => needed[name] > DEFAULT_LIMITS[name]).map((name) => [name, needed[name]]));
}
