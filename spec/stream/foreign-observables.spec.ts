import { afterEach, describe, expect, it } from '@jest/globals';
import { from, take } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { answer, client, contract, request, stream } from '../../src/contract.js';
import { reopenOnReconnect, respond } from '../../src/index.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { virtualPeerTime } from '../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

/** The functions that a source calls. */
interface Receiver {
  next(value: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

type Produce = (receiver: Receiver) => (() => void) | undefined;

/** The Observable of browsers, as `when()` returns it: `subscribe` returns nothing, and a signal ends the subscription. */
class NativeObservable {
  readonly [Symbol.toStringTag] = 'Observable';

  constructor(private readonly produce: Produce) {}

  subscribe(observer: Partial<Receiver>, { signal }: { readonly signal?: AbortSignal } = {}): void {
    // A browser calls the functions of the dictionary without `this`.
    const { next, error, complete } = observer;
    const stop = this.produce({
      next: (value) => signal?.aborted !== true && next?.(value),
      error: (thrown) => signal?.aborted !== true && error?.(thrown),
      complete: () => signal?.aborted !== true && complete?.(),
    });
    if (signal?.aborted === true) stop?.();
    signal?.addEventListener('abort', () => stop?.());
  }
}

const interop =
  (key: () => PropertyKey, ended: (stop: () => void) => unknown) =>
  (produce: Produce): unknown => ({
    [key()]: () => ({ subscribe: (receiver: Receiver) => ended(produce(receiver) ?? (() => undefined)) }),
  });

const known = Object.getOwnPropertyDescriptor(Symbol, 'observable');

/** As a polyfill that is loaded after rxjs defines it. */
function lateSymbol(): symbol {
  const symbol = Symbol('observable');
  Object.defineProperty(Symbol, 'observable', { configurable: true, value: symbol });
  return symbol;
}

afterEach(() => {
  if (known === undefined) Reflect.deleteProperty(Symbol, 'observable');
  else Object.defineProperty(Symbol, 'observable', known);
});

const KINDS: readonly (readonly [what: string, make: (produce: Produce) => unknown])[] = [
  ['a native Observable', (produce) => new NativeObservable(produce)],
  ['an object with a Symbol.observable that is younger than rxjs', interop(lateSymbol, (stop) => ({ unsubscribe: stop }))],
  [
    "an object with '@@observable'",
    interop(
      () => '@@observable',
      (stop) => ({ unsubscribe: stop }),
    ),
  ],
  ['an object whose subscription is a function', interop(lateSymbol, (stop) => stop)],
];

describe.each(KINDS)('%s', (_what, make) => {
  const of = (...values: unknown[]): ObservableInput<unknown> =>
    make((receiver) => {
      for (const value of values) receiver.next(value);
      receiver.complete();
      return undefined;
    }) as ObservableInput<unknown>;
  const failing = (): ObservableInput<unknown> =>
    make((receiver) => {
      receiver.next(1);
      receiver.error(new Error('broken'));
      return undefined;
    }) as ObservableInput<unknown>;

  it('A call sends its values, and a handler answers with its values', async () => {
    const { dialer, acceptor } = createPair();
    const read: unknown[] = [];
    acceptor.onStream((payload, received) => {
      received.subscribe((value) => read.push(value));
      return received.sendAll(of(payload, 'bye'));
    });
    const told: unknown[] = [];
    dialer.open$('p', { input: of(1, 2) }).subscribe({ next: (value) => told.push(value), complete: () => told.push('complete') });
    await time.advance();
    expect([told, read]).toEqual([
      ['p', 'bye', 'complete'],
      [1, 2],
    ]);
  });

  it('Its error ends the stream', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond(failing)).subscribe();
    const told: unknown[] = [];
    dialer.open$('p').subscribe({ next: (value) => told.push(value), error: (error: unknown) => told.push(String(error)) });
    await time.advance();
    expect(told).toEqual([1, 'RemoteError: broken']);
    expect(logs.errors).toHaveLength(1);
  });

  it('It is left once, when its stream ends first', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, received) => {
      received.reset(300, 'enough');
    });
    const left: string[] = [];
    const input = make(() => () => void left.push('input')) as ObservableInput<unknown>;
    dialer.open$('p', { input }).subscribe({ error: (error: unknown) => left.push(String(error)) });
    await time.advance();
    expect(left).toEqual(['ResetError: stream 1: reset with 300: enough', 'input']);
  });

  it('A reader that takes one value leaves it, also at once', async () => {
    const { dialer } = createPair();
    const seen: unknown[] = [];
    const open = (): ObservableInput<unknown> =>
      make((receiver) => {
        receiver.next('first');
        receiver.next('second');
        return () => void seen.push('left');
      }) as ObservableInput<unknown>;
    reopenOnReconnect(dialer, { open })
      .pipe(take(1))
      .subscribe((value) => seen.push(value));
    await time.advance();
    expect(seen).toEqual(['first', 'left']);
  });

  it('A contract answers with its first value, and with its items', async () => {
    const api = contract({ one: request<string, unknown>(), many: stream<string, unknown>() });
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(answer(api, { one: (payload) => of(payload, 'more'), many: (payload) => of(payload, 2) })).subscribe();
    const calls = client(dialer, api);
    const told: unknown[] = [];
    calls.one('p').subscribe((value) => told.push(value));
    calls.many('q').subscribe((value) => told.push(value));
    await time.advance();
    expect(told).toEqual(['p', 'q', 2]);
  });
});

