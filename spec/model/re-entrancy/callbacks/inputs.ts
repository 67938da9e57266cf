import { concat, defer, finalize, NEVER, of, Subscription } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import type { Stream } from '../../../../src/index.js';
import type { Callback } from './callback.js';

type Make = (inside: () => void) => ObservableInput<unknown>;

/** The near peer sends the result of `make`, as the input of a call and as an answer. */
const input = (where: string, make: Make, throws?: Callback['throws']): readonly Callback[] => [
  {
    where: `${where} of a call`,
    ...(throws === undefined ? {} : { throws }),
    hang(scene, run) {
      let stream: Stream | null = null;
      const subscription = new Subscription();
      const onOpen = (opened: Stream): void => {
        stream = scene.keep(opened);
      };
      const inside = (): void => run({ stream, subscription });
      subscription.add(scene.read('a call', scene.near.open$('sink', { input: () => make(inside), onOpen, timeoutMs: 1_000 })));
    },
  },
  {
    where: `${where} of an answer`,
    ...(throws === undefined ? {} : { throws }),
    hang(scene, run) {
      scene.answer('ask', (stream) => stream.sendAll(make(() => run({ stream }))).catch(() => undefined));
    },
  },
];

/** An iterator of two values. The third value of an asynchronous one is requested and never arrives. */
class Steps {
  #given = 0;

  constructor(
    private readonly onNext: () => void,
    private readonly onReturn: () => void = () => undefined,
  ) {}

  next(): IteratorResult<number> {
    this.onNext();
    return { done: false, value: ++this.#given };
  }

  return(): IteratorResult<number> {
    this.onReturn();
    return { done: true, value: undefined };
  }
}

const nothing = (): void => undefined;

const sync = (onNext: () => void, onReturn = nothing): Iterable<number> => {
  const steps = new Steps(onNext, onReturn);
  // It ends by itself. Otherwise no other task would have a turn.
  let left = 3;
  return {
    [Symbol.iterator]: () => ({
      next: () => (left-- > 0 ? steps.next() : { done: true, value: undefined }),
      return: () => steps.return(),
    }),
  };
};

const async = (onNext: () => void, onReturn = nothing): AsyncIterable<number> => {
  const steps = new Steps(onNext, onReturn);
  let left = 2;
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => (left-- > 0 ? Promise.resolve().then(() => steps.next()) : new Promise<never>(nothing)),
      return: () => Promise.resolve().then(() => steps.return()),
    }),
  };
};

const readable = (onPull: () => void, onCancel = nothing): ReadableStream<number> => {
  let given = 0;
  return new ReadableStream({
    pull(controller) {
      onPull();
      if (given < 2) controller.enqueue(++given);
      return given < 2 ? undefined : new Promise(nothing);
    },
    cancel: onCancel,
  });
};

export const INPUTS: readonly Callback[] = [
  ...input('next() of an iterable', (inside) => sync(inside)),
  ...input('next() of an async iterable', (inside) => async(inside)),
  ...input('return() of an async iterable', (inside) => async(nothing, inside), 'log'),
  ...input('pull() of a ReadableStream', (inside) => readable(inside)),
  ...input('cancel() of a ReadableStream', (inside) => readable(nothing, inside), 'log'),
  ...input('the beginning of an Observable', (inside) =>
    defer(() => {
      inside();
      return of(1, 2);
    }),
  ),
  ...input('the middle of an Observable', (inside) =>
    concat(
      of(1),
      defer(() => (inside(), of(2))),
      NEVER,
    ),
  ),
  ...input('the teardown of an Observable', (inside) => concat(of(1, 2), NEVER).pipe(finalize(inside)), 'log'),
  ...input('the teardown of an Observable that completes', (inside) => of(1, 2).pipe(finalize(inside))),
];
