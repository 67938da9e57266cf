import { describe, expect, it, jest } from '@jest/globals';
import type { CloseHandler, CloseReason, Peer, PeerStatus, Stream, StreamHandler } from '../../src/index.js';
import { GivenSocket } from '../../src/peer/given-socket.js';
import { resolveOptions } from '../../src/peer/options.js';
import { PeerCore } from '../../src/peer/peer-core.js';
import { Peer as PeerClass } from '../../src/peer/peer.js';
import { createPair } from '../../src/testing.js';
import type { PairOptions } from '../../src/testing.js';
import { MemorySocket } from '../../src/transport/memory-socket.js';
import { MemoryLink } from '../../src/transport/memory.js';
import type { Transport } from '../../src/transport/transport.js';
import { ConnectError } from '../../src/wire/errors.js';
import { Subject } from 'rxjs';
import { framesOf } from '../support/peer-frames.js';
import { collectLogs } from '../support/peer-logs.js';
import { settled } from '../support/peer-outcome.js';
import { virtualPeerTime } from '../support/peer-time.js';

const time = virtualPeerTime();
const logs = collectLogs();

const stays: StreamHandler = () => new Promise(() => undefined);

function pair(handler: StreamHandler = stays, options: PairOptions = {}) {
  const made = createPair(options);
  const streams: Stream[] = [];
  made.acceptor.onStream((payload, stream) => {
    streams.push(stream);
    return handler(payload, stream);
  });
  const statuses: PeerStatus[] = [];
  made.dialer.status$.subscribe((status) => statuses.push(status));
  return { ...made, streams, statuses, sent: framesOf(made.dialer) };
}

const CLEAN: CloseReason = { code: 1000, reason: '', wasClean: true, willRetry: false };

