import type { Codec } from '../../wire/codec.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import type { HooksToRun } from '../hooks.js';
import type { ResolvedOptions } from '../options.js';
import type { PeerStatus } from '../status.js';
import type { AbortSignals } from './abort-signals.js';
import type { Deadlines } from '../../stream/deadlines.js';
import type { OpenQueue } from '../waiting.js';
import type { StreamCore } from './stream-core.js';

/** Why a peer has no open socket. An unsent call that ends reports it. */
export interface Absence {
  readonly reason: string;
  /** The error of the last dial, if it failed. */
  readonly error: AnyMuxError | null;
}

/** Whether a stream without a socket may wait for one. */
export interface SocketOutlook {
  readonly expectsSocket: boolean;
  readonly absence: Absence;
}

/** The parts of a peer that a stream uses. */
export interface StreamHost {
  /** The user's peer, of the class of its entry point. */
  readonly peer: unknown;
  /** Makes the user's object of a stream, of the class of the entry point. */
  readonly makeStream: (stream: StreamCore) => unknown;
  /** Names the peer in the log. */
  readonly label: string;
  readonly codec: Codec;
  readonly options: Pick<ResolvedOptions, 'errorSerializer' | 'label' | 'maxFrameBytes'>;
  readonly hooks: HooksToRun;
  readonly status: { readonly now: PeerStatus };
  readonly source: SocketOutlook;
  readonly openQueue: Pick<OpenQueue, 'requeue'>;
  readonly deadlines: Deadlines;
  readonly signals: AbortSignals;
  /** A stream of the remote has arrived whole. */
  accept(stream: StreamCore): void;
  /** The id of this side's next stream; `null` without a socket. */
  readonly nextStreamId: number | null;
}
