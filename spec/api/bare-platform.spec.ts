import { describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, from, take, toArray } from 'rxjs';
import { otherPlatform } from '../support/platform/globals.js';

const platform = otherPlatform();

/** Globals that some platforms with a WebSocket lack: jsdom within a test runner, an embedded engine. */
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

/** Larger than a frame, with characters that JSON escapes and characters of each length. */
const LARGE = 'a"\\é€😀\ud83d\n'.repeat(6_000);

describe('a platform with only timers and sockets', () => {
  it('Peers exchange text of every size on a platform with only timers and sockets', async () => {
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
