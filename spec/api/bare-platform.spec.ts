import { describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, from, take, toArray } from 'rxjs';
import { otherPlatform } from '../support/globals.js';

const platform = otherPlatform();

/** What some platform that has a WebSocket is without: jsdom within a test runner, an engine that is embedded. */
const MISSING = [
  'Buffer',
  'FinalizationRegistry',
  'MessageChannel',
  'TextDecoder',
  'TextEncoder',
  'WeakRef',
  'crypto',
  'document',
  'navigator',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'structuredClone',
  'window',
];

/** More than a frame holds, with what JSON escapes and with characters of each length. */
const LARGE = 'a"\\é€😀\ud83d\n'.repeat(6_000);

describe('where a platform has no more than timers and sockets', () => {
  it('peers exchange values of every size, in text', async () => {
    platform(Object.fromEntries(MISSING.map((name) => [name, undefined])));
    jest.resetModules();
    const { createPair } = await import('../../src/testing.js');
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => (payload === 'many' ? stream.sendAll(from([1, 2, 3, 4])) : stream.reply(payload)));
    const answers = [
      await dialer.request('small'),
      await dialer.request(LARGE),
      await dialer.request([LARGE]),
      await firstValueFrom(dialer.open$('many').pipe(take(3), toArray())),
    ];
    await Promise.all([dialer.close(), acceptor.close()]);
    expect(answers).toEqual(['small', LARGE, [LARGE], [1, 2, 3]]);
  });
});
