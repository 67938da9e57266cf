import { Observable, isObservable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { log } from '../logger.js';
import { completeGuarded, guard } from '../rx/subscribers.js';
import { HookList } from '../rx/values.js';
import { endAnswer, failAnswer, stopUpload } from '../stream/answer.js';
import { NO_ON_HELLO, isMarked } from '../stream/hello-mark.js';
import type { StreamCore } from '../stream/stream-core.js';
import type { Stream } from '../stream/stream.js';
import { checkFunction, isThenable } from '../util/check.js';
import { ResetCode } from '../wire/codes.js';
import { ABSENT } from '../wire/frame.js';
import type { PeerCore } from './core.js';
import type { Remove, StreamHandler } from './hooks.js';

/** Calls a handler to answer a stream, and `settled` when the handler has finished. `what` names the handler in the log. */
export function runHandler(handler: StreamHandler, stream: StreamCore, settled?: (failed: boolean) => void, what?: string): void {
  const answered = (result: unknown): void => {
    if (result !== undefined && !stream.isTaken && stream.cause === null) warnOfResult(handler, result);
    stream.handlerSettled();
    endAnswer(stream);
    settled?.(false);
  };
  const failed = (error: unknown): void => {
    stream.handlerSettled();
    failAnswer(stream, error, what);
    stopUpload(stream);
    settled?.(true);
  };
  stream.handlerStarted();
  try {
    const { payload } = stream;
    const result = handler(payload === ABSENT ? null : payload, stream.facade);
    // Convert to a promise, because any other thenable may settle twice.
    if (isThenable(result)) Promise.resolve(result).then(answered, failed);
    else answered(result);
  } catch (error) {
    failed(error);
  }
}

/** Handlers already warned about their ignored return value. */
const warned = new WeakSet<StreamHandler>();

function warnOfResult(handler: StreamHandler, result: unknown): void {
  if (warned.has(handler)) return;
  warned.add(handler);
  const what = isObservable(result) ? 'an Observable' : `a value (${typeof result})`;
  log(
    'warn',
    `a handler returned ${what} and sent nothing, and what it returns goes nowhere: answer with stream.reply(), stream.sendAll() or respond()`,
  );
}

/** Why no code takes a stream: an error for its opener, or the reason of a refusal. */
type Untaken = () => Error | string;

/** Reasons of operators for streams that no code takes. */
const untaken = new WeakMap<Stream, Untaken>();

/** Sets the error for an untaken stream, or the reason of its refusal. An operator calls it to name a better reason. */
export function whenUntaken(stream: Stream, why: Untaken): void {
  untaken.set(stream, why);
}

/** Sees each stream of the remote before its handlers do. */
export interface Gate {
  /** Whether the remote has been admitted, so that a broadcast may reach it. */
  readonly isOpen: boolean;
  /** Returns whether the stream goes on to the handlers. Otherwise the gate has answered it. */
  admits(stream: StreamCore): boolean;
  /** A socket has opened. */
  socketOpened(): void;
  /** The peer has ended. */
  close(): void;
}

/** Offers each stream of the remote to the subscribers of `streams$`, then to the handler. The first that uses the stream takes it. */
export class IncomingStreams {
  #streams$: Observable<Stream> | null = null;
  readonly #subscribers = new HookList<Subscriber<Stream>>();
  /** In an object of its own: the same function may be registered again. */
  #registered: { readonly handler: StreamHandler } | null = null;
  /** `null` if every stream goes to the handlers. */
  gate: Gate | null = null;
  /** Whether this side is an acceptor without `onHello`: its handlers are for ordinary streams (C13). */
  refusesHellos = false;

  constructor(private readonly core: PeerCore) {}

  get streams$(): Observable<Stream> {
    return (this.#streams$ ??= new Observable((subscriber) => {
      if (this.core.hasClosed) subscriber.complete();
      else subscriber.add(this.#subscribers.add(subscriber));
    }));
  }

  /** Sets the only handler. A second one replaces the first, with a warning. */
  setHandler(handler: StreamHandler): Remove {
    checkFunction('onStream', handler);
    if (this.#registered !== null) log('warn', 'a second onStream handler replaces the first; there is one per peer');
    const registered = (this.#registered = { handler });
    return () => {
      if (registered === this.#registered) this.#registered = null;
    };
  }

  receive(stream: StreamCore): void {
    for (const { hook } of this.core.hooks.incomingHeaders.entries) hook(stream.headers, stream.facade);
    if (this.refusesHellos && isMarked(stream)) stream.refuse(NO_ON_HELLO);
    else if (this.gate?.admits(stream) !== false) this.#answer(stream);
  }

  /** Called when the peer has ended. */
  complete(): void {
    this.gate?.close();
    for (const { hook: subscriber } of this.#subscribers.entries) completeGuarded('a subscriber of streams$', subscriber);
  }

  #answer(stream: StreamCore): void {
    const { tracer } = this.core;
    if (tracer === null) this.#offer(stream);
    else
      tracer.answering(stream, () => {
        this.#offer(stream);
      });
  }

  #offer(stream: StreamCore): void {
    // An interceptor may have closed the stream; then there is nothing to answer.
    if (stream.cause !== null) return;
    for (const { hook: subscriber } of this.#subscribers.entries)
      guard('a subscriber of streams$', () => {
        subscriber.next(stream.facade);
      });
    if (stream.isTaken || stream.cause !== null) return;
    if (this.#registered === null) this.#refuse(stream);
    else runHandler(this.#registered.handler, stream);
  }

  /** Ends a stream that no code takes. A refusal can be retried; the error of an operator says more. */
  #refuse(stream: StreamCore): void {
    const others = this.#subscribers.entries.length === 0 ? 'no operator such as respond()' : 'the subscribers of streams$ left it';
    const why = untaken.get(stream.facade)?.() ?? `no handler took this stream: this side has no onStream handler, and ${others}`;
    if (typeof why === 'string') stream.refuse(why);
    else {
      stream.owner.refused(ResetCode.APPLICATION_ERROR, why.message, stream.label);
      failAnswer(stream, why);
    }
  }
}
