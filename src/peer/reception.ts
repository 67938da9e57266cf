import { isObservable, Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { log } from '../logger.js';
import type { LiveStream } from '../session/live-stream.js';
import { ABSENT } from '../wire/frame.js';
import type { CompleteFrame } from '../wire/frame.js';
import { ResetCode } from '../wire/reset-code.js';
import { endAnswer, failAnswer, stopUpload } from './answer.js';
import { guard, isThenable } from './guard.js';
import { HookList } from './hooks.js';
import type { Remove, StreamHandler } from './hooks.js';
import type { PeerCore } from './peer-core.js';
import type { Stream } from './stream.js';
import { StreamCore } from './stream-core.js';

/** Who takes the streams that the remote opens: first whoever subscribes to `streams$` and uses one, then the handler. */
export class Reception {
  readonly streams$: Observable<Stream>;
  readonly #subscribers = new HookList<Subscriber<Stream>>();
  #handler: StreamHandler | null = null;
  /** Greets the first stream; until it has replied, every other is refused. */
  #greeter: StreamHandler | null = null;
  #helloTimeoutMs = 0;
  /** That first stream. */
  #hello: StreamCore | null = null;
  /** Lifts the deadline of the hello. */
  #patience: () => void = () => undefined;

  constructor(private readonly core: PeerCore) {
    this.streams$ = new Observable((subscriber) => {
      if (this.core.isClosed) subscriber.complete();
      else subscriber.add(this.#subscribers.add(subscriber));
    });
  }

  /** Sets the one handler. A second replaces the first, with a warning. */
  handle(handler: StreamHandler): Remove {
    if (this.#handler !== null) log('warn', 'rxmux: a second onStream handler replaces the first; there is one per peer');
    this.#handler = handler;
    return () => {
      if (this.#handler === handler) this.#handler = null;
    };
  }

  /** Sets the handler of the first stream; its rejection closes the peer, and so does taking longer than `timeoutMs`. */
  greetWith(handler: StreamHandler, timeoutMs: number): void {
    this.#greeter = handler;
    this.#helloTimeoutMs = timeoutMs;
  }

  /** A socket is there: its hello has its time from now on. */
  adopted(): void {
    if (this.#greeter === null) return;
    const patience = {
      expire: () => {
        if (!this.#welcomed) this.core.rejectHello();
      },
    };
    const deadline = this.core.deadlines.add(patience, this.#helloTimeoutMs);
    this.#patience = () => {
      if (deadline !== null) this.core.deadlines.lift(deadline);
    };
  }

  receive(live: LiveStream, open: CompleteFrame): void {
    const headers = open.headers === null ? null : Object.freeze(open.headers);
    const stream = new StreamCore(this.core, live, headers, open.payload);
    live.sink = stream;
    if (open.end) {
      stream.trailers = open.trailers;
      stream.finish();
    }
    if (!this.core.hooks.incomingHeaders.empty) this.core.hooks.arrived(stream.headers, stream.stream);
    if (this.#greeter === null || this.#welcomed) this.#offer(live, stream);
    else this.#greet(this.#greeter, live, stream);
  }

  /** The peer has ended. */
  complete(): void {
    this.#patience();
    for (const subscriber of this.#subscribers) subscriber.complete();
  }

  /** Whether the hello was answered in full: a reset is no answer, whoever sent it. */
  get #welcomed(): boolean {
    const hello = this.#hello;
    if (hello === null || !hello.line.sealed) return false;
    const { cause } = hello;
    return (
      cause === null || cause.how === 'ended' || (cause.how === 'reset' && cause.by === 'library' && cause.code === ResetCode.NO_ERROR)
    );
  }

  #greet(greeter: StreamHandler, live: LiveStream, stream: StreamCore): void {
    if (this.#hello !== null) {
      live.refuse('the hello has not been answered yet');
      return;
    }
    this.#hello = stream;
    if (stream.cause !== null) {
      this.core.rejectHello();
      return;
    }
    run(greeter, live, stream, (failed) => {
      this.#patience();
      if (failed || !this.#welcomed) this.core.rejectHello();
    });
  }

  #offer(live: LiveStream, stream: StreamCore): void {
    // An interceptor may have closed it, which leaves nothing to answer.
    if (stream.cause !== null) return;
    for (const subscriber of this.#subscribers)
      guard('a subscriber of streams$', () => {
        subscriber.next(stream.stream);
      });
    if (stream.isTaken || stream.cause !== null) return;
    if (this.#handler === null) live.refuse('nobody answers streams here');
    else run(this.#handler, live, stream);
  }
}

/** Has a handler answer a stream. */
function run(handler: StreamHandler, live: LiveStream, stream: StreamCore, settled?: (failed: boolean) => void): void {
  live.run();
  try {
    const { payload } = stream;
    const result = handler(payload === ABSENT ? null : payload, stream.stream);
    if (isObservable(result))
      log('warn', 'rxmux: a handler returned an Observable, which nobody subscribes to: answer with stream.sendAll() or respond()');
    if (!isThenable(result)) done(live, stream, settled);
    else
      result.then(
        () => {
          done(live, stream, settled);
        },
        (error: unknown) => {
          failed(error, live, stream, settled);
        },
      );
  } catch (error) {
    failed(error, live, stream, settled);
  }
}

function done(live: LiveStream, stream: StreamCore, settled?: (failed: boolean) => void): void {
  live.settle();
  endAnswer(stream);
  settled?.(false);
}

function failed(error: unknown, live: LiveStream, stream: StreamCore, settled?: (failed: boolean) => void): void {
  live.settle();
  failAnswer(stream, error);
  stopUpload(stream);
  settled?.(true);
}
