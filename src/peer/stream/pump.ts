import { Observable } from 'rxjs';
import type { ObservableInput, Subscriber, TeardownLogic } from 'rxjs';
import { LateContext } from '../../util/async-context.js';
import { guard } from '../../rx/guard.js';
import { Relay } from '../../rx/relay.js';
import { observableFrom, pullSource, refuseBytes } from '../../stream/input.js';
import type { Input } from '../../stream/input.js';
import { OverflowBuffer } from './overflow.js';
import type { Outlet, Overflow } from './overflow.js';
import type { PullSource } from './pull-source.js';
import type { Pull } from '../../stream/iterator.js';

/**
 * Sends all values of an input to an outlet. It pulls iterables, async iterables, ReadableStreams and streams while there is room. Other
 * Observables push, and `overflow` decides about a value without room.
 */
export function pump(input: Input<unknown>, outlet: Outlet, overflow: Overflow): TeardownLogic {
  try {
    const made = typeof input === 'function' ? input() : input;
    refuseBytes(made);
    const source = pullSource(Object(made) as object);
    return source === null ? push(made as ObservableInput<unknown>, outlet, overflow) : pull(source, outlet);
  } catch (error) {
    outlet.fail(error);
    return undefined;
  }
}

function push(input: ObservableInput<unknown>, outlet: Outlet, overflow: Overflow): TeardownLogic {
  const policy = new OverflowBuffer(outlet, overflow);
  const pushed$ = new Observable<never>((subscriber) => observableFrom(input).subscribe(new PushRelay(subscriber, outlet, policy)));
  const subscription = pushed$.subscribe({
    error: (error: unknown) => {
      outlet.fail(error);
    },
    complete: () => {
      policy.complete();
    },
  });
  const context = new LateContext();
  if (!subscription.closed) context.take();
  return () => {
    context.run(() => {
      guard('ending an input', () => subscription.unsubscribe());
    });
  };
}

/** Stops a source that emits within `subscribe`, where there is no subscription yet: it completes once the outlet has closed. */
class PushRelay extends Relay<unknown> {
  constructor(
    to: Subscriber<never>,
    private readonly outlet: Outlet,
    private readonly policy: OverflowBuffer,
  ) {
    super(to);
  }

  protected take(value: unknown): void {
    if (!this.outlet.closed) this.policy.next(value);
    if (this.outlet.closed) this.complete();
  }
}

/** Pulls the next value only while there is room. Pulls in the async context of its call, because another call may have made the room. */
function pull(source: PullSource, outlet: Outlet): () => void {
  const context = new LateContext();
  let exhausted = false;
  let asked = false;
  let stepping = false;
  const send = (value: unknown): void => {
    asked = false;
    outlet.send(value);
    step();
  };
  const taker: Pull<unknown> = {
    resolve({ done, value }) {
      if (done === true) {
        exhausted = true;
        outlet.complete();
      } else if (!outlet.full) send(value);
      // There was demand at the pull, but the queue has since reached its limit. So the value waits for room.
      else waitFor('whenRoom', () => send(value));
    },
    reject(error) {
      exhausted = true;
      outlet.fail(error);
    },
  };
  const waitFor = (what: 'whenRoom' | 'whenDemand', task: () => void): void => {
    context.take();
    outlet[what](() => {
      context.run(task);
    });
  };
  // A loop, because a synchronous source would otherwise recurse: each answer would pull the next value.
  const step = (): void => {
    if (stepping) return;
    stepping = true;
    while (!asked && !exhausted && !outlet.closed && outlet.hasDemand) {
      asked = true;
      try {
        source.pull(taker);
      } catch (error) {
        taker.reject(error);
      }
    }
    stepping = false;
    if (exhausted || outlet.closed) return;
    // Code that ends the stream meanwhile also stops the source, so keep the context.
    if (asked) context.take();
    // `whenDemand` may call `step` synchronously.
    else waitFor('whenDemand', step);
  };
  step();
  return () => {
    if (!exhausted)
      context.run(() => {
        guard('ending an input', () => source.stop());
      });
  };
}
