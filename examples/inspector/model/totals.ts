import type { InspectedPeer } from 'rxmux/inspect';
import type { Marble } from './marble.js';

/** Sums over one second. */
export interface Second {
  sent: number;
  received: number;
  frames: number;
  resets: number;
  /** The longest queue that was seen; `null` where the feed does not sample it. */
  queue: number | null;
  /** The last round trip, in ms. */
  rtt: number | null;
}

/** Sums of each second, for the strips. */
export class Totals {
  #seconds = new Map<number, Second>();
  #first = 0;
  #last = 0;

  constructor(private readonly keptSeconds = 600) {}

  add(marble: Marble, isSent: boolean): void {
    const second = this.#at(marble.t);
    second[isSent ? 'sent' : 'received'] += marble.bytes;
    second.frames++;
    if (marble.kind === 'reset') second.resets++;
    if (marble.kind === 'pong' && marble.roundTrip !== null) second.rtt = marble.roundTrip;
  }

  sample(at: number, peers: readonly InspectedPeer[]): void {
    const second = this.#at(at);
    second.queue = Math.max(second.queue ?? 0, ...peers.map(({ bufferedAmount }) => bufferedAmount));
    const rtts = peers.flatMap(({ rttMs }) => rttMs ?? []);
    if (rtts.length > 0) second.rtt = Math.max(...rtts);
  }

  /** Every second from the first to the last one that is kept; a quiet one is zero. */
  all(): readonly (Second & { readonly at: number })[] {
    const length = this.#seconds.size === 0 ? 0 : this.#last - this.#first + 1;
    return Array.from({ length }, (_, index) => ({ ...(this.#seconds.get(this.#first + index) ?? quiet()), at: this.#first + index }));
  }

  clear(): void {
    this.#seconds = new Map();
  }

  #at(t: number): Second {
    const index = Math.floor(t / 1_000);
    let second = this.#seconds.get(index);
    if (second === undefined) {
      second = quiet();
      this.#first = this.#seconds.size === 0 ? index : Math.min(this.#first, index);
      this.#last = this.#seconds.size === 0 ? index : Math.max(this.#last, index);
      this.#seconds.set(index, second);
      for (; this.#first <= this.#last - this.keptSeconds; this.#first++) this.#seconds.delete(this.#first);
    }
    return second;
  }
}

function quiet(): Second {
  return { sent: 0, received: 0, frames: 0, resets: 0, queue: null, rtt: null };
}
