import { take } from 'rxjs';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import type { Pair, PairOptions } from '../../../src/testing.js';
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
