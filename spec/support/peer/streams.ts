import { take } from 'rxjs';
import { BULK_FRAME_BYTES } from '../../../src/connection/bulk-window.js';
import { SOCKET_FULL_BYTES } from '../../../src/connection/outbound.js';
import type { Peer } from '../../../src/index.js';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import type { Fault, Pair, PairOptions } from '../../../src/testing.js';
import type { PeerTime } from './time.js';

/** A handler that never settles. */
export const stays: StreamHandler = () => new Promise(() => undefined);

/** A handler that sends these values, and never settles. */
export const sends =
  (...values: readonly unknown[]): StreamHandler =>
  (payload, stream) => {
    for (const value of values) void stream.send(value);
    return stays(payload, stream);
  };

/** A pair whose dialer has opened a stream. The acceptor passes the stream to `handler`. */
export function opened(handler: StreamHandler): Pair & { readonly stream: Stream } {
  const pair = createPair();
  pair.acceptor.onStream(handler);
  return { ...pair, stream: pair.dialer.open('p', { headers: { a: 1 } }) };
}

/** A pair with a stream between them, seen from both sides; its handler never settles. */
export async function joined(time: PeerTime, options?: PairOptions): Promise<Pair & { readonly local: Stream; readonly remote: Stream }> {
  const pair = createPair(options);
  const remotes: Stream[] = [];
  pair.acceptor.onStream((payload, stream) => {
    remotes.push(stream);
    return stays(payload, stream);
  });
  const local = pair.dialer.open('p');
  await time.advance();
  const [remote] = remotes;
  if (remote === undefined) throw new Error('expected a stream');
  return { ...pair, local, remote };
}

/** Fills the socket of a peer whose remote has stalled. Small calls do it, because they never wait for answers as bulk does. */
export function fillSocket(peer: Peer): void {
  while (peer.bufferedAmount < SOCKET_FULL_BYTES) peer.notify('x'.repeat(BULK_FRAME_BYTES / 2));
}

/**
 * A pair without latency. `knowLine` sends a transfer that the acceptor answers, so that the dialer knows how fast the line is. Later bulk may
 * then fill the socket, whereas two slices of the first bulk wait for an answer.
 */
export function learningPair(time: PeerTime): Pair & { readonly knowLine: () => Promise<void> } {
  // Without latency the answer to each turn's bytes would come before the next turn, so that no large window could be of use.
  let delay: Fault | undefined = { delayMs: 1 };
  const pair = createPair({ faults: () => delay });
  return {
    ...pair,
    knowLine: async () => {
      pair.dialer.notify('x'.repeat(4 * SOCKET_FULL_BYTES));
      await time.advance(100);
      delay = undefined;
    },
  };
}

/** Records everything that a stream emits. */
export function read(stream: Stream, limit = Infinity): unknown[] {
  const seen: unknown[] = [];
  stream.pipe(take(limit)).subscribe({
    next: (value) => seen.push(value),
    error: (error: unknown) => seen.push(error),
    complete: () => seen.push('complete'),
  });
  return seen;
}
