import type { Metadata } from '../../wire/frame.js';
import type { StreamCore } from './stream-core.js';

/** Follows the streams of a peer. `rxmux/otel` implements it. */
export interface Tracer {
  /** Called with the headers of a call, after the interceptors. It may change them in place. */
  calling(headers: Metadata, payload: unknown): void;
  /** Called with the stream of that call, before its open is sent. A call that fails in between has none. */
  called(stream: StreamCore): void;
  /** Called with a stream of the remote. It calls `answer`, which runs the handlers. */
  answering(stream: StreamCore, answer: () => void): void;
}
