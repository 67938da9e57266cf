import { takeWhile } from 'rxjs';
import type { ObservableInput, TeardownLogic } from 'rxjs';
import { LateContext } from '../../transport/async-context.js';
import { guard } from '../../rx/guard.js';
import { observableFrom, pullSource, refuseBytes } from './input.js';
import type { Input, PullSource } from './input.js';
import { OverflowBuffer } from './overflow.js';
import type { Outlet, Overflow } from './overflow.js';
import type { Pull } from './stream-iterator.js';

/**
 * Takes everything an input gives to an outlet: iterables, async iterables, ReadableStreams and streams are pulled while
 * there is room, other Observables push, and `overflow` says what becomes of a value without room.
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
  // A synchronous source is stopped by its answer: `subscribe` has not returned, so there is nothing to unsubscribe.
  const wantsMoreAfter = (value: unknown): boolean => {
    if (!outlet.closed) policy.next(value);
    return !outlet.closed;
  };
  const subscription = observableFrom(input)
    .pipe(takeWhile(wantsMoreAfter))
    .subscribe({
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

/** Asks for the next value only while there is room, in the async context of the call: another one may have made the room. */
function pull(source: PullSource, outlet: Outlet): () => void {
  const context = new LateContext();
  let exhausted = false;
  let asked = false;
  let stepping = false;
  const give = (value: unknown): void => {
    asked = false;
    outlet.send(value);
    step();
  };
  const taker: Pull<unknown> = {
    resolve({ done, value }) {
      if (done === true) {
        exhausted = true;
        outlet.complete();
      } else if (!outlet.full) give(value);
      // Pulled while there was demand, but the limit was reached since: it waits for room.
      else waitFor('whenRoom', () => give(value));
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
  // A loop, because what is there at once would otherwise be asked for from within the answer before.
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
    // What ends the stream meanwhile stops the source.
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
