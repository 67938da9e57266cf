import { describe, expect, it } from '@jest/globals';
import { finalize, from, NEVER, Subject, Subscription, using } from 'rxjs';
import type { Observable } from 'rxjs';
import { reopenOnReconnect, through } from '../../../src/index.js';
import type { Peer, Stream } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { stays } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();

const CALLS: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
  ['request$', (peer) => peer.request$('p')],
  ['open$', (peer) => peer.open$('p')],
  ['open$ with an input', (peer) => peer.open$('p', { input: from(['i']) })],
  ['open$ with retry', (peer) => peer.open$('p', { retry: 'safe' })],
  ['a stream', (peer) => peer.open('p', { end: true })],
  ['through', (peer) => from(['i']).pipe(through(peer, 'p'))],
  ['reopenOnReconnect', (peer) => reopenOnReconnect(peer, { open: () => peer.open$('p') })],
];

describe.each(CALLS)('%s', (_what, call) => {
  /** The events of one call in order. `end` receives the stream of the server and the subscription. */
  async function ordered(end: (remote: Stream, subscription: Subscription) => unknown): Promise<readonly string[]> {
    const { dialer, acceptor } = createPair();
    const streams$ = new Subject<Stream>();
    acceptor.onStream((_, stream) => {
      stream.subscribe({ error: () => undefined });
      streams$.next(stream);
      return stream.closed;
    });
    const told: string[] = [];
    const called$ = using(
      () => new Subscription(() => told.push('resource')),
      () => call(dialer).pipe(finalize(() => told.push('finalize'))),
    );
    const subscription = called$.subscribe({ error: () => told.push('error'), complete: () => told.push('complete') });
    subscription.add(() => told.push('added'));
    streams$.subscribe((remote) => {
      dialer.onFrame((direction, { type }) => direction === 'tx' && type === 'reset' && told.push('reset'));
      end(remote, subscription);
    });
    await time.advance();
    return told;
  }

  it('A call is cancelled before its teardowns run', async () => {
    const told = await ordered((_remote, subscription) => {
      subscription.unsubscribe();
      subscription.unsubscribe();
    });
    expect(told).toEqual(['reset', 'finalize', 'resource', 'added']);
  });

  it('A call completes before its teardowns run', async () => {
    expect(await ordered((remote) => remote.reply('r'))).toEqual(['complete', 'finalize', 'resource', 'added']);
  });

  it('A call errors before its teardowns run', async () => {
    expect(await ordered((remote) => remote.reset(300))).toEqual(['error', 'finalize', 'resource', 'added']);
  });
});

it('A waiting input is released after its unsubscribed call has sent a reset', async () => {
  const { dialer, acceptor } = createPair();
  acceptor.onStream(stays);
  const told: string[] = [];
  const subscription = dialer.open$('p', { input: NEVER.pipe(finalize(() => told.push('input'))) }).subscribe();
  await time.advance();
  dialer.onFrame((_direction, { type }) => told.push(type));
  subscription.unsubscribe();
  await time.advance();
  expect(told).toEqual(['reset', 'input']);
});
