import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { log } from '../logger.js';
import { completeGuarded, guard } from '../rx/guard.js';
import { HookList } from '../rx/hook-list.js';
import type { Stream } from '../stream/stream.js';
import { checkFunction } from '../wire/check.js';
import { ResetCode } from '../wire/codes.js';
import type { AnswerHost, Incoming } from './answers/answer-host.js';
import type { HelloAcceptor } from './answers/hello-acceptor.js';
import { NO_HANDLER } from './answers/refuse-all.js';
import { runHandler } from './answers/run-handler.js';
import { warnOfRefusal } from './base/log-refusal.js';
import type { Remove, StreamHandler } from './hooks.js';
import { failAnswer } from './stream/answer.js';
import type { StreamCore } from './stream/stream-core.js';
import { untakenError } from './stream/untaken.js';

/** Makes a peer offer its remote's streams to handlers and subscribers, unless it does so already. */
export function serving(host: AnswerHost): IncomingStreams {
  if (host.incoming instanceof IncomingStreams) return host.incoming;
  return (host.incoming = new IncomingStreams(host));
}

/** Offers each stream of the remote to the subscribers of `streams$`, then to the handler. The first that uses the stream takes it. */
export class IncomingStreams implements Incoming {
  #streams$: Observable<Stream> | null = null;
  readonly #subscribers = new HookList<Subscriber<Stream>>();
  #handler: StreamHandler | null = null;
  #helloAcceptor: HelloAcceptor | null = null;

  constructor(private readonly host: AnswerHost) {}

  get streams$(): Observable<Stream> {
    return (this.#streams$ ??= new Observable((subscriber) => {
      if (this.host.isClosed) subscriber.complete();
      else subscriber.add(this.#subscribers.add(subscriber));
    }));
  }

  /** Sets the only handler. A second one replaces the first, with a warning. */
  setHandler(handler: StreamHandler): Remove {
    checkFunction('onStream', handler);
    if (this.#handler !== null) log('warn', 'a second onStream handler replaces the first; there is one per peer');
    this.#handler = handler;
    return () => {
      if (this.#handler === handler) this.#handler = null;
    };
  }

  /** Passes the first stream to `acceptor`, which refuses the others until that stream is answered. */
  expectHello(acceptor: HelloAcceptor): void {
    this.#helloAcceptor = acceptor;
  }

  /** Starts the time limit of the hello, because a socket has opened. */
  socketOpened(): void {
    this.#helloAcceptor?.socketOpened();
  }

  receive(stream: StreamCore): void {
    const { incomingHeaders } = this.host.hooks;
    for (const { hook } of incomingHeaders.entries) hook(stream.headers, stream.facade);
    if (this.#helloAcceptor?.isAnswered === false) this.#helloAcceptor.receive(stream);
    else this.#answer(stream);
  }

  /** Called when the peer has ended. */
  complete(): void {
    this.#helloAcceptor?.stop();
    for (const { hook: subscriber } of this.#subscribers.entries) completeGuarded('a subscriber of streams$', subscriber);
  }

  #answer(stream: StreamCore): void {
    const { tracer } = this.host;
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
    if (this.#handler === null) this.#refuse(stream);
    else runHandler(this.#handler, stream);
  }

  /** Ends a stream that no code takes. A refusal can be retried; the error of an operator says more. */
  #refuse(stream: StreamCore): void {
    const error = untakenError(stream.facade);
    if (error === undefined) stream.refuse(this.#untaken());
    else {
      warnOfRefusal(stream.label, ResetCode.APPLICATION_ERROR, error.message);
      failAnswer(stream, error);
    }
  }

  /** Says why no code here answers a stream. */
  #untaken(): string {
    return this.#subscribers.entries.length === 0
      ? NO_HANDLER
      : 'no handler took this stream: the subscribers of streams$ left it, and this side has no onStream handler';
  }
}
