import { inspect } from 'node:util';
import { describe, expect, it, jest } from '@jest/globals';
import { filter, lastValueFrom, timer } from 'rxjs';
import { connect as connectFromIndex, encodedLength, JsonCodec, ResetCode, ResetError } from '../../src/index.js';
import type { CloseHandler, CloseReason, ConnectOptions, Hello, Peer, PeerStatus } from '../../src/index.js';
import { serve } from '../../src/node.js';
import { StatusTracker } from '../../src/peer/status.js';
import { createPair, createServer } from '../../src/testing.js';
import { dialing, echo, echoing, welcome } from '../support/peer/dialing.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { Network } from '../support/peer/network.js';
import { settled } from '../support/peer/outcome.js';
import { pair } from '../support/peer/pairs.js';
import { stays } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { connect, createPair as createPairFromTracked } from '../support/peer/tracked.js';

describe('status', () => {
  const OPEN: PeerStatus = { state: 'open', reconnects: 0 };
  const DRAINING: PeerStatus = { state: 'draining', by: 'local' };
  const REASON = { code: 1000, reason: '', wasClean: true, willRetry: false };
  const CLOSED: PeerStatus = { state: 'closed', reason: REASON, error: null };

  /** A tracker, and the states that two subscribers saw. A subscriber between them calls `change` at `open`. */
  function told(change: (status: StatusTracker) => void) {
    const status = new StatusTracker();
    const [first, second]: [string[], string[]] = [[], []];
    status.status$.subscribe({ next: ({ state }) => first.push(state), complete: () => first.push('complete') });
    status.status$.pipe(filter(({ state }) => state === 'open')).subscribe(() => {
      change(status);
    });
    status.status$.subscribe({ next: ({ state }) => second.push(state), complete: () => second.push('complete') });
    return { status, first, second };
  }

  describe('Subscriber of `status$` that changes the status', () => {
    it('`status$` emits the change of a subscriber to all subscribers after the status that caused it', () => {
      const { status, first, second } = told((teller) => {
        teller.set(DRAINING);
      });
      status.set(OPEN);
      expect([first, second]).toEqual([
        ['connecting', 'open', 'draining'],
        ['connecting', 'open', 'draining'],
      ]);
    });

    it('A subscriber of `status$` that changes the status reads the change at once', () => {
      const seen: string[] = [];
      const { status } = told((teller) => {
        teller.set(DRAINING);
        seen.push(teller.now.state);
      });
      status.set(OPEN);
      expect(seen).toEqual(['draining']);
    });

    it('A subscriber of `status$` may end it: all subscribers receive the last status and the completion', () => {
      const { status, first, second } = told((teller) => {
        teller.set(CLOSED);
        teller.complete();
      });
      status.set(OPEN);
      expect([first, second]).toEqual([
        ['connecting', 'open', 'closed', 'complete'],
        ['connecting', 'open', 'closed', 'complete'],
      ]);
    });
  });

  it.each<[string, (peer: Peer) => unknown]>([
    ['status$', ({ status$ }) => status$],
    ['streams$', ({ streams$ }) => streams$],
    ['frames$', ({ frames$ }) => frames$],
    ['closes$', ({ closes$ }) => closes$],
    ['closed', ({ closed }) => closed],
  ])('`%s` is the same object at each read, so that a template or an effect does not restart', (_what, read) => {
    const { dialer } = createPair();
    expect(read(dialer)).toBe(read(dialer));
  });

  it('`opened` and `closed` settle for every caller that waits', async () => {
    const status = new StatusTracker();
    const opened = (): Promise<void> =>
      new Promise((resolve, reject) => {
        status.whenOpened(resolve, reject);
      });
    const waiting = [opened(), opened()];
    const { closed } = status;
    status.set(OPEN);
    await expect(Promise.all([...waiting, opened()])).resolves.toHaveLength(3);
    status.set(CLOSED);
    await expect(closed).resolves.toEqual(REASON);
    await expect(opened()).rejects.toMatchObject({ code: 'CONNECTION_LOST', reason: REASON });
  });

  it('`status$` emits the last status to a late subscriber, and completes', () => {
    const status = new StatusTracker();
    status.set(CLOSED);
    status.complete();
    const seen: string[] = [];
    status.status$.subscribe({ next: ({ state }) => seen.push(state), complete: () => seen.push('complete') });
    expect(seen).toEqual(['closed', 'complete']);
  });
});

