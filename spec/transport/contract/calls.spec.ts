import { expect, it } from '@jest/globals';
import { concatMap, firstValueFrom, from, lastValueFrom, map, range, take, toArray } from 'rxjs';
import { RemoteError, ResetCode } from '../../../src/index.js';
import type { Frame, Stream } from '../../../src/index.js';
import { turn } from '../../support/socket/leaks.js';
import type { LineOptions } from '../../support/socket/lines.js';
import { onEveryLine } from './every-line.js';
import { collectLogs } from '../../support/peer/logs.js';

collectLogs();

const KIB = 1024;

onEveryLine('calls', (join, kind, codec) => {
  it('Peer answers a request', async () => {
    const { dialer, acceptor } = await join();
    acceptor.onStream((payload, stream) => stream.reply({ got: payload }));
    expect(await dialer.request({ n: 1, text: 'é😀', list: [null, true] })).toEqual({ got: { n: 1, text: 'é😀', list: [null, true] } });
  });

  it('Stream carries headers both ways, and trailers at its end', async () => {
    const { dialer, acceptor } = await join();
    acceptor.onStream((_payload, stream) => stream.reply(stream.headers, { headers: { served: 'by' }, trailers: { rows: 1 } }));
    const stream = dialer.open('ask', { headers: { token: 'x' }, end: true });
    expect(await lastValueFrom(stream)).toEqual({ token: 'x' });
    expect(stream.replyHeaders).toEqual({ served: 'by' });
    expect(stream.trailers).toEqual({ rows: 1 });
  });

  it('The acceptor streams 500 values in order', async () => {
    const { dialer, acceptor } = await join();
    acceptor.onStream((count, stream) => stream.sendAll(range(0, count as number)));
    const values = await lastValueFrom(dialer.open$<number>(500).pipe(toArray()));
    expect(values).toEqual(Array.from({ length: 500 }, (_, n) => n));
  });

  it('The dialer uploads 100 values and gets their sum', async () => {
    const { dialer, acceptor } = await join();
    acceptor.onStream(async (_payload, stream: Stream<number>) => {
      let sum = 0;
      for await (const value of stream) sum += value;
      await stream.reply(sum);
    });
    expect(await lastValueFrom(dialer.open$('sum', { input: range(1, 100) }))).toBe(5050);
  });

  it('Stream carries values both ways at once', async () => {
    const { dialer, acceptor } = await join();
    acceptor.onStream((_payload, stream: Stream<number>) => stream.sendAll(stream.pipe(map((n) => n * 2))));
    const stream = dialer.open<number>('double');
    const answers: number[] = [];
    for await (const answer of (void stream.send(1), stream)) {
      answers.push(answer);
      if (answer < 64) await stream.send(answer);
      else await stream.end();
    }
    expect(answers).toEqual([2, 4, 8, 16, 32, 64]);
  });

  it('Peer delivers notifications, even one sent just before the close', async () => {
    const { dialer, acceptor } = await join();
    const got: unknown[] = [];
    acceptor.onStream((payload) => void got.push(payload));
    dialer.notify('first');
    dialer.notify({ last: true });
    await dialer.close();
    await acceptor.closed;
    expect(got).toEqual(['first', { last: true }]);
  });

  it('The acceptor opens a stream to the dialer', async () => {
    const { dialer, acceptor } = await join();
    dialer.onStream((payload, stream) => stream.reply(`seen ${String(payload)}`));
    const push = acceptor.open('news', { end: true });
    expect(await firstValueFrom(push)).toBe('seen news');
    expect(push.id).toBe(2);
  });

  it('Peer sends bytes with a codec that carries them, and rejects them at the call with json', async () => {
    const { dialer, acceptor } = await join();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const bytes = Uint8Array.from({ length: 200_000 }, (_, n) => n * 7);
    const answer = dialer.request<Uint8Array>(bytes);
    if (codec.name !== 'json') expect(Buffer.compare(await answer, bytes)).toBe(0);
    else await expect(answer).rejects.toBeInstanceOf(TypeError);
  });

  it('Peer fragments a payload of 256 KiB and reassembles it, both ways', async () => {
    const { dialer, acceptor } = await join();
    const fragments: Record<string, number> = { tx: 0, rx: 0 };
    dialer.onFrame((direction, frame: Frame) => {
      if (frame.fragment != null) fragments[direction] = (fragments[direction] ?? 0) + 1;
    });
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const text = 'aé"😀'.repeat((256 * KIB) / 8);
    expect(await dialer.request(text)).toBe(text);
    expect(fragments['tx']).toBeGreaterThan(4);
    expect(fragments['rx']).toBe(fragments['tx']);
  });

  it('Peer keeps 100 interleaved streams apart', async () => {
    const { dialer, acceptor } = await join();
    acceptor.onStream((payload, stream) =>
      stream.sendAll(range(0, 5).pipe(concatMap((n) => from(turn()).pipe(map(() => `${String(payload)}/${n}`))))),
    );
    const all = Array.from({ length: 100 }, (_, id) => lastValueFrom(dialer.open$<string>(id).pipe(toArray())));
    expect(await Promise.all(all)).toEqual(all.map((_, id) => Array.from({ length: 5 }, (__, n) => `${id}/${n}`)));
  });

  it('Peer measures a ping', async () => {
    const { dialer, acceptor } = await join();
    expect(await dialer.ping()).toBeGreaterThanOrEqual(0);
    expect(await acceptor.ping()).toBeGreaterThanOrEqual(0);
  });

  it('The producer is cancelled when its consumer unsubscribes', async () => {
    const { dialer, acceptor } = await join();
    const cancelled = new Promise((resolve) => {
      acceptor.onStream(async (_payload, stream) => {
        stream.signal.addEventListener('abort', () => resolve(stream.cause));
        for (let n = 0; !stream.signal.aborted; n++) {
          await stream.send(n);
          await turn();
        }
      });
    });
    expect(await lastValueFrom(dialer.open$('ticks').pipe(take(3), toArray()))).toEqual([0, 1, 2]);
    expect(await cancelled).toMatchObject({ how: 'reset', by: 'remote', code: ResetCode.CANCEL });
  });

  it('Peer rejects a call with the error that the remote handler threw', async () => {
    const { dialer, acceptor } = await join({
      acceptor: { errorSerializer: (error) => ({ message: (error as Error).message, fields: ['a', 'b'] }) },
    });
    acceptor.onStream(() => {
      throw new RangeError('no such row');
    });
    const failure = await dialer.request('row').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RemoteError);
    expect(failure).toMatchObject({ reason: 'no such row', payload: { message: 'no such row', fields: ['a', 'b'] } });
    expect(await dialer.ping()).toBeGreaterThanOrEqual(0);
  });

  if (kind.dials)
    it('The dialer says hello first, and cannot open when the acceptor refuses its hello', async () => {
      const seen: unknown[] = [];
      const options = (token: string): Omit<LineOptions, 'codec'> => ({
        dialer: { hello: () => ({ payload: token, onReply: (reply) => seen.push(reply) }) },
        acceptor: {
          onHello: (payload, stream) => {
            if (payload !== 'right') throw new Error('wrong token');
            return stream.reply('welcome');
          },
          handler: (payload, stream) => stream.reply([payload, seen.length]),
        },
      });
      const { dialer } = await join(options('right'));
      expect(await dialer.request('first')).toEqual(['first', 1]);
      expect(seen).toEqual(['welcome']);
      const refused = await join(options('wrong'));
      await expect(refused.dialer.opened).rejects.toMatchObject({ code: 'REMOTE', reason: 'wrong token' });
    });
});