describe('a peer', () => {
  it('tells its status now and at each change, and completes behind closed', async () => {
    const { dialer, statuses } = pair();
    const seen: unknown[] = [];
    dialer.status$.subscribe({ next: ({ state }) => seen.push(state), complete: () => seen.push('complete') });
    await time.advance();
    void dialer.close();
    await time.advance();
    expect(seen).toEqual(['open', 'draining', 'closed', 'complete']);
    expect(statuses).toEqual([
      { state: 'open', reconnects: 0 },
      { state: 'draining', by: 'local' },
      { state: 'closed', reason: CLEAN, error: null },
    ]);
    const late: unknown[] = [];
    dialer.status$.subscribe({ next: ({ state }) => late.push(state), complete: () => late.push('complete') });
    expect([late, dialer.status]).toEqual([['closed', 'complete'], statuses[2]]);
  });

  it('resolves opened with itself, and closed with the reason of its socket, for whoever asks, whenever', async () => {
    const { dialer, acceptor } = pair();
    await time.advance();
    expect([await dialer.opened, await acceptor.opened]).toEqual([dialer, acceptor]);
    const closed = dialer.closed;
    void acceptor.close({ reason: 'bye' });
    await time.advance();
    const reason = { ...CLEAN, reason: 'bye' };
    expect([await closed, await dialer.closed, await acceptor.closed]).toEqual([reason, reason, reason]);
    await expect(dialer.opened).rejects.toMatchObject({ code: 'CONNECTION_LOST', reason });
  });

  it('does not make an unhandled rejection of an opened that nobody looks at', async () => {
    const { dialer, link } = pair();
    await time.advance();
    link.cut();
    void dialer.opened;
    await time.advance();
    expect(dialer.status.state).toBe('closed');
  });

  it('emits its frames with their direction and the number of their socket, and completes with its last', async () => {
    const { dialer } = pair((_, stream) => stream.reply(1));
    const seen: unknown[] = [];
    dialer.frames$.subscribe({
      next: ({ direction, frame, connection, peer }) => seen.push([direction, frame.type, connection, peer === dialer]),
      complete: () => seen.push('complete'),
    });
    void dialer.request();
    await time.advance();
    void dialer.close();
    await time.advance();
    expect(seen).toEqual([['tx', 'open', 1, true], ['rx', 'data', 1, true], ['tx', 'goaway', 1, true], 'complete']);
  });

  it('shows tx before it is encoded and rx behind its decoding, as logical frames, slice by slice', async () => {
    const { dialer, acceptor, link } = pair(stays, { maxFrameBytes: 100 });
    const order: unknown[] = [];
    dialer.onFrame((direction, frame) => order.push([direction, frame.fragment]));
    link.messages$.subscribe(({ frame }) => order.push(['wire', frame.fragment]));
    const received = framesOf(acceptor, 'rx');
    dialer.open('x'.repeat(120), { end: true });
    await time.advance();
    expect(order.length).toBeGreaterThan(3);
    for (let at = 0; at < order.length; at += 2)
      expect([order[at], order[at + 1]]).toEqual([
        ['tx', expect.any(String)],
        ['wire', (order[at] as string[])[1]],
      ]);
    expect(received.map((frame) => frame['fragment'])).toEqual(
      order.filter((_, at) => at % 2 === 0).map((entry) => (entry as string[])[1]),
    );
  });

  it('tells each socket loss once, to onClose and closes$, which completes', async () => {
    const { dialer, link } = pair();
    const handler = jest.fn<CloseHandler>();
    const seen: unknown[] = [];
    dialer.onClose(handler);
    dialer.closes$.subscribe({ next: (reason) => seen.push(reason), complete: () => seen.push('complete') });
    await time.advance();
    link.cut({ code: 1001, reason: 'restart' });
    link.cut({ code: 1006 });
    await time.advance();
    const reason = { code: 1001, reason: 'restart', wasClean: false, willRetry: false };
    expect(handler.mock.calls).toEqual([[reason]]);
    expect(seen).toEqual([reason, 'complete']);
  });

  it('fails every live stream with ConnectionLostError that carries the reason, before onClose is told', async () => {
    const { dialer, acceptor, link, streams } = pair((_, stream) => {
      stream.subscribe({ error: () => undefined });
      return new Promise(() => undefined);
    });
    const seen: unknown[] = [];
    const push = acceptor.open('push');
    push.subscribe({ error: (error: unknown) => seen.push(error) });
    dialer.open('a').subscribe({ error: (error: unknown) => seen.push(error) });
    const answer = settled(dialer.request('b'));
    acceptor.onClose(() => seen.push('acceptor'));
    dialer.onClose(() => seen.push('dialer'));
    dialer.onStream(stays);
    await time.advance();
    link.cut({ reason: 'gone' });
    const reason = { code: 1006, reason: 'gone', wasClean: false, willRetry: false };
    const lost = (streamId: number) => expect.objectContaining({ code: 'CONNECTION_LOST', retriable: false, streamId, reason });
    expect(seen).toEqual([lost(1), 'dialer', lost(2), 'acceptor']);
    expect(await answer).toEqual({ error: lost(3) });
    expect(streams.map((stream) => stream.cause)).toEqual([
      { how: 'lost', reason },
      { how: 'lost', reason },
    ]);
  });

  it('measures the round trip in ms', async () => {
    const { dialer, acceptor } = createPair({ latencyMs: 20 });
    const sent = framesOf(acceptor);
    const round = Promise.all([dialer.ping(), dialer.ping()]);
    await time.advance(40);
    expect(await round).toEqual([40, 40]);
    expect(sent).toEqual([
      { type: 'pong', nonce: expect.any(String) },
      { type: 'pong', nonce: expect.any(String) },
    ]);
    expect(sent[0]).not.toEqual(sent[1]);
  });

  it('rejects a ping whose socket ends first, and one without a socket', async () => {
    const { dialer, link } = createPair({ latencyMs: 20 });
    const ping = settled(dialer.ping());
    link.cut({ reason: 'gone' });
    expect(await ping).toEqual({
      error: expect.objectContaining({ code: 'CONNECTION_LOST', reason: expect.objectContaining({ reason: 'gone' }) }),
    });
    expect(await settled(dialer.ping())).toEqual({ error: expect.objectContaining({ code: 'CONNECTION_LOST' }) });
    void dialer.ping();
    await time.advance(100);
  });
});

