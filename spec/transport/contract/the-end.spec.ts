import { expect, it } from '@jest/globals';
import { firstValueFrom, take, toArray } from 'rxjs';
import { ConnectionLostError, RefusedError, ResetCode } from '../../../src/index.js';
import type { CloseReason, Stream } from '../../../src/index.js';
import { until } from '../../support/socket/leaks.js';
import { oversized, spoilt, undecodable, wrongKind } from '../../support/socket/spoilt.js';
import { onEveryLine } from './every-line.js';

const MIB = 1024 * 1024;

onEveryLine('the end', (join, kind, codec) => {
  it.each(['dialer', 'acceptor'] as const)('Both ends close with 1000 and the same reason when the %s closes', async (side) => {
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

  it('A draining acceptor finishes running calls and refuses new ones', async () => {
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

  it('A call past the last stream of a goaway is refused as retriable', async () => {
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

  it('Both ends fail their live streams when the socket is lost', async () => {
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
  ] as const)('Peer answers %s with %i, or with the code its platform allows instead', async (_what, code, bad) => {
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

  it('The acceptor answers a message over maxMessageBytes with 1009', async () => {
    const line = await join({
      dialer: { codec: spoilt(codec, () => oversized(codec)) },
      acceptor: { limits: { maxMessageBytes: 65_536 } },
    });
    await expect(line.dialer.ping()).rejects.toBeInstanceOf(ConnectionLostError);
    expect(await line.acceptor.closed).toMatchObject({ code: 1009 });
    expect(await line.dialer.closed).toMatchObject({ code: 1009 });
  });

  it('The dialer answers a message over maxMessageBytes with 1009, or 4009 in browsers', async () => {
    const line = await join({
      acceptor: { codec: spoilt(codec, () => oversized(codec)) },
      dialer: { limits: { maxMessageBytes: 65_536 } },
    });
    await expect(line.acceptor.ping()).rejects.toBeInstanceOf(ConnectionLostError);
    const code = kind.browserCodes ? 4009 : 1009;
    expect(await line.dialer.closed).toMatchObject({ code });
    expect(await line.acceptor.closed).toMatchObject({ code });
  });

  it('Peer ignores a second close, and a close after the connection is lost', async () => {
    const { dialer, lose } = await join();
    lose();
    const reason = await dialer.closed;
    expect(await dialer.close({ drainMs: 10 })).toEqual(reason);
    expect(await dialer.close()).toEqual(reason);
  });

  it('Peer delivers a big answer before it closes', async () => {
    const { dialer, acceptor } = await join();
    acceptor.onStream((_payload, stream) => {
      void stream.reply('y'.repeat(4 * MIB));
      void acceptor.close();
    });
    expect(await dialer.request<string>('big')).toHaveLength(4 * MIB);
    expect(await dialer.closed).toMatchObject({ code: 1000 });
    await until('the acceptor to close', () => acceptor.status.state === 'closed');
  });
});
