import { describe, expect, it } from '@jest/globals';
import { asapScheduler, NEVER, of, Subject, timer } from 'rxjs';
import { connect } from '../../src/index.js';
import { createPair, createServer } from '../../src/testing.js';
import { counting, NOTHING } from '../support/peer/counting.js';
import type { Held } from '../support/peer/counting.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { collectLogs } from '../support/peer/logs.js';

const time = virtualPeerTime();
const { held, watch } = counting(time);

describe('the counter of held things', () => {
  collectLogs();

  it('The counter counts nothing when nothing is held', () => {
    of(1).subscribe();
    expect(held()).toEqual(NOTHING);
  });

  it.each<[what: string, kind: keyof Held, leak: () => () => void]>([
    [
      'a subscriber of a Subject',
      'subscriptions',
      () => {
        const leak = new Subject().subscribe();
        return () => leak.unsubscribe();
      },
    ],
    [
      'a subscription to NEVER',
      'subscriptions',
      () => {
        const leak = NEVER.subscribe();
        return () => leak.unsubscribe();
      },
    ],
    [
      'a timer',
      'timers',
      () => {
        const leak = timer(1_000).subscribe();
        return () => leak.unsubscribe();
      },
    ],
    [
      'an asap task',
      'timers',
      () => {
        const leak = asapScheduler.schedule(() => undefined);
        return () => leak.unsubscribe();
      },
    ],
    [
      'a listener of a signal',
      'listeners',
      () => {
        const { signal } = new AbortController();
        const leak = (): void => undefined;
        watch(signal);
        signal.addEventListener('abort', leak);
        return () => signal.removeEventListener('abort', leak);
      },
    ],
    [
      'a listener of a socket',
      'listeners',
      () => {
        const socket = createServer().socket('ws://test', 'mux.v1.json');
        const leak = (): void => undefined;
        socket.addEventListener('message', leak);
        return () => socket.removeEventListener('message', leak);
      },
    ],
    [
      'a hook',
      'hooks',
      () => {
        const { dialer } = createPair();
        return dialer.onClose(() => undefined);
      },
    ],
    [
      'a subscriber of streams$',
      'hooks',
      () => {
        const { acceptor } = createPair();
        const leak = acceptor.streams$.subscribe();
        return () => leak.unsubscribe();
      },
    ],
    [
      'a live stream',
      'streams',
      () => {
        const { dialer } = createPair();
        const leak = dialer.open('a');
        return () => leak.reset();
      },
    ],
    [
      'a waiting open',
      'waiting',
      () => {
        const leak = connect('ws://test', { lazy: true, connectTimeoutMs: 0, socket: createServer().socket }).open('a');
        return () => leak.reset();
      },
    ],
  ])('The counter sees a planted leak, and its end: %s', async (_what, kind, plant) => {
    const mend = plant();
    expect(held()[kind]).toBeGreaterThan(0);
    mend();
    await time.advance();
    expect(held()[kind]).toBe(0);
  });
});
