import type { PeerCore } from './core.js';

/** Frames and their bytes. */
export interface Traffic {
  /** How many frames. */
  readonly frames: number;
  /** Their bytes. */
  readonly bytes: number;
}

/** How much of a limit is used. */
export interface Usage {
  /** How much is in use now. */
  readonly used: number;
  /** The limit. */
  readonly max: number;
}

/** Streams of a peer or a server. */
export interface StreamCounts {
  /** Live streams of both sides. */
  readonly open: number;
  /** Places of `maxStreams` that are taken. */
  readonly remote: number;
  /** Streams of this side that wait for a connection. */
  readonly waiting: number;
  /** All streams that a socket has taken, refused ones of the remote too. */
  readonly opened: number;
}

/** Bytes that a peer or a server holds. */
export interface ByteCounts {
  /** Bytes of received payloads that are held (`maxHeldBytes`). */
  readonly held: number;
  /** Bytes that wait to be sent, in sockets too (`peer.bufferedAmount`). */
  readonly unsent: number;
}

/** Facts about a peer at one moment. The counts of the past cover all sockets of the peer. */
export interface PeerStats {
  /** How many streams there are, and have been. */
  readonly streams: StreamCounts;
  /**
   * Streams that have ended, by cause. `ended`: both sides had ended, or a notification has left. `lost`: the socket was lost. Each reset
   * counts by its code and by who sent it, as in `user reset CANCEL`, `library reset REFUSED` and `remote reset APPLICATION_ERROR`. The name
   * of a code that an application has chosen is `other`. A cause that has not occurred is absent.
   */
  readonly ended: Readonly<Record<string, number>>;
  /** Frames that were passed to sockets, and the bytes of their messages. */
  readonly sent: Traffic;
  /** Frames that have arrived, and the bytes of their messages. */
  readonly received: Traffic;
  /** Frames that wait for their turn on a socket, and their bytes of payload: 64 at least for each frame. */
  readonly queue: Traffic;
  /** Bytes in memory. */
  readonly bytes: ByteCounts;
  /** Limits of this peer, and how much of each is used. A limit that is nearly met makes the peer wait or fail soon. */
  readonly limits: { readonly [Limit in 'maxStreams' | 'maxHeldBytes' | 'maxUnsentBytes' | 'maxQueuedBytes']: Usage };
  /** The last round trip, in ms; `null` before the first (`peer.rttMs`). */
  readonly rttMs: number | null;
}

/** Reads sockets and queues on demand; in between, the peer only increments counters. */
export function statsOf({ tally, waiting, notifications, connections, options: { limits }, bufferedAmount, rttMs }: PeerCore): PeerStats {
  const streams = { open: 0, remote: 0, waiting: waiting.size + notifications.size, opened: tally.opened };
  const sent = { frames: tally.sentFrames, bytes: tally.sentBytes };
  const queue = { frames: 0, bytes: 0 };
  let held = 0;
  for (const connection of connections) {
    const { streams: table, places, outbound, budget, sentBytes } = connection;
    streams.open += table.size;
    streams.remote += places;
    sent.bytes += sentBytes;
    queue.frames += outbound.frames;
    queue.bytes += outbound.bytes;
    held += budget.used;
  }
  const usage = (used: number, max: number): Usage => ({ used, max });
  return {
    streams,
    ended: tally.causes,
    sent,
    received: { frames: tally.receivedFrames, bytes: tally.receivedBytes },
    queue,
    bytes: { held, unsent: bufferedAmount },
    limits: {
      maxStreams: usage(streams.remote, limits.maxStreams),
      maxHeldBytes: usage(held, limits.maxHeldBytes),
      maxUnsentBytes: usage(queue.bytes, limits.maxUnsentBytes),
      maxQueuedBytes: usage(waiting.bytes, limits.maxQueuedBytes),
    },
    rttMs,
  };
}
