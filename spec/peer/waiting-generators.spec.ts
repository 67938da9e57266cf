import { beforeEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import type { Unsubscribable } from 'rxjs';
import type { Stream } from '../../src/peer/stream.js';
import { createPair } from '../../src/testing.js';
import { virtualPeerTime } from '../support/peer-time.js';

const time = virtualPeerTime();

describe('an async generator that waits when its stream is cancelled', () => {
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

  it('ends at its next value, which is not sent', async () => {
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
      'that its own call has opened',
      ({ dialer, acceptor }) => {
        acceptor.onStream(() => new Promise(() => undefined));
        let next: Promise<never> | null = null;
        const onOpen = (stream: Stream): void => {
          next = aborted(stream.signal);
        };
        return dialer.open$('p', { onOpen, input: () => producing(Promise.resolve(next)) }).subscribe();
      },
    ],
  ])('ends at once, where it listens to the signal of the stream %s', async (_what, call) => {
    const subscription = call(createPair());
    await time.advance();
    expect(ended).toEqual([]);
    subscription.unsubscribe();
    await time.advance();
    expect(ended).toEqual(['ended']);
  });
});