describe('close()', () => {
  it('gives the same promise as closed', async () => {
    const { dialer } = pair();
    const closed = dialer.close();
    await time.advance();
    expect([await closed, await dialer.closed]).toEqual([CLEAN, CLEAN]);
  });

  it('delivers what was accepted before it', async () => {
    const got: unknown[] = [];
    const { dialer } = pair((payload) => got.push(payload));
    dialer.notify('x');
    void dialer.close();
    await time.advance();
    expect(got).toEqual(['x']);
  });

  it('delivers it also where the socket is full: what is queued is written first', async () => {
    const got: unknown[] = [];
    const { dialer, link } = pair((payload) => got.push((payload as string).length));
    link.stall('acceptor');
    for (let n = 0; n < 4; n++) dialer.notify('x'.repeat(900_000));
    void dialer.close();
    await time.advance(500);
    link.resume('acceptor');
    await time.advance(1_000);
    expect(got).toEqual([900_000, 900_000, 900_000, 900_000]);
    expect(await dialer.closed).toEqual(CLEAN);
  });

  it('refuses new work: no call of this side opens a stream, and the remote’s are REFUSED', async () => {
    const { dialer, acceptor } = pair();
    dialer.onStream(stays);
    const live = dialer.open('live');
    await time.advance();
    void dialer.close({ drainMs: 1_000 });
    expect(await settled(dialer.request('new'))).toEqual({
      error: expect.objectContaining({ code: 'REFUSED', resetCode: null, retriable: true, streamId: null }),
    });
    // The remote has not heard of it yet.
    const push = settled(acceptor.request('push'));
    await time.advance();
    expect(await push).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: true }) });
    expect([live.phase, acceptor.status]).toEqual(['open', { state: 'draining', by: 'remote' }]);
  });

  it('waits for live streams up to drainMs, and no longer than the last of them', async () => {
    const { dialer, streams } = pair();
    const stream = dialer.open('p', { end: true });
    stream.subscribe();
    await time.advance();
    void dialer.close({ drainMs: 10_000 });
    await time.advance(5_000);
    expect(dialer.status.state).toBe('draining');
    void streams[0]?.reply('in time');
    await time.advance();
    expect([stream.cause, dialer.status.state]).toEqual([{ how: 'ended' }, 'closed']);
    expect(time.isOver()).toBe(true);
  });

  it('resets with CANCEL what is left behind drainMs; their consumers see CancelledError', async () => {
    const { dialer, sent } = pair();
    const errors: unknown[] = [];
    dialer.open('p').subscribe({ error: (error: unknown) => errors.push(error) });
    await time.advance();
    void dialer.close({ drainMs: 1_000 });
    await time.advance(999);
    expect(errors).toEqual([]);
    await time.advance(1);
    expect(errors).toEqual([expect.objectContaining({ code: 'CANCELLED', streamId: 1, retriable: false })]);
    expect(sent.slice(1)).toEqual([
      { type: 'goaway', code: 0, last_stream: 0 },
      { type: 'reset', stream: 1, code: 8, reason: 'the connection is closing' },
    ]);
    await time.advance();
    expect(await dialer.closed).toEqual(CLEAN);
  });

  it('names in its goaway the highest stream whose handler was invoked, 0 when there is none', async () => {
    const { dialer, acceptor } = pair();
    const sent = framesOf(acceptor);
    dialer.open('one');
    dialer.open('two');
    await time.advance();
    void acceptor.close({ drainMs: 100 });
    expect(sent).toEqual([{ type: 'goaway', code: 0, last_stream: 3 }]);
    const other = pair();
    const none = framesOf(other.acceptor);
    void other.acceptor.close();
    expect(none).toEqual([{ type: 'goaway', code: 0, last_stream: 0 }]);
  });

  it('is idempotent: a second call sends no second goaway', async () => {
    const { dialer, sent } = pair();
    dialer.open('p');
    await time.advance();
    void dialer.close({ drainMs: 1_000 });
    void dialer.close({ drainMs: 1_000 });
    await time.advance(2_000);
    void dialer.close();
    expect(sent.filter((frame) => frame['type'] === 'goaway')).toHaveLength(1);
    expect(dialer.status.state).toBe('closed');
  });

  it.each<[string, number, number, number]>([
    ['shorten', 10_000, 500, 500],
    ['not lengthen', 500, 10_000, 500],
  ])('can %s its drain by a second call', async (_what, first, second, ms) => {
    const { dialer } = pair();
    dialer.open('p').subscribe({ error: () => undefined });
    await time.advance();
    void dialer.close({ drainMs: first });
    void dialer.close({ drainMs: second });
    await time.advance(ms - 1);
    expect(dialer.status.state).toBe('draining');
    await time.advance(1);
    expect(dialer.status.state).toBe('closed');
  });

  it('waits for ever with drainMs Infinity, until a second call', async () => {
    const { dialer } = pair();
    dialer.open('p').subscribe({ error: () => undefined });
    await time.advance();
    void dialer.close({ drainMs: Infinity });
    await time.advance(86_400_000);
    expect(dialer.status.state).toBe('draining');
    void dialer.close();
    await time.advance();
    expect(dialer.status.state).toBe('closed');
  });

  it.each([-1, NaN, '1' as unknown as number])('throws TypeError for drainMs %p, and closes nothing', async (drainMs) => {
    const { dialer, sent } = pair();
    expect(() => dialer.close({ drainMs })).toThrow(TypeError);
    await time.advance();
    expect([sent, dialer.status.state]).toEqual([[], 'open']);
  });

  it('terminates a socket on which nothing moves for 2 s', async () => {
    const { dialer, link } = pair();
    await time.advance();
    link.stall('acceptor');
    void dialer.close();
    await time.advance(1_900);
    expect(dialer.status.state).toBe('draining');
    await time.advance(200);
    expect(await dialer.closed).toMatchObject({ code: 1006, wasClean: false });
    expect(time.isOver()).toBe(true);
  });

  it('on a stream rejects what is sent later, as cancelled', async () => {
    const { dialer } = pair();
    const stream = dialer.open('p');
    stream.subscribe({ error: () => undefined });
    await time.advance();
    void dialer.close();
    await expect(stream.send('late')).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(logs.warnings).toEqual([]);
  });

  it('by both sides at once is clean on both', async () => {
    const { dialer, acceptor } = pair();
    await time.advance();
    void dialer.close();
    void acceptor.close();
    await time.advance(5_000);
    expect([await dialer.closed, await acceptor.closed]).toEqual([CLEAN, CLEAN]);
    expect(time.isOver()).toBe(true);
  });

  it.each<[string, (peer: Peer, act: () => void) => void]>([
    ['onClose', (peer, act) => void peer.onClose(act)],
    ['onFrame', (peer, act) => void peer.onFrame(act)],
    ['status$', (peer, act) => void peer.status$.subscribe(act)],
    ['a handler', (peer, act) => void peer.onStream(act)],
    ['streams$', (peer, act) => void peer.streams$.subscribe(act)],
    [
      'an open interceptor',
      (peer, act) =>
        void peer.interceptOpen(() => {
          act();
        }),
    ],
    [
      'an incoming-headers interceptor',
      (peer, act) =>
        void peer.interceptIncomingHeaders(() => {
          act();
        }),
    ],
    [
      'a reply-headers interceptor',
      (peer, act) =>
        void peer.interceptReplyHeaders(() => {
          act();
        }),
    ],
  ])('may be called from within %s', async (_where, hang) => {
    const { dialer, acceptor, link } = createPair();
    acceptor.onStream((_, stream) => stream.reply());
    hang(acceptor, () => {
      void acceptor.close();
    });
    await time.advance();
    void settled(dialer.request('p', { headers: { a: 1 } }));
    void settled(acceptor.request('push'));
    await time.advance(3_000);
    link.cut();
    await time.advance(3_000);
    expect([dialer.status.state, acceptor.status.state]).toEqual(['closed', 'closed']);
    expect(time.isOver()).toBe(true);
  });
});

