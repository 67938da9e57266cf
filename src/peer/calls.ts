import { Observable, asyncScheduler } from 'rxjs';
import type { TeardownLogic, Unsubscribable } from 'rxjs';
import { Connection } from '../connection/connection.js';
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

/** A subscriber. Its unsubscription runs the added teardowns. */
interface Subscribing extends Reader {
  add(teardown: TeardownLogic): void;
}

/** Opens a stream for a subscriber. Returns `undefined` if `open` throws, and passes the error on as {@link failLater a late error}. */
export function openFor(subscriber: Subscribing, open: () => StreamCore): StreamCore | undefined {
  try {
    return open();
  } catch (error) {
    failLater(subscriber, error);
    return undefined;
  }
}

/** Connects a subscriber to the stream opened for it. The error of a stream that failed at once comes on a later turn. */
export function readOpened(subscriber: Subscribing, stream: StreamCore): Unsubscribable {
  return stream.readBy(stream.isOver ? new LateError(subscriber) : subscriber);
}

/** Fails a subscriber on a later turn. Otherwise a bare `retry()` of a call that fails at once would never return. */
export function failLater(subscriber: Pick<Subscribing, 'add' | 'error'>, error: unknown): void {
  subscriber.add(
    asyncScheduler.schedule(() => {
      subscriber.error(error);
    }),
  );
}

/** Reads a stream that ended before the subscription. Delivers its error on a later turn. */
class LateError implements Reader {
  constructor(private readonly subscriber: Subscribing) {}

  next(value: unknown): void {
    this.subscriber.next(value);
  }

  error(error: unknown): void {
    failLater(this.subscriber, error);
  }

  complete(): void {
    this.subscriber.complete();
  }
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

/** The calls of one peer. Each opens a stream, and enforces its deadline and its signal. */
export class Calls {
  constructor(private readonly core: PeerCore) {}

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
    stream.send(frame);
    for (const { hook } of core.hooks.calls.entries) hook(stream.facade, intent === 'notify');
    // After the send: a socket takes this stream with its open already queued.
    if (stream.id === null && !stream.isClosed) this.#sendWaiting(stream);
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
      const { isOver } = stream;
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
    const call$ = isFed ? fedCall(this, value, options) : this.read$(value, options);
    return this.#retried(call$, options);
  }

  /** Opens a stream for each subscription. The open carries the end. */
  read$(value: unknown, options: OpenOptions): Observable<unknown> {
    return new GuardedObservable((subscriber) => {
      // rxjs also subscribes subscribers that have unsubscribed meanwhile. No stream is opened for them.
      const stream = subscriber.closed ? undefined : openFor(subscriber, () => this.open(value, 'end', options));
      return stream && readOpened(subscriber, stream);
    });
  }

  #retried(call$: Observable<unknown>, options: OpenOptions): Observable<unknown> {
    const { retry = false } = options;
    return retry === false ? call$ : retriedCall(this.core, call$, retry, options);
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

  /** Passes a new stream to the connection, or to the queue in which it waits. */
  #place(stream: StreamCore, open: OutgoingFrame): void {
    const place = this.#placeOf(stream);
    if (place instanceof Connection) place.adopt(stream);
    else place.enqueue(stream, OutgoingFrame.encodedPayload(open));
  }

  /** Sends the waiting streams up to this one, or dials for it. Code of the user may have closed the peer meanwhile. */
  #sendWaiting(stream: StreamCore): void {
    const { core } = this;
    const { openConnection } = core;
    if (openConnection !== null) core.waiting.flushTo(openConnection, core.notifications);
    else if (core.expectsSocket) core.source.ensureDialing();
    else core.waiting.refuse(stream, core.status.now, core.epitaph);
  }

  /** Returns the open connection, or the queue in which a new stream has to wait. */
  #placeOf({ isNotification }: StreamCore): Connection | Waiting {
    const { core } = this;
    const { openConnection, waiting, notifications } = core;
    const follows = isNotification && notifications.delays(openConnection);
    if (openConnection === null) return follows && core.expectsSocket ? notifications : waiting;
    if (!waiting.empty) return waiting;
    if (follows) return notifications;
    // The connection's ids are used up (S1). If another socket can be dialed, the stream waits for that one. A stream also waits while
    // `calls$` emits it: a subscriber may send and open streams, and opens are sent in the order of their ids, ahead of data.
    const waits = openConnection.isExhausted ? core.source.replace() : core.hooks.calls.entries.length > 0;
    return waits ? waiting : openConnection;
  }
}

/**
 * Opens a stream for each subscription, and sends the input on it. Completes when the remote has ended and the input is done.
 *
 * @throws TypeError for an unknown `overflow`, and for `retry` with an input that emits its values only once
 */
function fedCall(calls: Calls, value: unknown, options: OpenOptions & InputOptions): Observable<unknown> {
  const { input, retry = false } = options;
  const overflow = checkOverflow(options.overflow);
  if (input === undefined) return calls.read$(value, options);
  if (retry !== false && isOneShot(input))
    throw new TypeError(
      'retry: expected an input that can be sent again, or a function that returns one, got one that can be read only once',
    );
  return fed$(calls, value, options, input, overflow);
}

function fed$(calls: Calls, value: unknown, options: OpenOptions, input: Input<unknown>, overflow: Overflow): Observable<unknown> {
  return new GuardedObservable((subscriber) => {
    let isFed = false;
    subscriber.add(() => {
      if (!isFed) releaseInput(input);
    });
    const stream = subscriber.closed ? undefined : openFor(subscriber, () => calls.open(value, 'continue', options));
    if (stream === undefined) return undefined;
    if (stream.failure !== null) return readOpened(subscriber, stream);
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
function retriedCall(core: PeerCore, call$: Observable<unknown>, retry: 'safe' | Retry, options: OpenOptions): Observable<unknown> {
  if (retry !== 'safe') checkObject('retry', retry, "false, 'safe' or { count, delay }");
  const { signal } = options;
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
