import { describe, expect, it } from '@jest/globals';
import { EMPTY, firstValueFrom, Subject, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { isMuxError, RefusedError, retryWhenSafe } from '../../src/index.js';
import type { Peer, Stream } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { virtualPeerTime } from '../support/peer-time.js';

const time = virtualPeerTime();

/** What a promise rejects with, in few words. */
const told = (call: Promise<unknown>): Promise<unknown> =>
  call.catch((error: unknown) => (isMuxError(error) ? [error.code, error.retriable] : error));

describe('a call whose handler ran is not made again', () => {
  const refused = (): never => {
    throw new RefusedError('busy');
  };
  const input = throwError(() => new RefusedError('busy'));

  it.each<[string, (peer: Peer) => Promise<unknown>]>([
    ['its input fails with the refusal of another call', (peer) => firstValueFrom(peer.open$('store', { input, retry: 'safe' }))],
    ['its onOpen throws one', (peer) => peer.request('store', { onOpen: refused, retry: 'safe' })],
    [
      'its input fails with one, and retryWhenSafe is behind it',
      (peer) => firstValueFrom(peer.open$('store', { input }).pipe(retryWhenSafe())),
    ],
    [
      'its onOpen throws one, and retryWhenSafe is behind it',
      (peer) => firstValueFrom(peer.open$('store', { onOpen: refused }).pipe(retryWhenSafe())),
    ],
  ])('where %s', async (_what, call) => {
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

  it('but one that is refused itself is, and its input with it', async () => {
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

  it('but one whose input tells that the call itself was refused is', async () => {
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
