import type { Observable } from 'rxjs';
import { Session } from '../connection/connection.js';
import { completeGuarded, guard } from '../rx/guard.js';
import { GuardedObservable } from '../rx/guarded-observable.js';
import { followed } from '../rx/subscribers.js';
import { copyMetadata, freezeMetadata, readOnly } from '../stream/metadata.js';
import { failing } from '../stream/promises.js';
import type { Stream } from '../stream/stream.js';
import { checkOptions } from '../util/check.js';
import { checkFunction, checkNumber } from '../wire/check.js';
import type { Metadata, MetadataInput } from '../wire/frame.js';
import { OutgoingFrame } from '../wire/outgoing.js';
import { INPUT_NAMES, OPEN_NAMES, checkSignal } from './calls/call-options.js';
import type { InputOptions, OpenOptions } from './calls/call-options.js';
import type { PeerCore } from './core.js';
import type { Retry } from './safe-retry.js';
import { disclaim } from './stream/disclaimed.js';
import { encodedPayload } from './stream/encoded-payload.js';
import type { EncodedPayload } from './stream/encoded-payload.js';
import { failLater, openFor, readOpened } from './stream/late-error.js';
import { readOne } from './stream/one-answer.js';
import { sendable } from './stream/sendable.js';
import { StreamCore } from './stream/stream-core.js';
import type { OpenQueue } from './waiting.js';

/**
 * How this side continues after the open. `continue` sends more; the others send nothing more. `request` expects one answer within
 * `requestTimeoutMs`, and `notify` expects none.
 */
type Intent = 'continue' | 'end' | 'request' | 'notify';

/** Options of calls that a door may install. */
export interface CallParts {
  /** Makes a call again that the remote provably never began. */
  readonly retried?: (core: PeerCore, call$: Observable<unknown>, retry: 'safe' | Retry, options: OpenOptions) => Observable<unknown>;
  /** Opens a stream for each subscription, and sends an input on it. */
  readonly fed?: (calls: Calls, value: unknown, options: OpenOptions & InputOptions) => Observable<unknown>;
}

/** The calls of one peer. Each opens a stream, and enforces its deadline and its signal. */
export class Calls {
  constructor(
    private readonly core: PeerCore,
    private readonly parts: CallParts = {},
  ) {}

  /**
   * Opens a stream. A peer that accepts no more streams returns a refused one.
   *
   * @throws any error of an interceptor; TypeError for a value that the codec cannot represent; ProtocolError for headers that do not
   *   fit a message; QueueOverflowError when too much waits for a connection
   */
  open(value: unknown, intent: Intent, options: OpenOptions): StreamCore {
    const { core } = this;
    const { signal, timeoutMs } = options;
    if (signal != null) checkSignal(signal);
    if (timeoutMs !== undefined) checkNumber('timeoutMs', timeoutMs);
    const onOpen: ((stream: Stream) => unknown) | undefined = options.onOpen;
    if (onOpen !== undefined) checkFunction('onOpen', onOpen);
    const frame = this.#opening(value, intent !== 'continue', options);
    const stream = new StreamCore(core, true, intent === 'notify', frame.headers, frame.payload);
    // A call that its signal has aborted spends no id.
    if (signal?.aborted !== true) this.#place(stream, frame);
    core.tracer?.called(stream);
    if (signal != null) stream.cancelWith(signal);
    stream.limit(timeoutMs ?? (intent === 'request' ? core.options.requestTimeoutMs : 0));
    for (const { hook } of core.hooks.calls.entries) hook(stream.facade, intent === 'notify');
    stream.send(frame);
    // Dial after the send: `ensureDialing` may open a socket synchronously, which takes this stream with its open already queued.
    if (stream.id === null && stream.phase !== 'closed') core.source.ensureDialing();
    if (onOpen === undefined) return stream;
    try {
      const returned = onOpen(stream.facade);
      guard('onOpen', () => returned);
    } catch (error) {
      // The caller receives the error and not the stream, so no code holds the stream.
      stream.cancel();
      disclaim(error);
      throw error;
    }
    return stream;
  }

  /** Resolves with the first payload; an end without one is `null`. */
  request(value: unknown, options: OpenOptions): Promise<unknown> {
    return new Promise((resolve) => {
      checkOptions(options, OPEN_NAMES);
      const failed = (error: unknown): void => {
        resolve(failing(error));
      };
      const { retry = false } = options;
      if (retry === false) readOne(this.open(value, 'request', options), resolve, failed);
      else this.request$(value, options).subscribe({ next: resolve, error: failed });
    });
  }

