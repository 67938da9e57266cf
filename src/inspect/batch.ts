import type { Observable } from 'rxjs';
import type { Line } from './recording.js';

/** A line of a feed: the line of a recording, with facts that only a peer knows. */
export interface InspectorLine extends Line {
  /** The label of the frame's stream, on the first line that has it. */
  readonly n?: string;
  /** The length of the frame's message in bytes. */
  readonly b?: number;
}

/** A peer when its feed made a batch. */
export interface InspectedPeer {
  /** The connection of its last socket, as in its lines. */
  readonly c: number;
  /** Its earlier connections that still drain. Default none. */
  readonly draining?: readonly number[] | undefined;
  /** `peer.toString()` up to its state. */
  readonly name: string;
  /** Whether this side dialed: then `>` is sent, and otherwise received. */
  readonly isDialer: boolean;
  /** Its state, such as `open`. */
  readonly state: string;
  /** How often it has connected again. */
  readonly reconnects: number;
  /** The last round trip, in ms; `null` before the first. */
  readonly rttMs: number | null;
  /** Bytes that wait to be sent. */
  readonly bufferedAmount: number;
  /** The address that it has dialed, without credentials and query, which may hold tokens. Default the `url` of its batch. */
  readonly url?: string | undefined;
  /** The name of its codec. Default `json`. */
  readonly codec?: string | undefined;
}

/** The lines of some time, and the peers at its end. */
export interface InspectorBatch {
  /** When the batch was made, in ms since its feed began. */
  readonly at: number;
  /** The lines, in the order of their frames. */
  readonly lines: readonly InspectorLine[];
  /** How many lines were dropped before these, because the viewer is too slow. */
  readonly dropped: number;
  /** The watched peers that are connected, or connect, and those that have left since the batch before. */
  readonly peers: readonly InspectedPeer[];
  /** The address of the server whose peers these are. Default unknown: a server that another program listens for does not know its own. */
  readonly url?: string | undefined;
  /** How many other peers are connected, and not watched because of `maxPeers`. Default 0. */
  readonly unwatched?: number | undefined;
}

/**
 * A source of batches for an inspector. Lines have payloads while `payloads$` has last emitted `true`; before its first value they have
 * none.
 */
export type InspectorFeed = (payloads$: Observable<boolean>) => Observable<InspectorBatch>;