describe('new Peer(socket)', () => {
  function given() {
    const line = new MemoryLink({ protocol: 'mux.v1.json' });
    const remote = new PeerClass(new MemorySocket(line.ends.acceptor, undefined), { isDialer: false, keepalive: false });
    remote.onStream((payload, stream) => stream.reply(payload));
    void remote.serve();
    const socket = new MemorySocket(line.ends.dialer, undefined);
    const peer = new PeerClass(socket, { isDialer: true, keepalive: false });
    return { line, socket, peer, remote };
  }

  it('reads nothing before serve(), and keeps what comes until then', async () => {
    const { peer, remote } = given();
    await time.advance();
    remote.notify('early');
    await time.advance();
    const got: unknown[] = [];
    expect(peer.status.state).toBe('connecting');
    const closed = peer.serve((payload) => got.push(payload));
    await time.advance();
    expect([got, peer.status.state]).toEqual([['early'], 'open']);
    void peer.close();
    await time.advance();
    expect(await closed).toEqual(CLEAN);
  });

  it('keeps its calls until serve()', async () => {
    const { peer } = given();
    const answer = peer.request('p');
    await time.advance();
    void peer.serve();
    void peer.serve();
    await time.advance();
    expect(await answer).toBe('p');
  });

  it('takes its handler from the options too', async () => {
    const line = new MemoryLink({ protocol: 'mux.v1.json' });
    const [peer, remote] = ([true, false] as const).map(
      (isDialer) =>
        new PeerClass(new MemorySocket(isDialer ? line.ends.dialer : line.ends.acceptor, undefined), {
          isDialer,
          keepalive: false,
          onStream: (_, stream) => stream.reply(isDialer),
        }),
    );
    void peer?.serve();
    void remote?.serve();
    const answers = Promise.all([peer?.request(), remote?.request()]);
    await time.advance();
    expect(await answers).toEqual([false, true]);
    expect([peer?.isDialer, remote?.isDialer]).toEqual([true, false]);
  });

  it('closed before serve() ends an open socket in good order, with what was called before', async () => {
    const { peer, remote } = given();
    const got: unknown[] = [];
    await time.advance();
    remote.streams$.subscribe((stream) => got.push(stream.payload));
    peer.notify('bye');
    const closed = peer.close();
    await time.advance();
    expect([await closed, got, await remote.closed]).toEqual([CLEAN, ['bye'], CLEAN]);
    expect(time.isOver()).toBe(true);
  });

  it('closed before its socket is open ends the socket, and refuses what waits with a retriable error', async () => {
    const { peer, socket } = given();
    const outcome = settled(peer.request('p'));
    const closed = await peer.close();
    expect(closed).toEqual({ code: 1000, reason: 'closed before it was open', wasClean: false, willRetry: false });
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'CONNECTION_LOST', retriable: true }) });
    expect(socket.readyState).toBe(3);
    await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    void peer.serve();
    await time.advance(10_000);
    expect(peer.status.state).toBe('closed');
    expect(time.isOver()).toBe(true);
  });

  it('over a socket that ends before it is open is closed with a ConnectError', async () => {
    const { peer, socket } = given();
    const reasons: unknown[] = [];
    peer.onClose((reason) => reasons.push(reason));
    void peer.serve();
    socket.terminate();
    await time.advance();
    await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT' });
    expect(reasons).toEqual([expect.objectContaining({ code: 1006, willRetry: false })]);
  });

  it('refuses calls once its socket has ended: there will be no other', async () => {
    const { peer, line } = given();
    void peer.serve();
    await time.advance();
    line.cut();
    await time.advance();
    expect(await settled(peer.request())).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: true }) });
    peer.reconnectNow();
    expect(peer.status.state).toBe('closed');
  });
});

