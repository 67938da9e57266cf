import { endedHere } from '../../session/base/close-cause.js';
import { runHandler } from './run-handler.js';
import type { Deadline } from '../../stream/deadlines.js';
import type { HelloLimits, WideningLimits } from './hello-limits.js';
import type { StreamHandler } from '../hooks.js';
import type { AnswerHost } from './answer-host.js';
import { outboxOf } from '../../stream/sending.js';
import type { StreamCore } from '../stream/stream-core.js';

/** How an acceptor answers a hello. */
export interface ExpectedHello {
  readonly handler: StreamHandler;
  /** How long the hello may take from the opening of the socket on, in ms. */
  readonly timeoutMs: number;
  /** Limits of the connection until the hello is accepted. */
  readonly limits: HelloLimits;
}

/**
 * The acceptor's side of the hello (C12). It passes the first stream to `handler`, and refuses all others until the handler has
 * replied.
 */
export class HelloAcceptor {
  #hello: StreamCore | null = null;
  #deadline: Deadline | null = null;

  constructor(
    private readonly host: AnswerHost,
    private readonly expected: ExpectedHello,
    private readonly limits: WideningLimits,
  ) {}

  /** Whether the hello was answered, by a payload or an end (S11). A reset by this side revokes the answer. */
  get isAnswered(): boolean {
    const hello = this.#hello;
    if (hello === null) return false;
    const { cause } = hello;
    if (cause === null || this.#isEndedByDialer()) return outboxOf(hello).replied;
    return endedHere(cause);
  }

  /** Whether the dialer has reset the hello. A reply that was sent before then stands, even if the handler throws later. */
  #isEndedByDialer(): boolean {
    const cause = this.#hello?.cause;
    return cause?.how === 'reset' && cause.by === 'remote';
  }

  /** Starts the time limit of the hello, because a socket has opened. */
  socketOpened(): void {
    const expire = (): void => {
      if (!this.isAnswered) this.host.rejectHello();
    };
    this.#deadline = this.host.deadlines.add({ expire }, this.expected.timeoutMs);
  }

  receive(stream: StreamCore): void {
    if (this.#hello !== null) {
      stream.refuse('the hello has not been answered yet');
      return;
    }
    this.#hello = stream;
    if (stream.cause !== null) {
      this.host.rejectHello();
      return;
    }
    this.#widenWhenAnswered();
    runHandler(this.expected.handler, stream, (failed) => {
      this.stop();
      if (!this.isAnswered || (failed && !this.#isEndedByDialer())) this.host.rejectHello();
    });
  }

  /** Widens the limits as the answer leaves, before the dialer can have read it. */
  #widenWhenAnswered(): void {
    const stopWatching = this.host.ownHooks.frames.add(() => {
      if (!this.isAnswered) return;
      stopWatching();
      this.limits.widen();
    });
  }

  /** Removes the time limit of the hello. */
  stop(): void {
    if (this.#deadline !== null) this.host.deadlines.cancel(this.#deadline);
    this.#deadline = null;
  }
}
