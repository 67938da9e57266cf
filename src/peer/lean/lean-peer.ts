import type { Observable } from 'rxjs';
import type { MetadataInput } from '../../wire/frame.js';
import { checkOptions } from '../../util/check.js';
import { STREAM_NAMES } from '../calls/call-options.js';
import type { OpenOptions } from '../calls/call-options.js';
import { Calls } from '../calls.js';
import type { PeerCore } from '../core.js';
import type { SocketSource } from '../core/socket-source.js';
import { PeerBase } from '../peer-base.js';
import { LeanStream } from '../stream/lean-stream.js';
import { SEND_NAMES } from '../stream/send-options.js';
import type { StreamCore } from '../stream/stream-core.js';

/** Options of every call of a lean peer. */
export interface LeanOptions<In = unknown> extends Pick<OpenOptions, 'headers' | 'signal' | 'timeoutMs'> {
  /** Receives the stream of a call that does not return it, as in `OpenOptions` of `rxmux`. Default none. */
  readonly onOpen?: ((stream: LeanStream<In>) => void) | undefined;
}

/**
 * A peer that makes calls, and refuses the streams of its remote. Functions of `rxmux/lean`, such as `onStream`, `sendAll` and `onClose`, do
 * the rest. A page carries only the functions that it imports.
 *
 * Each method works as the method of the same name of a peer of `rxmux`.
 *
 * @example
 * ```ts
 * const peer = connect('wss://example.org/mux', { reconnect: reconnect() });
 * await peer.request({ op: 'sum', of: [1, 2, 3] });   // 6
 * ```
 */
export class LeanPeer extends PeerBase {
  readonly #calls: Calls;

  /** @internal */
  constructor(core: PeerCore, source: SocketSource) {
    super(core, source, makeStream);
    this.#calls = new Calls(core);
  }

  /** @internal The calls of a peer, for functions that open streams in another way. */
  static calls(peer: LeanPeer): Calls {
    return peer.#calls;
  }

  /** Sends a request and resolves with the answer: the first payload that comes back, or `null` for an end without a payload (S11). */
  request<R = unknown>(payload?: unknown, options: LeanOptions<R> = {}): Promise<R> {
    return this.#calls.request(payload, options as OpenOptions) as Promise<R>;
  }

  /** {@link request} as a cold Observable. Each subscription sends a request, and unsubscribing before the answer cancels it. */
  request$<R = unknown>(payload?: unknown, options: LeanOptions<R> = {}): Observable<R> {
    return this.#calls.request$(payload, options as OpenOptions) as Observable<R>;
  }

  /**
   * Opens a stream at once. The functions `send`, `sendAll`, `reply` and `end` send on it.
   *
   * @param options `end: true` if the call sends only the payload
   */
  open<In = unknown>(payload?: unknown, options: LeanOptions<In> & { readonly end?: boolean | undefined } = {}): LeanStream<In> {
    checkOptions(options, STREAM_NAMES);
    return this.#calls.open(payload, options.end === true ? 'end' : 'continue', options as OpenOptions).facade as LeanStream<In>;
  }

  /** Opens a stream for each subscription. Unsubscribing resets it with CANCEL. `openWith` also sends an input. */
  open$<In = unknown>(payload?: unknown, options: LeanOptions<In> = {}): Observable<In> {
    return this.#calls.open$(payload, options as OpenOptions) as Observable<In>;
  }

  /** Sends one payload without waiting for anything: answers are dropped (S11). */
  notify(payload?: unknown, options: { readonly headers?: MetadataInput | undefined } = {}): void {
    checkOptions(options, SEND_NAMES);
    this.#calls.open(payload, 'notify', options);
  }
}

function makeStream(stream: StreamCore): LeanStream {
  return LeanStream.around(stream);
}