describe('a peer that is still to be given its socket', () => {
  function promised() {
    const transport$ = new Subject<Transport>();
    const core = new PeerCore(resolveOptions({ keepalive: false }, false));
    const peer = new PeerClass(core, new GivenSocket(core, transport$));
    void peer.serve();
    return { transport$, peer, line: new MemoryLink({ protocol: 'mux.v1.json' }) };
  }

  it('ends a socket that comes when it is closed already', async () => {
    const { transport$, peer, line } = promised();
    void peer.close();
    transport$.next(line.ends.acceptor);
    expect([line.ends.acceptor.closed, peer.status.state]).toEqual([expect.objectContaining({ code: 1006 }), 'closed']);
    await time.advance();
  });

  it.each<[string, unknown, object]>([
    ['the ConnectError it is told', new ConnectError('HTTP 401', { status: 401 }), { code: 'CONNECT', status: 401 }],
    ['a ConnectError of anything else', new Error('no upgrade'), { code: 'CONNECT', message: expect.stringContaining('no upgrade') }],
  ])('is closed with %s when none will come', async (_what, error, expected) => {
    const { transport$, peer } = promised();
    const reasons: unknown[] = [];
    peer.onClose((reason) => reasons.push(reason));
    transport$.error(error);
    await expect(peer.opened).rejects.toMatchObject(expected);
    expect(reasons).toHaveLength(1);
  });
});
