import { Observable, asyncScheduler } from 'rxjs';
import type { Subscriber } from 'rxjs';
import type { Connection } from '../connection/connection.js';
import { pacedPing } from '../connection/control.js';
import { both, mapPresent } from '../rx/pipeline.js';
import { GuardedObservable, completeGuarded, guard } from '../rx/subscribers.js';
import { disclaim } from '../stream/end.js';
import { FeedRelay, checkOverflow } from '../stream/feed.js';
import type { Overflow } from '../stream/feed.js';
import { isOneShot, releaseInput } from '../stream/input.js';
import type { Input } from '../stream/input.js';
import { copyMetadata, freezeMetadata, readOnly } from '../stream/metadata.js';
import { failing, unheeded } from '../stream/promises.js';
import type { Reader } from '../stream/receiving.js';
import { sendable } from '../stream/sending.js';
import { encodedPayload } from '../stream/payload.js';
import type { EncodedPayload } from '../stream/payload.js';
import { StreamCore } from '../stream/stream-core.js';
import type { Stream } from '../stream/stream.js';
import { abnormalClose, eventsOf } from '../transport/transport.js';
import { checkFunction, checkNumber, checkObject, checkOptions } from '../util/check.js';
import type { NamesOf } from '../util/check.js';
import type { CloseReason } from '../wire/codes.js';
import { CancelledError, ConnectionLostError } from '../wire/errors.js';
import type { Metadata, MetadataInput } from '../wire/frame.js';
import { OutgoingFrame } from '../wire/outgoing.js';
import type { PeerCore } from './core.js';
import { Attempts, checkRetry } from './safe-retry.js';
import type { Retry, RetryConditions } from './safe-retry.js';
import { isOver } from './status.js';
import type { Waiting } from './waiting.js';

/** Options of every call. */
export interface OpenOptions<In = unknown, Out = unknown> {
  /** Headers of the open; the open interceptors see a copy. Default none. */
  readonly headers?: MetadataInput | undefined;
  /** Cancels the stream when it aborts. Default none. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long the whole stream may take, in ms; with `retry`, how long each attempt may take. 0 is no limit. Default `requestTimeoutMs`
   * of requests, 0 of others.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Receives the stream of a call that does not return it, for reply headers and trailers. The open is already on its way: an error
   * that this throws cancels the stream, and the call fails with it. A promise is not awaited, and its rejection is logged. Default
   * none.
   */
  readonly onOpen?: ((stream: Stream<In, Out>) => void) | undefined;
  /**
   * Makes this call again if the remote provably never began it, but repeats no operator piped after the call. Has no effect on `open`.
   * When the peer closes between two attempts, the call fails with the error of the last one. Default `false`.
   */
  readonly retry?: false | 'safe' | Retry | undefined;
}

/** Names {@link OpenOptions}. */
export const OPEN_NAMES: NamesOf<OpenOptions> = { headers: true, signal: true, timeoutMs: true, onOpen: true, retry: true };

/** Names the options of an `open`. */
export const STREAM_NAMES = { ...OPEN_NAMES, end: true };

/** Options of a two-way call. */
export interface InputOptions<Out = unknown> {
  /**
   * Sends its values as data, and its completion as the end.
   *
   * An async generator that is waiting when the stream ends stops at its next value. A generator that waits for long should listen to
   * the `signal` of the stream, or be an Observable. `onOpen` receives the stream before a function here is called. Default none: the
   * open carries the end.
   */
  readonly input?: Input<Out> | undefined;
  /** Decides about a value that an Observable pushes while the stream's queue is full. Default `'buffer'`. */
  readonly overflow?: Overflow | undefined;
}

/** Names the options of an `open$`. */
export const INPUT_NAMES: NamesOf<OpenOptions & InputOptions> = { ...OPEN_NAMES, input: true, overflow: true };

/** @throws TypeError unless `signal` is a signal */
export function checkSignal(signal: AbortSignal): void {
  if (typeof (signal as Partial<AbortSignal>).addEventListener !== 'function')
    throw new TypeError(`signal: expected an AbortSignal, got ${typeof signal}`);
}

/** Opens a stream for a subscriber. Returns `undefined` if that throws, and passes the error on as {@link failLater a late error}. */
function openFor(
  subscriber: Subscriber<unknown>,
  core: PeerCore,
  value: unknown,
  intent: Intent,
  options: OpenOptions,
): StreamCore | undefined {
  // rxjs also subscribes subscribers that have unsubscribed meanwhile. No stream is opened for them.
  if (subscriber.closed) return undefined;
  try {
    return open(core, value, intent, options);
  } catch (error) {
    failLater(subscriber, error);
    return undefined;
  }
}

/** Fails a subscriber on a later turn. Otherwise a bare `retry()` of a call that fails at once would never return. */
function failLater(subscriber: Subscriber<unknown>, error: unknown): void {
  subscriber.add(
    asyncScheduler.schedule(() => {
      subscriber.error(error);
    }),
  );
}

