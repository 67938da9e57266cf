import { expect, it } from '@jest/globals';
import { lastValueFrom, map, toArray } from 'rxjs';
import type { Stream } from '../../../src/index.js';
import { turn } from '../../support/socket/leaks.js';
import { onEveryLine } from './every-line.js';

onEveryLine('back-pressure', (join) => {
  const CHUNK = 'x'.repeat(60_000);
  const COUNT = 300;

  /** The number of pulls once no further pull happens. */
  const stillness = async (pulled: () => number): Promise<number> => {
    let last = -1;
    for (let still = 0; still < 200; still = pulled() === last ? still + 1 : 0) {
      last = pulled();
      await turn();
    }
    return last;
  };

  it('Peer holds an upload back while no subscriber reads it, and loses nothing', async () => {
    const { dialer, acceptor } = await join({ acceptor: { limits: { pauseMs: 3_600_000 } } });
    let pulled = 0;
    const received = new Promise<Stream>((resolve) => acceptor.onStream((_payload, stream) => (resolve(stream), stream.closed)));
    const upload = dialer.open('upload');
    const sent = upload.sendAll(
      (function* () {
        while (pulled < COUNT) yield [pulled++, CHUNK];
      })(),
    );
    const stream = await received;
    expect(await stillness(() => pulled)).toBeLessThan(COUNT / 2);
    const numbers = await lastValueFrom(
      stream.pipe(
        map((value) => (value as [number, string])[0]),
        toArray(),
      ),
    );
    expect(numbers).toEqual(Array.from({ length: COUNT }, (_, n) => n));
    await sent;
    await stream.end();
  });

  it('Peer holds an unread producer back, and answers other calls meanwhile', async () => {
    const { dialer, acceptor } = await join({ dialer: { limits: { pauseMs: 3_600_000 } } });
    let pulled = 0;
    acceptor.onStream((payload, stream) => {
      if (payload === 'small') return stream.reply('still here');
      return stream.sendAll(
        (function* () {
          while (pulled < COUNT) yield [pulled++, CHUNK];
        })(),
      );
    });
    const stream = dialer.open<[number, string]>('big', { end: true });
    expect(await stillness(() => pulled)).toBeLessThan(COUNT / 2);
    expect(await dialer.request('small')).toBe('still here');
    const numbers = await lastValueFrom(
      stream.pipe(
        map(([n]) => n),
        toArray(),
      ),
    );
    expect(numbers).toEqual(Array.from({ length: COUNT }, (_, n) => n));
  });
});
