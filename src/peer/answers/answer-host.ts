import type { Hooks } from '../hooks.js';
import type { StreamCore } from '../stream/stream-core.js';
import type { StreamHost } from '../stream/stream-host.js';
import type { Tracer } from '../stream/tracer.js';

/** Takes the streams of the remote. */
export interface Incoming {
  /** A stream has arrived whole. */
  receive(stream: StreamCore): void;
  /** A socket has opened. */
  socketOpened(): void;
  /** The peer has ended. */
  complete(): void;
}

/** The members of a peer that the code which answers streams needs. */
export interface AnswerHost extends StreamHost {
  readonly isClosed: boolean;
  /** The lists for a new hook. */
  readonly ownHooks: Hooks;
  /** Refuses every stream until `serving` replaces it. */
  incoming: Incoming;
  /** Follows the streams of the remote; `null` for none. */
  readonly tracer: Tracer | null;
  /** Closes the peer, because the hello was refused. */
  rejectHello(): void;
}