/** Values of other libraries that do nothing until a program runs them, with the keys by which the library knows them. */
const UNRUN: readonly (readonly [what: string, value: object, text: string])[] = [
  ['an Effect', { [Symbol.for('effect/Effect')]: {}, [Symbol.iterator]: () => [][Symbol.iterator]() }, 'pass Effect.runPromise(effect)'],
  ['an Effect of version 4', { '~effect/Effect': {}, [Symbol.iterator]: () => [][Symbol.iterator]() }, 'pass Effect.runPromise(effect)'],
  [
    'an actor of xstate that is not started',
    { _processingStatus: 0, start: () => 0, '@@observable': () => ({ subscribe: () => ({ unsubscribe: () => undefined }) }) },
    'pass actor.start()',
  ],
];

describe.each(UNRUN)('%s', (_what, value, text) => {
  const unrun = value as ObservableInput<unknown>;
  const refusal = `expected a source that runs: ${text}`;

  it('It is refused as an input, with the line that runs it', async () => {
    const { dialer } = createPair();
    const told: unknown[] = [];
    dialer.open$('p', { input: unrun }).subscribe({ error: (error: unknown) => told.push(String(error)) });
    await time.advance();
    expect(told).toEqual([`TypeError: ${refusal}`]);
  });

  it('It is refused as the source of a reader that reopens, such as a hook', () => {
    const { dialer } = createPair();
    const told: unknown[] = [];
    reopenOnReconnect(dialer, { open: () => unrun }).subscribe({ error: (error: unknown) => told.push(String(error)) });
    expect(told).toEqual([`TypeError: ${refusal}`]);
  });

  it('It is refused as an answer, and the server logs it', async () => {
    const api = contract({ one: request<string, unknown>(), many: stream<string, unknown>() });
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(answer(api, { one: () => unrun as never, many: () => unrun })).subscribe();
    acceptor.streams$.pipe(respond(() => unrun)).subscribe();
    const calls = client(dialer, api);
    const told: unknown[] = [];
    const error = (thrown: unknown): void => {
      told.push(String(thrown));
    };
    calls.one('p').subscribe({ error });
    calls.many('p').subscribe({ error });
    dialer.open$('other').subscribe({ error });
    await time.advance();
    expect(told).toEqual(Array(3).fill(`RemoteError: ${refusal}`));
    expect(logs.errors).toHaveLength(3);
  });
});

it('An actor of xstate that runs is an input', async () => {
  const { dialer, acceptor } = createPair();
  acceptor.streams$.pipe(respond((_, received) => from(received))).subscribe();
  const actor = {
    _processingStatus: 1,
    '@@observable'() {
      return this;
    },
    subscribe: (receiver: Receiver) => {
      receiver.next('running');
      receiver.complete();
      return { unsubscribe: () => undefined };
    },
  };
  const told: unknown[] = [];
  dialer.open$('p', { input: actor as unknown as ObservableInput<unknown> }).subscribe((value) => told.push(value));
  await time.advance();
  expect(told).toEqual(['running']);
});
