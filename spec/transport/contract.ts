import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { concatMap, firstValueFrom, from, lastValueFrom, map, range, take, toArray } from 'rxjs';
import { ConnectionLostError, RemoteError, RefusedError, ResetCode } from '../../src/index.js';
import type { CloseReason, Codec, Frame, Stream } from '../../src/index.js';
import { turn, until, watchResources } from '../support/socket-leaks.js';
import { oversized, spoilt, undecodable, wrongKind } from '../support/socket-spoilt.js';
import type { Line, LineKind, LineOptions } from '../support/socket-lines.js';

const MIB = 1024 * 1024;

/** What every transport owes a session, seen through two peers. */
export function holdsTheContract(kind: LineKind, codec: Codec): void {
  let lines: Line[] = [];
  let leaks: ReturnType<typeof watchResources>;

  const join = async (options: Omit<LineOptions, 'codec'> = {}): Promise<Line> => {
    const line = await kind.join({ codec, ...options });
    lines.push(line);
    return line;
  };

  beforeEach(() => {
    lines = [];
    leaks = watchResources();
  });

  afterEach(async () => {
    await Promise.all(lines.map((line) => line.dispose()));
    expect(await leaks()).toEqual({});
  });

  describe('calls', () => {
    it('answers a request', async () => {
      const { dialer, acceptor } = await join();
      acceptor.onStream((payload, stream) => stream.reply({ got: payload }));
      expect(await dialer.request({ n: 1, text: 'é😀', list: [null, true] })).toEqual({ got: { n: 1, text: 'é😀', list: [null, true] } });
    });

    it('carries headers both ways, and trailers after the end', async () => {
      const { dialer, acceptor } = await join();
      acceptor.onStream((_payload, stream) => stream.reply(stream.headers, { headers: { served: 'by' }, trailers: { rows: 1 } }));
      const stream = dialer.open('ask', { headers: { token: 'x' }, end: true });
      expect(await lastValueFrom(stream)).toEqual({ token: 'x' });
      expect(stream.replyHeaders).toEqual({ served: 'by' });
      expect(stream.trailers).toEqual({ rows: 1 });
    });

    it('streams from the acceptor, in order and to the end', async () => {
      const { dialer, acceptor } = await join();
      acceptor.onStream((count, stream) => stream.sendAll(range(0, count as number)));
      const values = await lastValueFrom(dialer.open$<number>(500).pipe(toArray()));
      expect(values).toEqual(Array.from({ length: 500 }, (_, n) => n));
    });

    it('uploads', async () => {
      const { dialer, acceptor } = await join();
      acceptor.onStream(async (_payload, stream: Stream<number>) => {
        let sum = 0;
        for await (const value of stream) sum += value;
        await stream.reply(sum);
      });
      expect(await lastValueFrom(dialer.open$('sum', { input: range(1, 100) }))).toBe(5050);
    });

    it('talks both ways on one stream', async () => {
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

    it('delivers a notification, also one that is sent just before the close', async () => {
      const { dialer, acceptor } = await join();
      const got: unknown[] = [];
      acceptor.onStream((payload) => void got.push(payload));
      dialer.notify('first');
      dialer.notify({ last: true });
      await dialer.close();
      await acceptor.closed;
      expect(got).toEqual(['first', { last: true }]);
    });

    it('lets the acceptor push', async () => {
      const { dialer, acceptor } = await join();
      dialer.onStream((payload, stream) => stream.reply(`seen ${String(payload)}`));
      const push = acceptor.open('news', { end: true });
      expect(await firstValueFrom(push)).toBe('seen news');
      expect(push.id).toBe(2);
    });

    it('carries bytes where the codec can, and refuses them at the call where it cannot', async () => {
      const { dialer, acceptor } = await join();
      acceptor.onStream((payload, stream) => stream.reply(payload));
      const bytes = Uint8Array.from({ length: 200_000 }, (_, n) => n * 7);
      const answer = dialer.request<Uint8Array>(bytes);
      if (codec.binary) expect(Buffer.compare(await answer, bytes)).toBe(0);
      else await expect(answer).rejects.toBeInstanceOf(TypeError);
    });

    it('fragments a payload of 1 MiB and reassembles it, both ways', async () => {
      const { dialer, acceptor } = await join();
      const fragments: Record<string, number> = { tx: 0, rx: 0 };
      dialer.onFrame((direction, frame: Frame) => {
        if (frame.fragment != null) fragments[direction] = (fragments[direction] ?? 0) + 1;
      });
      acceptor.onStream((payload, stream) => stream.reply(payload));
      const text = 'aé"😀'.repeat(MIB / 8);
      expect(await dialer.request(text)).toBe(text);
      expect(fragments['tx']).toBeGreaterThan(16);
      expect(fragments['rx']).toBe(fragments['tx']);
    });

    it('keeps 200 interleaved streams apart', async () => {
      const { dialer, acceptor } = await join();
      acceptor.onStream((payload, stream) =>
        stream.sendAll(range(0, 5).pipe(concatMap((n) => from(turn()).pipe(map(() => `${String(payload)}/${n}`))))),
      );
      const all = Array.from({ length: 200 }, (_, id) => lastValueFrom(dialer.open$<string>(id).pipe(toArray())));
      expect(await Promise.all(all)).toEqual(all.map((_, id) => Array.from({ length: 5 }, (__, n) => `${id}/${n}`)));
    });

    it('measures a ping', async () => {
      const { dialer, acceptor } = await join();
      expect(await dialer.ping()).toBeGreaterThanOrEqual(0);
      expect(await acceptor.ping()).toBeGreaterThanOrEqual(0);
    });

    it('lets the producer know that its consumer has left', async () => {
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

    it('carries what a handler throws', async () => {
      const { dialer, acceptor } = await join({
        acceptor: { errorSerializer: (error) => ({ kind: (error as Error).name, fields: ['a', 'b'] }) },
      });
      acceptor.onStream(() => {
        throw new RangeError('no such row');
      });
      const failure = await dialer.request('row').catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RemoteError);
      expect(failure).toMatchObject({ reason: 'no such row', payload: { kind: 'RangeError', fields: ['a', 'b'] } });
      expect(await dialer.ping()).toBeGreaterThanOrEqual(0);
    });

    if (kind.dials)
      it('says hello before anything else, and lets nobody in whose hello is refused', async () => {
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

  describe('back-pressure', () => {
    const CHUNK = 'x'.repeat(60_000);
    const COUNT = 800;

    /** Pulls made before nothing moved any more. */
    const stillness = async (pulled: () => number): Promise<number> => {
      let last = -1;
      for (let still = 0; still < 200; still = pulled() === last ? still + 1 : 0) {
        last = pulled();
        await turn();
      }
      return last;
    };

    it('holds an uploader up while nobody reads, and loses nothing', async () => {
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

    it('holds a producer up while nobody reads, or ends its stream alone where reading cannot be paused', async () => {
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
      if (kind.pauses) {
        expect(await stillness(() => pulled)).toBeLessThan(COUNT / 2);
        const numbers = await lastValueFrom(
          stream.pipe(
            map(([n]) => n),
            toArray(),
          ),
        );
        expect(numbers).toEqual(Array.from({ length: COUNT }, (_, n) => n));
      } else {
        expect(await stream.closed).toMatchObject({ how: 'reset', by: 'library', code: ResetCode.FLOW_CONTROL });
        expect(await dialer.request('small')).toBe('still here');
        expect(pulled).toBeLessThan(COUNT / 2);
      }
    });
  });

  describe('the end', () => {
    it.each(['dialer', 'acceptor'] as const)('closes with 1000 on both ends when the %s closes, and tells the other why', async (side) => {
      const line = await join();
      const told: CloseReason[] = [];
      line.dialer.onClose((reason) => told.push(reason));
      line.acceptor.onClose((reason) => told.push(reason));
      const clean = { code: 1000, wasClean: true, willRetry: false };
      expect(await line[side].close({ reason: 'that is all, é' })).toMatchObject(clean);
      const other = side === 'dialer' ? line.acceptor : line.dialer;
      expect(await other.closed).toEqual({ ...clean, reason: 'that is all, é' });
      expect(told).toHaveLength(2);
      expect(told).toEqual(expect.arrayContaining([await line.dialer.closed, await line.acceptor.closed]));
    });

    it('drains: what is under way ends well, and nothing new begins', async () => {
      const { dialer, acceptor } = await join();
      let finish = (): void => undefined;
      acceptor.onStream((payload, stream) => {
        if (payload !== 'slow') return stream.reply('quick');
        return new Promise<void>((resolve) => {
          finish = () => resolve(stream.reply('done'));
        });
      });
      const slow = dialer.request('slow');
      expect(await dialer.request('other')).toBe('quick');
      const closed = acceptor.close({ drainMs: 3_600_000 });
      await firstValueFrom(dialer.status$.pipe(take(2), toArray()));
      expect(dialer.status).toEqual({ state: 'draining', by: 'remote' });
      await expect(firstValueFrom(dialer.open('new'))).rejects.toBeInstanceOf(RefusedError);
      finish();
      expect(await slow).toBe('done');
      expect(await closed).toMatchObject({ code: 1000, wasClean: true });
      expect(await dialer.closed).toMatchObject({ code: 1000, wasClean: true });
    });

    it('tells streams above the last one of a goaway that they may be made again', async () => {
      const { dialer, acceptor } = await join();
      const seen: unknown[] = [];
      acceptor.onStream((payload, stream) => {
        seen.push(payload);
        void acceptor.close({ drainMs: 3_600_000, code: ResetCode.NO_ERROR, reason: 'moving' });
        return stream.reply(payload);
      });
      const [first, second] = await Promise.allSettled([dialer.request(1), dialer.request(2)]);
      expect(first).toEqual({ status: 'fulfilled', value: 1 });
      expect(second).toMatchObject({ status: 'rejected', reason: { code: 'REFUSED', retriable: true } });
      expect(seen).toEqual([1]);
    });

    it('fails what is live on both ends when the socket is lost', async () => {
      const { dialer, acceptor, lose } = await join();
      const handled = new Promise<Stream>((resolve) => acceptor.onStream((_payload, stream) => (resolve(stream), stream.closed)));
      const asked = dialer.request('never').catch((error: unknown) => error);
      const stream = await handled;
      lose();
      const lost = { code: 1006, wasClean: false, willRetry: false };
      expect(await asked).toBeInstanceOf(ConnectionLostError);
      expect(await asked).toMatchObject({ retriable: false, reason: lost });
      expect(await stream.closed).toMatchObject({ how: 'lost', reason: lost });
      expect(stream.signal.reason).toBeInstanceOf(ConnectionLostError);
      expect(await dialer.closed).toMatchObject(lost);
      expect(await acceptor.closed).toMatchObject(lost);
    });

    it.each([
      ['a message that cannot be decoded', 1002, undecodable],
      ['a message of the wrong kind', 1003, wrongKind],
    ] as const)('answers %s with %i, or what its platform has for it', async (_what, code, bad) => {
      for (const culprit of ['dialer', 'acceptor'] as const) {
        const line = await join({ [culprit]: { codec: spoilt(codec, () => bad(codec)) } });
        const victim = culprit === 'dialer' ? line.acceptor : line.dialer;
        line[culprit].ping().catch(() => undefined);
        const reasons = await Promise.all([victim.closed, line[culprit].closed]);
        const sent = culprit === 'acceptor' && kind.browserCodes ? 3000 + code : code;
        expect(reasons.map((reason) => reason.code)).toEqual([sent, sent]);
        expect(reasons[1].reason).not.toBe('');
      }
    });

    it('answers a message over maxMessageBytes with 1009', async () => {
      const line = await join({
        dialer: { codec: spoilt(codec, () => oversized(codec)) },
        acceptor: { limits: { maxMessageBytes: 65_536 } },
      });
      await expect(line.dialer.ping()).rejects.toBeInstanceOf(ConnectionLostError);
      expect(await line.acceptor.closed).toMatchObject({ code: 1009 });
      expect(await line.dialer.closed).toMatchObject({ code: 1009 });
    });

    it('ends a dialer that is sent a message over maxMessageBytes, with the code its platform has for it', async () => {
      const line = await join({
        acceptor: { codec: spoilt(codec, () => oversized(codec)) },
        dialer: { limits: { maxMessageBytes: 65_536 } },
      });
      await expect(line.acceptor.ping()).rejects.toBeInstanceOf(ConnectionLostError);
      const code = kind.browserCodes ? 4009 : 1009;
      expect(await line.dialer.closed).toMatchObject({ code });
      expect(await line.acceptor.closed).toMatchObject({ code });
    });

    it('takes no notice of a second close, nor of a close after the loss', async () => {
      const { dialer, lose } = await join();
      lose();
      const reason = await dialer.closed;
      expect(await dialer.close({ drainMs: 10 })).toEqual(reason);
      expect(await dialer.close()).toEqual(reason);
    });
  });

  it('does not end before the socket is idle: a close right after a big answer delivers it', async () => {
    const { dialer, acceptor } = await join();
    acceptor.onStream((_payload, stream) => {
      void stream.reply('y'.repeat(4 * MIB));
      void acceptor.close();
    });
    expect(await dialer.request<string>('big')).toHaveLength(4 * MIB);
    expect(await dialer.closed).toMatchObject({ code: 1000 });
    await until('the acceptor to close', () => acceptor.status.state === 'closed');
  });
}
