import { describe, expect, it } from '@jest/globals';
import { concatMap, firstValueFrom, from, lastValueFrom, range, take, toArray } from 'rxjs';
import { connect, Peer, ResetCode, respond } from '../../src/index.js';
import type { StreamHandler } from '../../src/index.js';
import { CODECS } from '../support/codec/shipped.js';
import { echo } from '../support/peer/dialing.js';
import { collectLogs } from '../support/peer/logs.js';
import { synchronousSockets } from '../support/socket/synchronous.js';

const logs = collectLogs();

const LARGE = 'x'.repeat(300_000);

describe.each(CODECS)('Sockets that deliver within `send`, under %s', (_name, codec) => {
  function pair(onStream: StreamHandler = echo) {
    const sockets = synchronousSockets(`mux.v1.${codec.name}`);
    const acceptor = new Peer(sockets.acceptor, { isDialer: false, codec, onStream, keepalive: false });
    const dialer = new Peer(sockets.dialer, { isDialer: true, codec, keepalive: false });
    void acceptor.serve();
    void dialer.serve(echo);
    return { acceptor, dialer };
  }

  it.each([
    ['a small payload', 'p'],
    ['a payload of several slices', LARGE],
  ])('A synchronous socket answers requests with %s in both directions', async (_what, payload) => {
    const { acceptor, dialer } = pair();
    const answers = await Promise.all([dialer.request(payload), dialer.request(payload), acceptor.request(payload)]);
    expect(answers.map((answer) => answer === payload)).toEqual([true, true, true]);
    expect([logs.warnings, logs.errors]).toEqual([[], []]);
  });

  it('A synchronous socket answers requests that are made within an answer', async () => {
    const { dialer } = pair();
    const answer$ = dialer.request$<number>(1).pipe(concatMap((one) => dialer.request$<number>(one + 1)));
    expect(await firstValueFrom(answer$)).toBe(2);
  });

  it('A synchronous socket carries an upload and its answers', async () => {
    const { acceptor, dialer } = pair();
    acceptor.streams$.pipe(respond((_payload, stream) => from(stream))).subscribe();
    const answers$ = dialer.open$('up', { input: range(0, 100) }).pipe(toArray());
    expect(await lastValueFrom(answers$)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  it('A synchronous socket carries pulled inputs in both directions', async () => {
    const { dialer } = pair(async (_payload, stream) => stream.sendAll(stream));
    const stream = dialer.open<number, number>('up');
    const answers = lastValueFrom(stream.pipe(toArray()));
    await stream.sendAll([1, 2, 3]);
    expect(await answers).toEqual([1, 2, 3]);
  });

  it('A synchronous socket carries a cancel, and delivers notifications in order', async () => {
    const seen: unknown[] = [];
    const { dialer } = pair((payload, stream) => {
      seen.push(payload);
      return stream.sendAll(range(0, 1_000));
    });
    expect(await lastValueFrom(dialer.open$('ticks').pipe(take(2), toArray()))).toEqual([0, 1]);
    dialer.notify('a');
    dialer.notify(LARGE);
    dialer.notify('b');
    await dialer.close();
    expect(seen.map((value) => String(value).length)).toEqual([5, 1, 300_000, 1]);
  });

  it('A synchronous socket carries a ping, and both sides close cleanly', async () => {
    const { acceptor, dialer } = pair();
    expect(await dialer.ping()).toBeGreaterThanOrEqual(0);
    expect(await dialer.close()).toMatchObject({ code: 1000, wasClean: true });
    expect(await acceptor.closed).toMatchObject({ code: 1000, wasClean: true });
  });

  it('A synchronous socket answers calls that waited for the hello reply, and counts unread bytes', async () => {
    const sockets = synchronousSockets(`mux.v1.${codec.name}`);
    const acceptor = new Peer(sockets.acceptor, { isDialer: false, codec, onStream: echo, keepalive: false });
    void acceptor.serve();
    const peer = connect('ws://example.org', {
      codec,
      socket: () => sockets.dialer,
      hello: () => ({ payload: 'token' }),
      limits: { maxUnreadBytes: 1_000 },
      keepalive: false,
    });
    const [read, unread] = [peer.open('p', { end: true }), peer.open('x'.repeat(2_000), { end: true })];
    expect(await peer.request('asked')).toBe('asked');
    expect(await firstValueFrom(read)).toBe('p');
    expect(unread.cause).toMatchObject({ how: 'reset', by: 'library', code: ResetCode.FLOW_CONTROL });
    await peer.close();
  });
});
