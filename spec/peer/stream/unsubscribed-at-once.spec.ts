import { describe, expect, it } from '@jest/globals';
import { defer, from, NEVER, of, Subject, takeUntil } from 'rxjs';
import type { Observable, ObservableInput } from 'rxjs';
import { respond, through } from '../../../src/index.js';
import type { Peer } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { settled } from '../../support/peer/outcome.js';
import { stays } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();

interface Options {
  readonly onOpen?: () => undefined;
}

type Call = (peer: Peer, options: Options) => Observable<unknown>;

const CALLS: readonly (readonly [string, Call])[] = [
  ['request$', (peer, options) => peer.request$('p', options)],
  ['open$', (peer, options) => peer.open$('p', options)],
  ['open$ with an input that waits', (peer, options) => peer.open$('p', { ...options, input: NEVER })],
  ['open$ with a synchronous input', (peer, options) => peer.open$('p', { ...options, input: from([1, 2]) })],
  ['open$ with an input that is pulled', (peer, options) => peer.open$('p', { ...options, input: [1, 2] })],
  ['through', (peer, options) => NEVER.pipe(through(peer, 'p', options))],
];

/** Code that runs while the call is being subscribed to. */
const PLACES: readonly (readonly [string, (peer: Peer, leave: () => undefined) => Options])[] = [
  ['onOpen', (_peer, leave) => ({ onOpen: leave })],
  [
    'an open interceptor',
    (peer, leave) => {
      peer.interceptOpen(leave);
      return {};
    },
  ],
  [
    'an observer of the open',
    (peer, leave) => {
      peer.onFrame((_direction, { type }) => (type === 'open' ? leave() : undefined));
      return {};
    },
  ],
];

describe.each(PLACES)('Unsubscribing within %s', (_place, hang) => {
  it.each(CALLS)('An unsubscribe while %s is subscribed to cancels the stream once', async (_call, call) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(stays);
    await time.advance();
    const frames = framesOf(dialer);
    const left = new Subject<void>();
    const told: unknown[] = [];
    const options = hang(dialer, () => {
      left.next();
      return undefined;
    });
    call(dialer, options)
      .pipe(takeUntil(left))
      .subscribe({ next: (value) => told.push(value), error: (error) => told.push(error), complete: () => told.push('complete') });
    await time.advance();
    expect(told).toEqual(['complete']);
    expect(frames.filter(({ type }) => type !== 'data')).toEqual([
      expect.objectContaining({ type: 'open', stream: 1 }),
      { type: 'reset', stream: 1, code: 8, reason: 'unsubscribed' },
    ]);
  });
});

describe('`respond` that its project unsubscribes', () => {
  const released: string[] = [];
  const upload = (): ReadableStream => new ReadableStream({ cancel: () => void released.push('cancelled') });

  it.each<[string, () => ObservableInput<unknown>, readonly string[]]>([
    ['an Observable is not subscribed to', () => defer(() => of(released.push('subscribed'))), []],
    ['a promise may reject unseen', () => Promise.reject(new Error('late')), []],
    ['a ReadableStream is cancelled', upload, ['cancelled']],
  ])('Unsubscribing `respond` in its project cancels the stream and does not refuse it, and %s', async (_what, answer, expected) => {
    released.length = 0;
    const { dialer, acceptor } = createPair();
    const frames = framesOf(acceptor);
    const handled: unknown[] = [];
    acceptor.onStream((payload) => void handled.push(payload));
    const left = new Subject<void>();
    const answered$ = respond(() => {
      left.next();
      return answer();
    });
    acceptor.streams$.pipe(answered$, takeUntil(left)).subscribe();
    const outcome = settled(dialer.request('p'));
    await time.advance();
    expect(await outcome).toMatchObject({ error: { code: 'RESET', resetCode: 8 } });
    expect(frames).toEqual([{ type: 'reset', stream: 1, code: 8, reason: 'unsubscribed' }]);
    expect([handled, released]).toEqual([[], expected]);
  });
});
