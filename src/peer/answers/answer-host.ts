import type { StreamHost } from '../stream/stream-host.js';

/** What those who answer streams ask of their peer. */
export interface AnswerHost extends StreamHost {
  readonly isClosed: boolean;
  /** Closes the peer, because the hello was refused. */
  rejectHello(): void;
}
