import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import type { TextMapGetter } from '@opentelemetry/api';
import type { CloseCause } from '../stream/end.js';
import type { Label } from '../stream/label.js';
import type { StreamCore } from '../stream/stream-core.js';
import { extrasOf } from '../stream/extras.js';
import type { Tracer } from '../peer/hooks.js';
import { isMuxError } from '../wire/errors.js';
import type { Metadata } from '../wire/frame.js';
import type { Instruments, TracedCall } from './instruments.js';

/** Reads the texts among headers. */
const TEXTS: TextMapGetter<Readonly<Metadata>> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, key) => {
    const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
    return typeof value === 'string' ? value : undefined;
  },
};

/** Makes a span for each stream of one peer, and passes its context on in headers. */
export class SpanTracer implements Tracer {
  /** A call whose stream does not exist yet. */
  #pending: TracedCall | null = null;

  constructor(
    private readonly instruments: Instruments,
    private readonly label: Label,
  ) {}

  calling(headers: Metadata, payload: unknown): void {
    this.close();
    const call = this.instruments.begin('client', this.label, payload, context.active());
    propagation.inject(call.context, headers);
    this.#pending = call;
  }

  called(stream: StreamCore): void {
    const call = this.#pending;
    this.#pending = null;
    if (call !== null) this.#follow(stream, call);
  }

  answering(stream: StreamCore, answer: () => void): void {
    // Not the active context: a socket keeps the context of the request that upgraded it.
    const parent = propagation.extract(ROOT_CONTEXT, stream.headers, TEXTS);
    const call = this.instruments.begin('server', this.label, stream.payload, parent);
    this.#follow(stream, call);
    context.with(call.context, answer);
  }

  /** Ends the span of a call that failed before it had a stream. */
  close(): void {
    if (this.#pending !== null) this.instruments.end(this.#pending, null);
    this.#pending = null;
  }

  #follow(stream: StreamCore, call: TracedCall): void {
    if (stream.cause !== null) this.instruments.end(call, stream.cause);
    else
      extrasOf(stream).whenGone((cause) => {
        this.instruments.end(call, cause, call.side === 'server' ? thrownIn(stream, cause) : null);
      });
  }
}

/** Returns the error with which a handler failed; `null` for every other end. */
function thrownIn({ id, failure }: StreamCore, cause: CloseCause): unknown {
  if (cause.how !== 'reset' || cause.by !== 'user') return null;
  // A reset without an error has one that is made of the reset.
  const isMade = isMuxError(failure) && 'resetCode' in failure && failure.streamId === id && failure.resetCode === cause.code;
  return isMade ? null : failure;
}