/** Returns the reader of the stream that was opened for a subscriber. The error of a stream that failed at once comes on a later turn. */
function readerOf(subscriber: Subscriber<unknown>, { isOver }: StreamCore): Reader {
  if (!isOver) return subscriber;
  return {
    next(value) {
      subscriber.next(value);
    },
    error(error) {
      failLater(subscriber, error);
    },
    complete() {
      subscriber.complete();
    },
  };
}

/** Calls `answered` with the first payload, or with `null` for an end without a payload. Cancels the stream on a second payload. */
export function readOne(stream: StreamCore, answered: (value: unknown) => void, failed: (error: unknown) => void): void {
  stream.readBy(new OneAnswer(stream, answered, failed));
}

class OneAnswer implements Reader {
  #answered = false;

  constructor(
    private readonly stream: StreamCore,
    private readonly answered: (value: unknown) => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  next(value: unknown): void {
    if (this.#answered) {
      const text = 'one answer was expected';
      this.stream.cancel(text, new CancelledError(text, { streamId: this.stream.id }));
      return;
    }
    this.#answered = true;
    this.answered(value);
  }

  error(error: unknown): void {
    if (!this.#answered) this.failed(error);
  }

  complete(): void {
    if (!this.#answered) this.next(null);
  }
}

/**
 * How this side continues after the open. `continue` sends more; the others send nothing more. `request` expects one answer within
 * `requestTimeoutMs`, and `notify` expects none.
 */
type Intent = 'continue' | 'end' | 'request' | 'notify';

/**
 * Opens a stream, and enforces its deadline and its signal. A peer that accepts no more streams returns a refused one.
 *
 * @throws any error of an interceptor; TypeError for a value that the codec cannot represent; ProtocolError for headers that do not
 *   fit a message; QueueOverflowError when too much waits for a connection
 */
export function open(core: PeerCore, value: unknown, intent: Intent, options: OpenOptions): StreamCore {
  const { signal, timeoutMs } = options;
  if (signal != null) checkSignal(signal);
  if (timeoutMs !== undefined) checkNumber('timeoutMs', timeoutMs);
  const onOpen: ((stream: Stream) => unknown) | undefined = options.onOpen;
  if (onOpen !== undefined) checkFunction('onOpen', onOpen);
  const isNotification = intent === 'notify';
  // Encode before the interceptors run, so that their changes to the payload are not sent.
  const payload = encodedPayload(core.codec, value);
  const headers = headersOf(core, payload, options.headers);
  const frame = sendable(core, { type: 'open', payload: payload.value, headers, end: intent !== 'continue' }, payload, null);
  const stream = new StreamCore(core, true, isNotification, headers, frame.payload);
  // A call that its signal has aborted spends no id.
  if (signal?.aborted !== true) place(core, stream, frame, isNotification);
  core.tracer?.called(stream);
  if (signal != null) stream.cancelWith(signal);
  stream.limit(timeoutMs ?? (intent === 'request' ? core.options.requestTimeoutMs : 0));
  stream.send(frame);
  for (const { hook } of core.hooks.calls.entries) hook(stream.facade, isNotification);
  // After the send: a socket takes this stream with its open already queued.
  if (stream.id === null && !stream.hasClosed) sendWaiting(core, stream);
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

/** Returns the headers of an open. */
function headersOf(
  { hooks, codec, tracer }: PeerCore,
  { source, value, encoded }: EncodedPayload,
  headers: MetadataInput | undefined,
): Readonly<Metadata> | null {
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

/** Passes a new stream to the open connection, or to the queue in which it has to wait. */
function place(core: PeerCore, stream: StreamCore, opening: OutgoingFrame, isNotification: boolean): void {
  const { openConnection } = core;
  const queue = queueOf(core, openConnection, isNotification);
  if (queue === null) openConnection?.adopt(stream);
  else queue.enqueue(stream, OutgoingFrame.encodedPayload(opening));
}

/** Returns the queue in which a new stream has to wait; `null` if the open connection takes it. */
function queueOf(core: PeerCore, openConnection: Connection | null, isNotification: boolean): Waiting | null {
  const { waiting, notifications } = core;
  const follows = isNotification && notifications.delays(openConnection);
  if (openConnection === null) return follows && core.expectsSocket ? notifications : waiting;
  if (!waiting.empty) return waiting;
  if (follows) return notifications;
  // The connection's ids are used up (S1). If another socket can be dialed, the stream waits for that one. A stream also waits while
  // `calls$` emits it: a subscriber may send and open streams, and opens are sent in the order of their ids, ahead of data.
  const waits = openConnection.isExhausted ? core.source.replace() : core.hooks.calls.entries.length > 0;
  return waits ? waiting : null;
}

/** Sends the waiting streams up to this one, or dials for it. Code of the user may have closed the peer meanwhile. */
function sendWaiting(core: PeerCore, stream: StreamCore): void {
  const { openConnection } = core;
  if (openConnection !== null) core.waiting.flushTo(openConnection, core.notifications);
  else if (core.expectsSocket) core.source.ensureDialing();
  else core.waiting.refuse(stream, core.status.now, core.epitaph);
}

/** Resolves with the first payload; an end without one is `null`. */
export function request(core: PeerCore, value: unknown, options: OpenOptions): Promise<unknown> {
  return new Promise((resolve) => {
    checkOptions(options, OPEN_NAMES);
    const failed = (error: unknown): void => {
      resolve(failing(error));
    };
    const { retry = false } = options;
    if (retry === false) readOne(open(core, value, 'request', options), resolve, failed);
    else request$(core, value, options).subscribe({ next: resolve, error: failed });
  });
}

/** {@link request} as a cold Observable: unsubscribing before the answer cancels. */
export function request$(core: PeerCore, value: unknown, options: OpenOptions): Observable<unknown> {
  checkOptions(options, OPEN_NAMES);
  const answer$ = new GuardedObservable((subscriber) => {
    const stream = openFor(subscriber, core, value, 'request', options);
    if (stream === undefined) return;
    let answered = false;
    subscriber.add(() => {
      if (!answered) stream.cancel();
    });
    const reader = readerOf(subscriber, stream);
    readOne(
      stream,
      (answer) => {
        answered = true;
        subscriber.next(answer);
        completeGuarded('a subscriber of a stream', subscriber);
      },
      (error) => {
        reader.error(error);
      },
    );
  });
  return retried(core, answer$, options);
}

/**
 * Opens a stream for each subscription. Completes when the remote has ended and the input, if any, is done.
 *
 * @throws TypeError for an unknown `overflow`, and for `retry` with an input that emits its values only once
 */
export function open$(core: PeerCore, value: unknown, options: OpenOptions & InputOptions): Observable<unknown> {
  checkOptions(options, INPUT_NAMES);
  const { input, retry = false } = options;
  const overflow = checkOverflow(options.overflow);
  if (input === undefined) return retried(core, read$(core, value, options), options);
  if (retry !== false && isOneShot(input))
    throw new TypeError(
      'retry: expected an input that can be sent again, or a function that returns one, got one that can be read only once',
    );
  return retried(core, fed$(core, value, options, input, overflow), options);
}

/** Opens a stream for each subscription. The open carries the end. */
function read$(core: PeerCore, value: unknown, options: OpenOptions): Observable<unknown> {
  return new GuardedObservable((subscriber) => {
    const stream = openFor(subscriber, core, value, 'end', options);
    return stream?.readBy(readerOf(subscriber, stream));
  });
}

/** Opens a stream for each subscription, and sends the input on it. */
function fed$(core: PeerCore, value: unknown, options: OpenOptions, input: Input<unknown>, overflow: Overflow): Observable<unknown> {
  return new GuardedObservable((subscriber) => {
    let isFed = false;
    subscriber.add(() => {
      if (!isFed) releaseInput(input);
    });
    const stream = openFor(subscriber, core, value, 'continue', options);
    if (stream === undefined) return undefined;
    if (stream.failure !== null) return stream.readBy(readerOf(subscriber, stream));
    if (subscriber.closed) {
      // An interceptor or `onOpen` has unsubscribed, so rxjs no longer reads the stream.
      stream.cancel();
      return undefined;
    }
    const sent$ = new Observable((sending) => {
      isFed = true;
      new FeedRelay(sending, stream).run(input, overflow);
    });
    return both(stream.facade, sent$).subscribe(subscriber);
  });
}

/**
 * Makes a call again as its option `retry` says.
 *
 * @throws TypeError for an invalid `retry`
 */
function retried(core: PeerCore, call$: Observable<unknown>, { retry = false, signal }: OpenOptions): Observable<unknown> {
  if (retry === false) return call$;
  if (retry !== 'safe') checkObject('retry', retry, "false, 'safe' or { count, delay }");
  if (signal != null) checkSignal(signal);
  const resolved = checkRetry(retry);
  return new GuardedObservable((subscriber) => {
    new Attempts(call$, subscriber, resolved, () => conditionsOf(core, signal)).begin();
  });
}

/** Allows another attempt while the peer may have a socket. An abort ends the delay; the next attempt fails with it. */
function conditionsOf(core: PeerCore, signal: AbortSignal | undefined): RetryConditions {
  return {
    hurry$: signal && eventsOf(signal, 'abort'),
    over$: core.status.status$.pipe(mapPresent((now) => (isOver(now) ? now : null))),
    mayRetry: core.openConnection !== null || core.expectsSocket,
  };
}

const NOT_OPEN = { ...abnormalClose('the connection is not open'), willRetry: false };

/** Resolves with the round trip of a ping in ms. Like any call, it waits for a connection if one may come. */
export function ping(core: PeerCore): Promise<number> {
  return unheeded((resolve, fail) => {
    pingOnce(core, resolve, fail);
  });
}

function pingOnce(core: PeerCore, answered: (rttMs: number) => void, failed: (error: unknown) => void): void {
  const { lastConnection, source, status } = core;
  const lost = (reason: CloseReason): void => {
    failed(new ConnectionLostError(reason));
  };
  if (lastConnection !== null) pacedPing(lastConnection.control, answered, lost);
  else if (source.expectsSocket) {
    source.ensureDialing();
    status.whenOpened(() => {
      pingOnce(core, answered, failed);
    }, failed);
  } else lost(status.now.state === 'closed' ? status.now.reason : NOT_OPEN);
}
