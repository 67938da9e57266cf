import { afterEach, describe, expect, it } from '@jest/globals';
import { config, from } from 'rxjs';
import type { Observable, Observer } from 'rxjs';
import type { Peer, StreamHandler } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { answers, refuses } from '../../support/peer/answers.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { throws } from '../../support/peer/user-code.js';

const time = virtualPeerTime();
const logs = collectLogs();

afterEach(() => {
  config.onUnhandledError = null;
});

const CALLS: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
  ['open', (peer) => peer.open('p', { end: true })],
  ['open$', (peer) => peer.open$('p')],
  ['open$ with an input', (peer) => peer.open$('p', { input: from(['i']) })],
  ['open$ with retry', (peer) => peer.open$('p', { retry: 'safe' })],
  ['request$', (peer) => peer.request$('p')],
  ['request$ with retry', (peer) => peer.request$('p', { retry: 'safe' })],
];

const rejects: () => unknown = () => Promise.reject(new Error('later'));

const NO_HANDLER = 'a stream failed and its subscriber has no error handler';
const FAILED = 'a subscriber of a stream failed';

/** Each fault, the handler of the other side, the observer, and each error with the text of its log line. */
const FAULTS: readonly (readonly [string, StreamHandler, Partial<Observer<unknown>>, ...(readonly [text: string, error: string])[]])[] = [
  ['an error without a handler', refuses, {}, [NO_HANDLER, 'ResetError: stream 1: reset with 300: no']],
  ['a `next` that throws', answers, { next: throws('next') }, [FAILED, 'Error: next']],
  ['a `next` whose promise rejects', answers, { next: rejects }, [FAILED, 'Error: later']],
  ['an `error` that throws', refuses, { error: throws('error') }, [FAILED, 'Error: error']],
  ['a `complete` that throws', answers, { complete: throws('complete') }, [FAILED, 'Error: complete']],
];

describe.each(CALLS)('Unhandled errors of %s', (_call, call) => {
  it.each(FAULTS)('The log reports %s', async (_fault, handler, observer, ...reports) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(handler);
    const subscription = call(dialer).subscribe(observer);
    await time.advance();
    expect(logs.errors).toEqual(reports.map(([text]) => expect.stringContaining(text)));
    expect([subscription.closed, dialer.status.state]).toEqual([true, 'open']);
  });

  it.each(FAULTS)('`onUnhandledError` of rxjs receives %s in place of the log', async (_fault, handler, observer, ...reports) => {
    const received: string[] = [];
    config.onUnhandledError = (error: unknown) => received.push(String(error));
    const { dialer, acceptor } = createPair();
    acceptor.onStream(handler);
    call(dialer).subscribe(observer);
    await time.advance();
    expect(received).toEqual(reports.map(([, error]) => error));
    expect(logs.errors).toEqual([]);
  });
});
