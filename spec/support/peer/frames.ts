import type { Peer } from '../../../src/peer/peer.js';
import type { FrameDirection } from '../../../src/wire/frame.js';
import { toMapping } from '../../../src/wire/mapping.js';

/** A frame with only the fields that differ from their default. */
export type Envelope = Readonly<Record<string, unknown>>;

/** The frames that a peer sends or receives from now on, in order. */
export function framesOf(peer: Peer, direction: FrameDirection = 'tx'): readonly Envelope[] {
  const seen: Envelope[] = [];
  peer.onFrame((seenIn, frame) => {
    if (seenIn === direction) seen.push(toMapping(frame));
  });
  return seen;
}
