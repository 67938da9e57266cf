import { describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { retryWhenSafe } from '../../src/index.js';
import type { OpenOptions, Peer, Retry } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { framesOf } from '../support/peer-frames.js';
import { settled } from '../support/peer-outcome.js';
import { virtualPeerTime } from '../support/peer-time.js';

const time = virtualPeerTime();

/** What a call fails with, whether it throws or rejects. */
const CALLS: readonly (readonly [call: string, (peer: Peer, options: OpenOptions<unknown, never>) => unknown])[] = [
  ['open', (peer, options) => peer.open('p', options)],
  ['open$', (peer, options) => firstValueFrom(peer.open$('p', options))],
  ['request', (peer, options) => peer.request('p', options)],
  ['request$', (peer, options) => firstValueFrom(peer.request$('p', options))],
];

describe.each(CALLS)('%s', (_call, call) => {
  const failure = async (options: object): Promise<unknown> => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    const outcome = await settled(new Promise((resolve) => resolve(call(dialer, options))));
    expect(sent).toEqual([]);
    return outcome;
  };

  it.each<[option: string, value: unknown, message: string]>([
    ['onOpen', {}, 'onOpen: expected a function, got an object'],
    ['onOpen', 'log', "onOpen: expected a function, got 'log'"],
    ['onOpen', null, 'onOpen: expected a function, got null'],
  ])('refuses an %s that is %p before anything is sent', async (option, value, message) => {
    expect(await failure({ [option]: value })).toEqual({ error: new TypeError(message) });
  });
});

describe('the option retry', () => {
  it('takes a signal beside it that is null for none, and refuses one that is no signal', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const asked = (signal: unknown): Promise<unknown> => settled(dialer.request('p', { retry: 'safe', signal: signal as undefined }));
    const answers = Promise.all([asked(null), asked({ aborted: false })]);
    await time.advance();
    expect(await answers).toEqual([{ value: 'p' }, { error: new TypeError('signal: expected an AbortSignal, got object') }]);
  });

  it.each<[retry: unknown, message: string]>([
    ['never', "retry: expected false, 'safe' or { count, delay }, got 'never'"],
    [true, "retry: expected false, 'safe' or { count, delay }, got true"],
    [5, "retry: expected false, 'safe' or { count, delay }, got 5"],
    [null, "retry: expected false, 'safe' or { count, delay }, got null"],
    [[3], "retry: expected false, 'safe' or { count, delay }, got an array"],
    [() => 3, "retry: expected false, 'safe' or { count, delay }, got a function"],
    [{ count: '5' }, "retry.count: expected a number of at least 0, got '5'"],
    [{ count: null }, 'retry.count: expected a number of at least 0, got null'],
    [{ delay: '5' }, "retry.delay: expected a number of at least 0 or a function, got '5'"],
    [{ delay: -1 }, 'retry.delay: expected a number of at least 0 or a function, got -1'],
    [{ delay: {} }, 'retry.delay: expected a number of at least 0 or a function, got an object'],
  ])('that is %p is refused by every call, before anything is sent', async (retry, message) => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    const options = { retry } as OpenOptions<unknown, never>;
    expect(() => dialer.request$('p', options)).toThrow(new TypeError(message));
    expect(() => dialer.open$('p', options)).toThrow(new TypeError(message));
    expect(await settled(dialer.request('p', options))).toEqual({ error: new TypeError(message) });
    expect(sent).toEqual([]);
  });

  it.each<[options: unknown, message: string]>([
    [1, 'retryWhenSafe: expected { count, delay }, got 1'],
    ['safe', "retryWhenSafe: expected { count, delay }, got 'safe'"],
    [null, 'retryWhenSafe: expected { count, delay }, got null'],
    [{ delay: true }, 'retry.delay: expected a number of at least 0 or a function, got true'],
  ])('of retryWhenSafe that is %p is refused', (options, message) => {
    expect(() => retryWhenSafe(options as Retry)).toThrow(new TypeError(message));
  });
});
