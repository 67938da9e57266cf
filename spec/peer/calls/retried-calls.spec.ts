import { describe, expect, it } from '@jest/globals';
import { defer, EMPTY, firstValueFrom, NEVER, Subject, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { isMuxError, RefusedError, reopenOnReconnect, respond, retryWhenSafe } from '../../../src/index.js';
import type { Peer, Retry, Stream } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { dialing, SOON } from '../../support/peer/dialing.js';
import { Network } from '../../support/peer/network.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { collectLogs } from '../../support/peer/logs.js';

const time = virtualPeerTime();

/** The error of a rejected promise, in short. */
const told = (call: Promise<unknown>): Promise<unknown> =>
  call.catch((error: unknown) => (isMuxError(error) ? [error.code, error.retriable] : error));

describe('Retries of a call whose handler ran', () => {
  collectLogs();

  const refused = (): never => {
    throw new RefusedError('busy');
  };
  const input = throwError(() => new RefusedError('busy'));

  it.each<[string, (peer: Peer) => Promise<unknown>]>([
    ['the input fails with the refusal of another call', (peer) => firstValueFrom(peer.open$('store', { input, retry: 'safe' }))],
    ['`onOpen` throws the refusal of another call', (peer) => peer.request('store', { onOpen: refused, retry: 'safe' })],
    [
      'the input fails with the refusal of another call, and `retryWhenSafe` is piped after it',
      (peer) => firstValueFrom(peer.open$('store', { input }).pipe(retryWhenSafe())),
    ],
    [
      '`onOpen` throws the refusal of another call, and `retryWhenSafe` is piped after it',
      (peer) => firstValueFrom(peer.open$('store', { onOpen: refused }).pipe(retryWhenSafe())),
    ],
  ])('A call whose handler ran is not retried when %s', async (_what, call) => {
    const { dialer, acceptor } = createPair();
    let runs = 0;
    acceptor.onStream(() => {
      runs++;
      return new Promise(() => undefined);
    });
    const outcome = told(call(dialer));
    await time.advance(60_000);
    expect([runs, await outcome]).toEqual([1, ['REFUSED', true]]);
  });

  it('A call that is refused itself is retried with its input', async () => {
    const { dialer } = createPair();
    let made = 0;
    const input = (): Promise<never> => {
      made++;
      return new Promise(() => undefined);
    };
    const outcome = told(firstValueFrom(dialer.open$('store', { input, retry: { count: 2, delay: 1 } })));
    await time.advance(60_000);
    expect([made, await outcome]).toEqual([3, ['REFUSED', true]]);
  });

  it('A call is retried when its input reports that the call itself was refused', async () => {
    const { dialer } = createPair();
    const echoes: Subject<unknown>[] = [];
    const onOpen = (stream: Stream): void => {
      const echo = new Subject();
      echoes.push(echo);
      stream.subscribe(echo);
    };
    const input = (): Observable<unknown> => echoes.at(-1) ?? EMPTY;
    const outcome = told(firstValueFrom(dialer.open$('store', { input, onOpen, retry: { count: 2, delay: 1 } })));
    await time.advance(60_000);
    expect([echoes.length, await outcome]).toEqual([3, ['REFUSED', true]]);
  });
});

describe('Call in the delay before its next attempt', () => {
  /** Checks that `told` is empty until `act` runs, and holds the refusal soon after. */
  const failsAt = async (act: () => unknown, told: unknown[]): Promise<void> => {
    await time.advance(10);
    expect(told).toEqual([]);
    act();
    await time.advance(10);
    expect(told).toEqual([['REFUSED', true]]);
  };
  const errorsOf = (call$: Observable<unknown>): unknown[] => {
    const told: unknown[] = [];
    call$.subscribe({ error: (error: unknown) => told.push(isMuxError(error) && [error.code, error.retriable]) });
    return told;
  };

  it.each<[string, (peer: Peer, retry: Retry) => Observable<unknown>]>([
    ['request', (peer, retry) => defer(() => peer.request('p', { retry }))],
    ['request$', (peer, retry) => peer.request$('p', { retry })],
    ['open$', (peer, retry) => peer.open$('p', { retry })],
    ['reopenOnReconnect around it', (peer, retry) => reopenOnReconnect(peer, { open: () => peer.open$('p', { retry }) })],
  ])('A call of %s in its delay fails with its last error when the peer is closed', async (_what, call) => {
    for (const delay of [60_000, () => NEVER]) {
      const peer = dialing(new Network(), { reconnect: SOON });
      await failsAt(() => peer.close(), errorsOf(call(peer, { delay })));
    }
    expect(time.isOver()).toBe(true);
  });

  it('A call in its delay does not wait for the drain', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond((payload) => (payload === 'long' ? NEVER : undefined))).subscribe();
    dialer.open$('long').subscribe({ error: () => undefined });
    let attempts = 0;
    dialer.interceptOpen((_headers, payload) => {
      if (payload === 'p') attempts++;
    });
    const told = errorsOf(dialer.request$('p', { retry: { delay: 60_000 } }));
    await failsAt(() => dialer.close({ drainMs: 10_000 }), told);
    expect([attempts, dialer.status]).toEqual([1, { state: 'draining', by: 'local' }]);
  });

  it('A call fails without a delay when the only socket of its peer goes away', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond((payload) => (payload === 'long' ? NEVER : undefined))).subscribe();
    dialer.open$('long').subscribe({ error: () => undefined });
    await time.advance();
    void acceptor.close({ drainMs: 10_000 });
    const told = errorsOf(dialer.request$('p', { retry: { delay: 60_000 } }));
    await time.advance(10);
    expect([told, dialer.status]).toEqual([[['REFUSED', true]], { state: 'draining', by: 'remote' }]);
  });

  it('A call in its delay fails with its last error when the only socket of its peer is lost', async () => {
    const { dialer, link } = createPair();
    const told = errorsOf(dialer.request$('p', { retry: { delay: 60_000 } }));
    await failsAt(() => {
      link.cut();
    }, told);
  });
});
