import type { Metadata } from '../wire/frame.js';

/** What a call or a handler opened a stream with. */
export interface StreamStart {
  readonly local: boolean;
  readonly headers: Readonly<Metadata> | null;
  /** `ABSENT` when the stream was opened without one. */
  readonly payload: unknown;
  /** Whether nothing is wanted of the stream once its open has left. */
  readonly forgotten?: boolean;
}
