import type { Attributes, Meter, ObservableResult } from '@opentelemetry/api';
import type { Peer } from '../peer/peer.js';
import { getOrMake } from '../util/collections.js';

/** The peers of one instrumentation. */
export interface Queues {
  readonly peers: ReadonlySet<Peer>;
  readonly attributes: Attributes | undefined;
}

/**
 * Measures what waits at the peers of all instrumentations of one meter. One callback does it: of two observations with the same attributes
 * a meter keeps the last one.
 */
class QueueSizes {
  readonly #all = new Set<Queues>();
  readonly #gauge;

  constructor(meter: Meter) {
    this.#gauge = meter.createObservableUpDownCounter('rxmux.queue.size', { unit: 'By' });
  }

  /** Returns a function that ends the measurement. */
  add(queues: Queues): () => void {
    this.#all.add(queues);
    if (this.#all.size === 1) this.#gauge.addCallback(this.#observe);
    return () => {
      this.#all.delete(queues);
      if (this.#all.size === 0) this.#gauge.removeCallback(this.#observe);
    };
  }

  readonly #observe = (result: ObservableResult): void => {
    for (const [attributes, peers] of this.#byAttributes()) {
      let bytes = 0;
      for (const peer of peers) bytes += peer.bufferedAmount;
      result.observe(bytes, attributes);
    }
  };

  /** The peers of each set of attributes. A peer of two instrumentations counts once. */
  #byAttributes(): Iterable<readonly [Attributes | undefined, ReadonlySet<Peer>]> {
    const found = new Map<string, [Attributes | undefined, Set<Peer>]>();
    for (const { attributes, peers } of this.#all) {
      const key = JSON.stringify(Object.entries(attributes ?? {}).sort());
      const [, known] = found.get(key) ?? [attributes, new Set<Peer>()];
      found.set(key, [attributes, new Set([...known, ...peers])]);
    }
    return found.values();
  }
}

const known = new WeakMap<Meter, QueueSizes>();

/** Returns the measurement of what waits, one for each meter. */
export function queueSizesOf(meter: Meter): QueueSizes {
  return getOrMake(known, meter, () => new QueueSizes(meter));
}