  /** {@link request} as a cold Observable: unsubscribing before the answer cancels. */
  request$(value: unknown, options: OpenOptions): Observable<unknown> {
    checkOptions(options, OPEN_NAMES);
    const answer$ = new GuardedObservable((subscriber) => {
      const stream = subscriber.closed ? undefined : openFor(subscriber, () => this.open(value, 'request', options));
      if (stream === undefined) return;
      const isOver = stream.end !== null;
      let answered = false;
      subscriber.add(() => {
        if (!answered) stream.cancel();
      });
      readOne(
        stream,
        (answer) => {
          answered = true;
          subscriber.next(answer);
          completeGuarded('a subscriber of a stream', subscriber);
        },
        (error) => {
          if (isOver) failLater(subscriber, error);
          else subscriber.error(error);
        },
      );
    });
    return this.#retried(answer$, options);
  }

  /** Opens a stream for each subscription. Completes when the remote has ended and the input, if any, is done. */
  open$(value: unknown, options: OpenOptions & InputOptions): Observable<unknown> {
    checkOptions(options, INPUT_NAMES);
    const { input, overflow } = options;
    const isFed = input !== undefined || overflow !== undefined;
    const call$ = isFed ? installed('input', this.parts.fed)(this, value, options) : this.read$(value, options);
    return this.#retried(call$, options);
  }

  /** Opens a stream for each subscription. The open carries the end. */
  read$(value: unknown, options: OpenOptions): Observable<unknown> {
    return new GuardedObservable((subscriber) => {
      // rxjs also subscribes subscribers that have unsubscribed meanwhile. No stream is opened for them.
      const stream = subscriber.closed ? undefined : openFor(subscriber, () => this.open(value, 'end', options));
      return stream && followed(subscriber, readOpened(subscriber, stream));
    });
  }

  #retried(call$: Observable<unknown>, options: OpenOptions): Observable<unknown> {
    const { retry = false } = options;
    return retry === false ? call$ : installed('retry', this.parts.retried)(this.core, call$, retry, options);
  }

  /** Returns the open of a call. */
  #opening(value: unknown, end: boolean, { headers }: OpenOptions): OutgoingFrame {
    const { core } = this;
    // Encode before the interceptors run, so that their changes to the payload are not sent.
    const payload = encodedPayload(core.codec, value);
    const fields = { type: 'open', payload: payload.value, headers: this.#headers(payload, headers), end };
    return sendable(core, fields, payload, null);
  }

  #headers({ source, value, encoded }: EncodedPayload, headers: MetadataInput | undefined): Readonly<Metadata> | null {
    const { hooks, codec, tracer } = this.core;
    const { entries } = hooks.open;
    if (entries.length === 0 && tracer === null) return headers === undefined ? null : freezeMetadata(headers, codec);
    const copy = copyMetadata(headers);
    if (entries.length > 0) {
      const payload = encoded === null ? source : readOnly(value, encoded, codec);
      for (const { hook } of entries) hook(copy, payload);
    }
    tracer?.calling(copy, value);
    return freezeMetadata(copy, codec);
  }

  /** Passes a new stream to the session, or to the queue in which it waits. */
  #place(stream: StreamCore, open: OutgoingFrame): void {
    const { core } = this;
    const place = this.#placeOf(stream);
    if (place instanceof Session) {
      place.adopt(stream);
      return;
    }
    place.add(stream, OutgoingFrame.encodedPayload(open));
    // Code of the user may have closed the peer meanwhile.
    if (core.openSession === null && !core.source.expectsSocket) core.openQueue.refuse(stream, core.status.now);
  }

  /** Returns the open session, or the queue in which a new stream has to wait. */
  #placeOf({ isNotification }: StreamCore): Session | OpenQueue {
    const { core } = this;
    const { openSession, openQueue, notifications } = core;
    const follows = isNotification && notifications.delays(openSession);
    if (openSession === null) return follows && core.source.expectsSocket ? notifications : openQueue;
    if (!openQueue.empty) return openQueue;
    if (follows) return notifications;
    // The session's ids are used up (S1). If another socket can be dialed, the stream waits for that one.
    return openSession.streams.exhausted && core.source.replace() ? openQueue : openSession;
  }
}

/** @throws TypeError for an option whose part the door leaves out */
function installed<T>(option: string, part: T | undefined): T {
  if (part === undefined) throw new TypeError(`${option}: expected a peer of 'rxmux', got one of 'rxmux/lean'`);
  return part;
}
