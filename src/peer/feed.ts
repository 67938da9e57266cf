import { from, Observable } from 'rxjs';
import type { ObservableInput, Subscriber, TeardownLogic } from 'rxjs';
import { ABSENT } from '../wire/frame.js';
import { ResetCode } from '../wire/reset-code.js';
import type { StreamCore } from './stream-core.js';

/** Something that gives its next value when asked. */
interface PullSource {
  next(): IteratorResult<unknown> | Promise<IteratorResult<unknown>>;
  stop(): void;
}

/**
 * Sends everything an input gives, while subscribed: iterables, async iterables, ReadableStreams and streams are pulled as
 * the queue drains, other Observables push.
 *
 * Completes when all has been accepted, and where the remote needs no more (NO_ERROR). Errors with the input's error, after
 * the stream was reset with it, or with what ended the stream.
 */
export function feed(core: StreamCore, input: ObservableInput<unknown>, end: boolean): Observable<never> {
  return new Observable((subscriber) => {
    const removed = core.extras.whenGone(() => {
      stopped(core, subscriber);
    });
    subscriber.add(removed);
    core.taken();
    if (core.cause !== null) stopped(core, subscriber);
    else subscriber.add(start(core, input, new Outlet(core, subscriber, end)));
  });
}

/** {@link feed} as a promise whose rejection need not be handled. */
export function sendAll(core: StreamCore, input: ObservableInput<unknown>, end: boolean): Promise<void> {
  const sent = new Promise<void>((resolve, reject) => {
    feed(core, input, end).subscribe({ error: reject, complete: resolve });
  });
  sent.catch(() => undefined);
  return sent;
}

/** Where an input's values go. What goes wrong on the way ends the stream, once. */
class Outlet {
  constructor(
    readonly core: StreamCore,
    private readonly subscriber: Subscriber<never>,
    private readonly end: boolean,
  ) {}

  get closed(): boolean {
    return this.subscriber.closed;
  }

  send(value: unknown): void {
    this.#guarded(() => {
      if (value === undefined) throw new TypeError('expected a value to send, got undefined; null is a value');
      void this.core.send(value, undefined, false);
    });
  }

  complete(): void {
    this.#guarded(() => {
      if (this.end && !this.core.line.sealed) void this.core.send(ABSENT, undefined, true);
      this.subscriber.complete();
    });
  }

  fail(error: unknown): void {
    if (this.closed) return;
    this.subscriber.error(error);
    this.core.fail(error);
  }

  #guarded(step: () => void): void {
    if (this.closed) return;
    try {
      step();
    } catch (error) {
      this.fail(error);
    }
  }
}

function stopped(core: StreamCore, subscriber: Subscriber<never>): void {
  const { cause } = core;
  if (cause?.how === 'ended' || (cause?.how === 'reset' && cause.code === ResetCode.NO_ERROR)) subscriber.complete();
  else subscriber.error(core.error);
}

function start(core: StreamCore, input: ObservableInput<unknown>, outlet: Outlet): TeardownLogic {
  let source: PullSource | null;
  try {
    source = pullSource(input);
  } catch (error) {
    outlet.fail(error);
    return undefined;
  }
  if (source !== null) return pull(core, source, outlet);
  return from(input).subscribe({
    next: (value) => {
      outlet.send(value);
    },
    error: (error: unknown) => {
      outlet.fail(error);
    },
    complete: () => {
      outlet.complete();
    },
  });
}

function pullSource(input: ObservableInput<unknown>): PullSource | null {
  if (Symbol.asyncIterator in input) {
    const iterator = input[Symbol.asyncIterator]();
    return { next: () => iterator.next(), stop: () => void iterator.return?.().then(undefined, () => undefined) };
  }
  if ('getReader' in input) {
    const reader = (input as ReadableStream<unknown>).getReader();
    return {
      next: () => reader.read() as Promise<IteratorResult<unknown>>,
      stop: () => void reader.cancel().then(undefined, () => undefined),
    };
  }
  if (Symbol.iterator in Object(input)) {
    const iterator = (input as Iterable<unknown>)[Symbol.iterator]();
    return { next: () => iterator.next(), stop: () => void iterator.return?.() };
  }
  return null;
}

/** Asks for the next value only while the stream's queue is short. */
function pull(core: StreamCore, source: PullSource, outlet: Outlet): () => void {
  let exhausted = false;
  const accept = (result: IteratorResult<unknown>): void => {
    if (result.done !== true) {
      outlet.send(result.value);
      return;
    }
    exhausted = true;
    outlet.complete();
  };
  const step = (): void => {
    try {
      while (!outlet.closed && !exhausted) {
        if (!core.line.hasRoom) {
          core.line.whenRoom(step);
          return;
        }
        const result = source.next();
        if (result instanceof Promise) {
          result.then(accept).then(step, (error: unknown) => {
            exhausted = true;
            outlet.fail(error);
          });
          return;
        }
        accept(result);
      }
    } catch (error) {
      exhausted = true;
      outlet.fail(error);
    }
  };
  step();
  return () => {
    if (!exhausted) source.stop();
  };
}