describe('Peer', () => {
  const time = virtualPeerTime();

  /** A hello that takes 400 ms to make. */
  const later = (): Promise<Hello> => lastValueFrom(timer(400)).then(() => ({ payload: 'me' }));

  const CLEAN: CloseReason = { code: 1000, reason: '', wasClean: true, willRetry: false };

  it('`status$` emits the current status and each change, and completes after `closed`', async () => {
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

  it('`opened` resolves with the peer, and `closed` with the reason of its socket, for early and late callers', async () => {
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

  it('An unused `opened` of a closed peer causes no unhandled rejection', async () => {
    const { dialer, link } = pair();
    await time.advance();
    link.cut();
    void dialer.opened;
    await time.advance();
    expect(dialer.status.state).toBe('closed');
  });

  it('`frames$` emits each frame with its direction and socket number, and completes after the last frame', async () => {
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

  it('`onFrame` sees each slice as a logical frame: tx before encoding, rx after decoding', async () => {
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

  it('`onClose` and `closes$` report a lost socket once, and `closes$` completes', async () => {
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

  it('A lost socket fails every live stream with the reason of the loss, before `onClose` runs', async () => {
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

  it('`ping` measures the round trip in ms', async () => {
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

  it('`ping` rejects when the socket ends first, and when no socket exists', async () => {
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

  it('`ping` of a closed peer rejects with the close reason', async () => {
    const { dialer } = createPair();
    void dialer.close();
    await time.advance();
    expect(await settled(dialer.ping())).toEqual({
      error: expect.objectContaining({ code: 'CONNECTION_LOST', reason: await dialer.closed }),
    });
  });

  it.each<[string, ConnectOptions]>([
    ['that is being made', {}],
    ['of a peer that dials on its first call', { lazy: true }],
  ])('`ping` waits for the connection %s, and does not count the wait', async (_when, options) => {
    const network = new Network({ onHello: welcome, onStream: echo });
    const peer = dialing(network, { hello: later, ...options });
    const ping = settled(peer.ping());
    await time.advance(500);
    expect([await ping, network.dials.length]).toEqual([{ value: 0 }, 1]);
  });

  it.each<[string, number | null, object]>([
    ['the connection cannot be made', 403, { code: 'CONNECT', status: 403 }],
    ['the peer is closed first', null, { code: 'CONNECTION_LOST' }],
  ])('A waiting `ping` rejects when %s', async (_what, status, error) => {
    const network = echoing();
    network.answer = status === null ? 'silence' : { status };
    const peer = dialing(network);
    const ping = settled(peer.ping());
    if (status === null) void peer.close();
    await time.advance();
    expect(await ping).toEqual({ error: expect.objectContaining(error) });
    void peer.ping();
  });
});

describe('stats', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  /** Advances the time until a call has ended, in one way or another. */
  async function done(call: Promise<unknown>): Promise<void> {
    void call.catch(() => undefined);
    await time.advance(10);
  }

  /** Counts the frames and bytes that a peer emits. */
  function counted(peer: Peer): Record<'sent' | 'received', { frames: number; bytes: number }> {
    const seen = { sent: { frames: 0, bytes: 0 }, received: { frames: 0, bytes: 0 } };
    const codec = new JsonCodec();
    peer.onFrame((direction, frame) => {
      const traffic = direction === 'tx' ? seen.sent : seen.received;
      traffic.frames++;
      traffic.bytes += encodedLength(codec.encode(frame));
    });
    return seen;
  }

  describe('the stats of a peer', () => {
    it('A new peer has counted nothing', () => {
      const { dialer } = createPairFromTracked();
      expect(dialer.stats()).toEqual({
        streams: { open: 0, remote: 0, waiting: 0, opened: 0 },
        ended: {},
        sent: { frames: 0, bytes: 0 },
        received: { frames: 0, bytes: 0 },
        queue: { frames: 0, bytes: 0 },
        bytes: { held: 0, unsent: 0 },
        limits: {
          maxStreams: { used: 0, max: 1_000 },
          maxHeldBytes: { used: 0, max: 64 * 1024 * 1024 },
          maxUnsentBytes: { used: 0, max: 64 * 1024 * 1024 },
          maxQueuedBytes: { used: 0, max: 16 * 1024 * 1024 },
        },
        rttMs: null,
      });
    });

    it('A peer counts the frames that its observers see, and their bytes, in both directions', async () => {
      const { dialer, acceptor } = createPairFromTracked();
      const seen = counted(dialer);
      acceptor.onStream((payload, stream) => stream.reply(payload));
      await done(dialer.request('a short one'));
      await done(dialer.request('ü'.repeat(100_000)));
      expect(dialer.stats()).toMatchObject(seen);
      expect(acceptor.stats()).toMatchObject({ sent: seen.received, received: seen.sent });
      expect(seen.sent.frames).toBeGreaterThan(3);
    });

    it('Live streams count at both ends, and an open stream of the remote takes a place', async () => {
      const { dialer, acceptor } = createPairFromTracked();
      acceptor.onStream((_payload, { closed }) => closed);
      const stream = dialer.open('first');
      dialer.open('second');
      await done(dialer.ping());
      expect(dialer.stats().streams).toEqual({ open: 2, remote: 0, waiting: 0, opened: 2 });
      expect(acceptor.stats().streams).toEqual({ open: 2, remote: 2, waiting: 0, opened: 2 });
      expect(acceptor.stats().limits.maxStreams.used).toBe(2);
      stream.reset(ResetCode.CANCEL);
      await done(dialer.ping());
      expect(acceptor.stats().streams).toEqual({ open: 1, remote: 1, waiting: 0, opened: 2 });
    });

    it('Streams that have ended count by cause', async () => {
      const { dialer, acceptor } = createPairFromTracked({ acceptor: { limits: { maxStreams: 2 } } });
      acceptor.onStream(async (payload, stream) => {
        if (payload === 'answer') await stream.reply(payload);
        else if (payload === 'own code') throw new ResetError(300, 'mine');
        else if (payload === 'wait') await stream.closed;
      });
      dialer.notify('answer');
      await done(dialer.request('answer'));
      await done(dialer.request('own code'));
      const held = [dialer.open('wait'), dialer.open('wait')];
      await done(dialer.request('one too many'));
      held[0]?.reset(ResetCode.CANCEL);
      await done(dialer.ping());
      expect(dialer.stats().ended).toEqual({ ended: 2, 'remote reset other': 1, 'remote reset REFUSED': 1, 'user reset CANCEL': 1 });
      expect(acceptor.stats().ended).toEqual({ ended: 2, 'user reset other': 1, 'library reset REFUSED': 1, 'remote reset CANCEL': 1 });
      expect(logs.warnings).toHaveLength(1);
      await done(dialer.close());
      for (const peer of [dialer, acceptor]) {
        const { streams, ended } = peer.stats();
        expect([streams.open, streams.opened]).toEqual([0, Object.values(ended).reduce((sum, count) => sum + count)]);
      }
    });

    it('Frames wait while the line takes nothing, and are lost with the socket', async () => {
      const { dialer, link } = createPairFromTracked();
      link.stall('acceptor');
      const stream = dialer.open('x'.repeat(2_000_000));
      for (const value of ['second', 'third']) void stream.send(value).catch(() => undefined);
      const { queue, bytes, limits } = dialer.stats();
      expect(queue.frames).toBe(3);
      expect(queue.bytes).toBeGreaterThan(500_000);
      expect(bytes.unsent).toBeGreaterThan(queue.bytes);
      expect(limits.maxUnsentBytes.used).toBe(queue.bytes);
      link.cut();
      await time.advance(10);
      expect(dialer.stats()).toMatchObject({ streams: { open: 0, opened: 1 }, ended: { lost: 1 }, queue: { frames: 0, bytes: 0 } });
    });

    it('A reset without a code, or with one out of range, has a name of its own or none', async () => {
      const { dialer, acceptor } = createPairFromTracked();
      acceptor.onStream((code, stream) => {
        stream.reset(code as number, 'so');
      });
      for (const code of [-5, 255, 2 ** 40, ResetCode.APPLICATION_ERROR]) await done(dialer.request(code));
      expect(dialer.stats().ended).toEqual({
        'remote reset other': 2,
        'remote reset 255': 1,
        'remote reset APPLICATION_ERROR': 1,
      });
    });

    it('Received bytes that no reader takes are held, and count against their limit', async () => {
      const { dialer, acceptor } = createPairFromTracked({ acceptor: { limits: { maxHeldBytes: 1_000_000 } } });
      acceptor.onStream((_payload, { closed }) => closed);
      const stream = dialer.open();
      void stream.send('x'.repeat(1_000));
      await done(dialer.ping());
      const { bytes, limits } = acceptor.stats();
      expect(bytes.held).toBeGreaterThan(1_000);
      expect(limits.maxHeldBytes).toEqual({ used: bytes.held, max: 1_000_000 });
    });
  });

  describe('the stats of a peer without a socket', () => {
    it('Calls wait, take bytes of maxQueuedBytes, and count as opened once a socket has them', async () => {
      const server = createServer({ onStream: (payload, stream) => stream.reply(payload) });
      const peer = connect('ws://test', { socket: server.socket, keepalive: false });
      const answer = peer.request('x'.repeat(500));
      expect(peer.stats()).toMatchObject({
        streams: { open: 0, waiting: 1, opened: 0 },
        queue: { frames: 0, bytes: 0 },
        bytes: { unsent: 502 },
        limits: { maxQueuedBytes: { used: 502 } },
      });
      await done(answer);
      expect(peer.stats().streams).toEqual({ open: 0, remote: 0, waiting: 0, opened: 1 });
    });

    it('The counts go on over the next socket, and a call that waits for it counts once', async () => {
      const server = createServer({ onStream: (payload, stream) => stream.reply(payload) });
      const peer = connect('ws://test', { socket: server.socket, keepalive: false, reconnect: true });
      await done(peer.request('one'));
      const first = peer.stats();
      server.link?.cut();
      const answer = peer.request('two');
      await time.advance(5_000);
      await answer;
      const { streams, ended, sent, received } = peer.stats();
      expect([streams.open, streams.opened, ended]).toEqual([0, 2, { ended: 2 }]);
      expect(sent).toEqual({ frames: 2 * first.sent.frames, bytes: 2 * first.sent.bytes });
      expect(received).toEqual({ frames: 2 * first.received.frames, bytes: 2 * first.received.bytes });
    });
  });
});

describe('shown', () => {
  const time = virtualPeerTime();
  const plain = (value: object): string => inspect(value).replace(/\d+/, 'N');

  describe('Inspected peers and streams', () => {
    it('Inspecting a peer in Node shows its address, state, side and counts', async () => {
      const network = new Network({ onStream: (_, stream) => stream.closed });
      const peer = connectFromIndex('ws://host.test/mux?token=secret', { socket: network.socket });
      peer.open({ secret: 1 }, { headers: { secret: 1 } });
      expect(plain(peer)).toBe(
        `Peer N (ws://host.test/mux) { state: connecting, dialer, streams: 1, bufferedAmount: ${peer.bufferedAmount} }`,
      );
      await time.advance();
      expect(plain(peer)).toBe('Peer N (ws://host.test/mux) { state: open, dialer, streams: 1, bufferedAmount: 0 }');
      expect(String(network.last.peer)).toMatch(/^Peer \d+ \{ state: open, acceptor, streams: 1, bufferedAmount: 0 \}$/);
      void peer.close({ drainMs: 0 });
      await time.advance();
    });

    it('Inspecting a stream in Node shows its id, side and phase, and no payload or header', async () => {
      const { dialer, acceptor } = createPair();
      const shown: string[] = [];
      acceptor.onStream((_, stream) => {
        shown.push(inspect(stream));
      });
      const stream = dialer.open({ secret: 1 }, { headers: { secret: 1 } });
      await time.advance();
      expect([...shown, inspect(stream)]).toEqual([
        'Stream 1 { opened by the remote, phase: open }',
        'Stream 1 { opened by this side, phase: closed }',
      ]);
      const queued = connectFromIndex('ws://test', { lazy: true, socket: new Network().socket }).open();
      expect(String(queued)).toBe('Stream { opened by this side, phase: idle }');
      queued.peer.close().catch(() => undefined);
      await time.advance();
    });
  });

  describe('An inspected server', () => {
    it('Inspecting a server in Node shows its address, its number of peers, and whether it drains', async () => {
      const server = serve({ port: 0, host: '127.0.0.1' });
      expect(inspect(server)).toMatch(/^MuxServer \{ at: .*, peers: 0, taking peers \}$/);
      await server.listening;
      expect(String(server)).toMatch(/^MuxServer \{ at: 127\.0\.0\.1 port \d+, peers: 0, taking peers \}$/);
      await server.close();
      expect(inspect(server)).toBe('MuxServer { at: no address, peers: 0, draining }');
    });
  });
});

describe('tags', () => {
  collectLogs();

  // Vue wraps each object with the tag of a plain object in a Proxy. The Proxy has no private fields and another identity.
  it('Peer, Stream and MuxServer have tags other than the tag of plain objects', async () => {
    const { dialer } = createPair();
    const server = serve({ port: 0, handler: () => undefined });
    await server.listening;
    await server.close();
    const tags = [dialer, dialer.open('p'), server].map((object) => Object.prototype.toString.call(object));
    expect(tags).toEqual(['[object Peer]', '[object Stream]', '[object MuxServer]']);
  });
});
