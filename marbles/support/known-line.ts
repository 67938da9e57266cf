import { timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { MEASURING } from '../../spec/support/pictures/recorded.js';
import { createPair } from '../../src/testing.js';
import type { Fault, Pair, PairOptions } from '../../src/testing.js';

const MEASURING_MS = Number.parseInt(MEASURING, 10);

/** Delays a diagram until the peers know their line. */
export const known = (diagram: string): string => MEASURING + diagram;

/** Emits once the peers know their line. */
export const whenKnown = (): Observable<0> => timer(MEASURING_MS);

/**
 * A pair without latency whose sides know how fast the line is, after one call that both answer. Later bulk may then fill the socket, whereas
 * two slices of the first bulk wait for an answer.
 */
export function knowingPair(options: PairOptions = {}): Pair {
  // Without latency the answer to each turn's bytes would come before the next turn, so that no large window could be of use.
  let delay: Fault | undefined = { delayMs: 1 };
  timer(MEASURING_MS - 1).subscribe(() => (delay = undefined));
  const pair = createPair({ ...options, faults: () => delay });
  pair.dialer.onStream((payload, stream) => stream.reply(payload));
  void pair.acceptor.request('x'.repeat(4 * 1024 * 1024));
  return pair;
}
