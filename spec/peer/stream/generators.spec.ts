import { beforeEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import type { Unsubscribable } from 'rxjs';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

describe('Waiting async generator whose stream is cancelled', () => {
  const ended: string[] = [];
  beforeEach(() => {
    ended.length = 0;
  });

  async function* producing(next: Promise<unknown>) {
    try {
      yield 'first';
      yield await next;
      ended.push('went on');
    } finally {
      ended.push('ended');
    }
  }
  const aborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));

  it('A waiting generator of a cancelled stream ends at its next value, which is not sent', async () => {
    const { dialer, acceptor } = createPair();
    let go: (value: string) => void = () => undefined;
    acceptor.onStream((_, stream) => stream.sendAll(producing(new Promise((resolve) => (go = resolve)))));
    const answer = firstValueFrom(dialer.open$('p'));
    await time.advance();
    expect([await answer, ended]).toEqual(['first', []]);
    go('next');
    await time.advance();
    expect(ended).toEqual(['ended']);
  });

  it.each<[string, (pair: ReturnType<typeof createPair>) => Unsubscribable]>([
    [
      'that the remote opened',
      ({ dialer, acceptor }) => {
        acceptor.onStream((_, stream) => stream.sendAll(producing(aborted(stream.signal))));
        return dialer.open$('p').subscribe();
      },
    ],
    [
      'that its own call opened',
      ({ dialer, acceptor }) => {
        acceptor.onStream(() => new Promise(() => undefined));
        let next: Promise<never> | null = null;
        const onOpen = (stream: Stream): void => {
          next = aborted(stream.signal);
        };
        return dialer.open$('p', { onOpen, input: () => producing(Promise.resolve(next)) }).subscribe();
      },
    ],
  ])('A waiting generator that listens to the signal of a stream %s ends at once', async (_what, call) => {
    const subscription = call(createPair());
    await time.advance();
    expect(ended).toEqual([]);
    subscription.unsubscribe();
    await time.advance();
    expect(ended).toEqual(['ended']);
  });
});

/** So long that each value is pulled only when the value before has left. Only the first is pulled within the call. */
const LONG = 'x'.repeat(300_000);

describe('Generator that ends its own call while it makes a value', () => {
  it.each<[string, (stream: Stream, subscription: Unsubscribable, abort: AbortController) => void]>([
    ['by its signal', (_stream, _subscription, abort) => abort.abort()],
    ['by a reset', (stream) => stream.reset(ResetCode.CANCEL)],
    ['by unsubscribing', (_stream, subscription) => subscription.unsubscribe()],
    ['by closing the peer', (stream) => void stream.peer.close()],
  ])('A generator that ends its own call %s is ended without an error, and its value is not sent', async (_how, end) => {
    const { dialer, acceptor } = createPair();
    const [abort, ended, got]: [AbortController, string[], number[]] = [new AbortController(), [], []];
    let opened: Stream | null = null;
    acceptor.onStream((_, stream) => {
      (stream as Stream<string>).subscribe({ next: ({ length }) => got.push(length), error: () => undefined });
      return new Promise(() => undefined);
    });
    function* producing() {
      try {
        yield LONG;
        yield LONG;
        if (opened !== null) end(opened, subscription, abort);
        yield 'late';
        ended.push('went on');
      } finally {
        ended.push('ended');
      }
    }
    const options = { input: producing, signal: abort.signal, onOpen: (stream: Stream) => void (opened = stream) };
    const subscription = dialer.open$('p', options).subscribe({ error: () => undefined });
    await time.advance();
    expect([got, ended, logs.errors]).toEqual([[LONG.length, LONG.length], ['ended'], []]);
  });
});

describe('Iterator that ends its own call while it makes a value', () => {
  /** Ends the call at the third value. Returns how often the library called `return` of the iterator. */
  const returnsOf = async (third: IteratorResult<string>, back?: () => unknown): Promise<number> => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      stream.subscribe({ error: () => undefined });
      return new Promise(() => undefined);
    });
    const abort = new AbortController();
    let [asked, returned] = [0, 0];
    const next = (): IteratorResult<string> => {
      if (++asked < 3) return { done: false, value: LONG };
      abort.abort();
      return third;
    };
    const counted = (): unknown => {
      returned++;
      return back?.();
    };
    const input = { [Symbol.iterator]: () => ({ next, return: back && counted }) } as unknown as Iterable<string>;
    dialer.open$('p', { input, signal: abort.signal }).subscribe({ error: () => undefined });
    await time.advance();
    expect(asked).toBe(3);
    return returned;
  };
  const fails = (): never => {
    throw new Error('no');
  };

  it.each<[string, IteratorResult<string>, (() => unknown) | undefined, number, string[]]>([
    ['`return` of an iterator that ends its own call runs once', { done: false, value: 'late' }, () => ({ done: true }), 1, []],
    ['`return` of an iterator that ends itself and its call does not run', { done: true, value: undefined }, fails, 0, []],
    ['An iterator that ends its own call may lack `return`', { done: false, value: 'late' }, undefined, 0, []],
    ['A failing `return` of an iterator is logged', { done: false, value: 'late' }, fails, 1, ['rxmux: ending an input failed']],
  ])('%s', async (_what, third, back, returned, errors) => {
    expect([await returnsOf(third, back), logs.errors]).toEqual([returned, errors]);
  });
});
