import type { StreamHost } from '../stream/stream-host.js';

/** The members of a peer that the code which answers streams needs. */
export interface AnswerHost extends StreamHost {
  readonly isClosed: boolean;
  /** Closes the peer, because the hello was refused. */
  rejectHello(): void;
}
