import type { FrameEvent } from '../peer/events.js';
import type { Peer } from '../peer/peer.js';
import { getOrMake } from '../util/collections.js';
import { toMapping } from '../wire/mapping.js';
import type { Line } from './recording.js';

/** Makes lines of frames. It counts the sockets of all peers, in the order of their first frames. */
export class LineSource {
  readonly #connections = new WeakMap<Peer, number[]>();
  #count = 0;

  /** @param since when the recording began, on the clock of the frames */
  constructor(readonly since: number) {}

  /** Returns the line of a frame, with the frame's own values. */
  lineOf({ direction, frame, peer, connection, at }: FrameEvent): Line {
    const isFromDialer = (direction === 'tx') === peer.isDialer;
    return { v: 1, t: Math.round(at - this.since), c: this.#numberOf(peer, connection), d: isFromDialer ? '>' : '<', f: toMapping(frame) };
  }

  #numberOf(peer: Peer, connection: number): number {
    const numbers = getOrMake(this.#connections, peer, () => []);
    return (numbers[connection] ??= ++this.#count);
  }
}
