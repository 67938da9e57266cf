import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { config, from } from 'rxjs';
import type { Observable } from 'rxjs';
import { reopenOnReconnect, through, withCredit } from '../../../src/index.js';
import type { Peer } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { answers, refuses } from '../../support/peer/answers.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { throws } from '../../support/peer/user-code.js';

const time = virtualPeerTime();
const logs = collectLogs();

let unhandled: unknown[] = [];
beforeEach(() => {
  unhandled = [];
  config.onUnhandledError = (error: unknown) => unhandled.push(String(error));
});
afterEach(() => {
  config.onUnhandledError = null;
});

const failing = { next: throws('next'), error: throws('error'), complete: throws('complete') };

/** A stream and a bare `open$` are absent: the library itself reports the errors of their observers, and other specs cover them. */
const CALLS: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
  ['request$', (peer) => peer.request$('p')],
  ['request$ with retry', (peer) => peer.request$('p', { retry: 'safe' })],
  ['open$ with an input', (peer) => peer.open$('p', { input: from(['i']) })],
  ['open$ with retry', (peer) => peer.open$('p', { retry: 'safe' })],
  ['through', (peer) => from(['i']).pipe(through(peer, 'p'))],
  ['reopenOnReconnect', (peer) => reopenOnReconnect(peer, { open: () => peer.open$('p') })],
  ['the consumer of withCredit', (peer) => withCredit(1).grant((credit$) => peer.open$('p', { input: credit$ }))],
];

describe.each(CALLS)('Failing observer of %s', (_what, call) => {
  it.each([
    ['at its value and its completion', answers, ['Error: next', 'Error: complete']],
    ['at its error', refuses, ['Error: error']],
  ])('An observer that throws %s is reported to rxjs, and the call ends normally', async (_when, handler, expected) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(handler);
    const frames = framesOf(dialer);
    const subscription = call(dialer).subscribe(failing);
    await time.advance();
    expect([unhandled, subscription.closed]).toEqual([expected, true]);
    expect([frames.filter(({ type }) => type === 'reset'), logs.errors]).toEqual([[], []]);
    expect([dialer.status.state, acceptor.status.state]).toEqual(['open', 'open']);
  });
});

/** Observables that emit during the life of a peer with one call. */
const OF_PEER: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
  ['status$', ({ status$ }) => status$],
  ['frames$', ({ frames$ }) => frames$],
  ['closes$', ({ closes$ }) => closes$],
];

describe.each(OF_PEER)('Failing observer of %s', (_what, watched) => {
  it('An observer that throws is reported to rxjs, and later observers receive every event', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(answers);
    let heard = 0;
    let completed = false;
    watched(dialer).subscribe(failing);
    watched(dialer).subscribe({ next: () => heard++, complete: () => (completed = true) });
    const answer = dialer.request('p');
    await time.advance();
    expect(await answer).toBe('answer');
    void dialer.close();
    await time.advance();
    expect(heard).toBeGreaterThan(0);
    expect([completed, unhandled]).toEqual([true, [...Array<string>(heard).fill('Error: next'), 'Error: complete']]);
    expect(logs.errors).toEqual([]);
  });
});
