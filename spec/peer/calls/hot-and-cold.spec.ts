import { describe, expect, it } from '@jest/globals';
import { EmptyError, firstValueFrom, from, lastValueFrom, map, NEVER, of, Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import { reopenOnReconnect, through, withCredit } from '../../../src/index.js';
import type { Peer } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { collectLogs } from '../../support/peer/logs.js';

collectLogs();

const time = virtualPeerTime();

/** Calls that open a stream for each subscription. */
const COLD: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
  ['open$', (peer) => peer.open$('p')],
  ['open$ with an input', (peer) => peer.open$('p', { input: from([1, 2]) })],
  ['open$ with retry', (peer) => peer.open$('p', { retry: 'safe' })],
  ['through', (peer) => of(1).pipe(through(peer, 'p'))],
  ['reopenOnReconnect', (peer) => reopenOnReconnect(peer, { open: () => peer.open$('p') })],
  ['the consumer of withCredit', (peer) => withCredit(2).grant((credit$) => peer.open$('p', { input: credit$ }))],
];

describe.each(COLD)('Cold %s', (_what, call) => {
  it('A cold call sends no frame before a subscription, and opens a stream for each, whether they overlap or not', async () => {
    const { dialer, acceptor } = createPair();
    const remotes = new Subject<unknown>();
    acceptor.onStream((_, stream) => {
      stream.subscribe({ error: () => undefined });
      void stream.send(`of ${String(stream.id)}`);
      return firstValueFrom(remotes, { defaultValue: null });
    });
    const frames = framesOf(dialer);
    const opened = (): unknown[] => frames.filter(({ type }) => type === 'open').map(({ stream }) => stream);
    const reset = (): unknown[] => frames.filter(({ type }) => type === 'reset').map(({ stream }) => stream);
    const call$ = call(dialer);
    await time.advance();
    expect(opened()).toEqual([]);
    const told: unknown[] = [];
    const first = call$.subscribe((value) => told.push(value));
    const second = call$.subscribe((value) => told.push(value));
    await time.advance();
    expect([opened(), told]).toEqual([
      [1, 3],
      ['of 1', 'of 3'],
    ]);
    first.unsubscribe();
    await time.advance();
    expect(reset()).toEqual([1]);
    second.unsubscribe();
    const third = call$.subscribe((value) => told.push(value));
    await time.advance();
    expect([opened(), reset(), told[2]]).toEqual([[1, 3, 5], [1, 3], 'of 5']);
    third.unsubscribe();
    await time.advance();
    expect(reset()).toEqual([1, 3, 5]);
  });
});

/** Observables that emit the same events to every subscriber, from the subscription on. */
const HOT: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
  ['streams$', ({ streams$ }) => streams$.pipe(map(({ payload }) => payload))],
  ['frames$', ({ frames$ }) => frames$.pipe(map(({ direction, frame }) => `${direction} ${frame.type}`))],
];

describe.each(HOT)('Hot %s', (_what, watched) => {
  it('A hot observable emits the same to every subscriber from its subscription on, sends nothing, and completes with the peer', async () => {
    const { dialer, acceptor } = createPair();
    const frames = framesOf(acceptor);
    const watched$ = watched(acceptor);
    const told: [unknown[], unknown[], unknown[]] = [[], [], []];
    watched$.subscribe((event) => told[0].push(event));
    const early = watched$.subscribe((event) => told[1].push(event));
    await time.advance();
    expect(frames).toEqual([]);
    dialer.notify('one');
    await time.advance();
    early.unsubscribe();
    watched$.subscribe((event) => told[2].push(event));
    dialer.notify('two');
    await time.advance();
    const [all, until, since] = told;
    expect(all.length).toBeGreaterThan(1);
    expect([until, since]).toEqual([all.slice(0, until.length), all.slice(until.length)]);
    expect(until.length * 2).toBe(all.length);
    void dialer.close();
    await time.advance();
    expect(await lastValueFrom(watched$, { defaultValue: 'complete' })).toBe('complete');
  });
});

describe('Call as a promise', () => {
  it.each<[string, (call$: Observable<unknown>) => Promise<unknown>, unknown]>([
    ['firstValueFrom of an empty answer rejects with EmptyError', (call$) => firstValueFrom(call$), { error: expect.any(EmptyError) }],
    ['lastValueFrom of an empty answer rejects with EmptyError', (call$) => lastValueFrom(call$), { error: expect.any(EmptyError) }],
    ['firstValueFrom of an empty answer resolves with its default', (call$) => firstValueFrom(call$, { defaultValue: 7 }), { value: 7 }],
    ['lastValueFrom of an empty answer resolves with its default', (call$) => lastValueFrom(call$, { defaultValue: 7 }), { value: 7 }],
  ])('`%s`', async (_what, promise, outcome) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.end());
    const frames = framesOf(dialer);
    const outcomes = [dialer.open$('p'), dialer.open('p', { end: true })].map((call$) => settled(promise(call$)));
    await time.advance();
    expect(await Promise.all(outcomes)).toEqual([outcome, outcome]);
    expect(frames.map(({ type }) => type)).toEqual(['open', 'open']);
  });

  it.each<[string, (peer: Peer) => Observable<unknown>]>([
    ['open$', (peer) => peer.open$('p')],
    ['open$ with an input', (peer) => peer.open$('p', { input: NEVER })],
    ['a stream', (peer) => peer.open('p')],
  ])('`firstValueFrom` of %s cancels the rest, once', async (_what, call) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      void stream.send('first');
      void stream.send('second');
      return stream.closed;
    });
    const frames = framesOf(dialer);
    const first = firstValueFrom(call(dialer));
    await time.advance();
    expect(await first).toBe('first');
    expect(frames.slice(1)).toEqual([{ type: 'reset', stream: 1, code: 8, reason: 'unsubscribed' }]);
  });
});
