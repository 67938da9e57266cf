import { describe, expect, it, jest } from '@jest/globals';
import { skip, Subject } from 'rxjs';
import { connect, Peer, reopenOnReconnect } from '../../../src/index.js';
import type { CloseReason, ConnectOptions, Hello, StreamHandler } from '../../../src/index.js';
import { PeerCore } from '../../../src/peer/core.js';
import { Backoff } from '../../../src/peer/dial/backoff.js';
import { Dialer } from '../../../src/peer/dial/dialer.js';
import { GivenSocket } from '../../../src/peer/dial/given-socket.js';
import { resolveOptions } from '../../../src/peer/options.js';
import { MemoryLink } from '../../../src/testing/memory-link.js';
import type { PageEvent } from '../../../src/transport/connectivity.js';
import { W3cTransport } from '../../../src/transport/w3c.js';
import { dialing, echo, echoing, greeted, holding, later, reconnecting, spell, watched, welcome } from '../../support/peer/dialing.js';
import type { Watched } from '../../support/peer/dialing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Network } from '../../support/peer/network.js';
import type { Answer } from '../../support/peer/network.js';
import { progressOf, settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';

describe('`close` of a dialing peer', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  const cut = { code: 1006, reason: '', wasClean: false };

  /** A lazy peer whose socket factory closes the peer, and then calls `make`. */
  function closedInFactory(make: NonNullable<ConnectOptions['socket']>): Peer {
    const peers: Peer[] = [];
    const peer = connect('ws://test', {
      lazy: true,
      reconnect: true,
      socket: (...address) => {
        void peers[0]?.close();
        return make(...address);
      },
    });
    peers.push(peer);
    return peer;
  }

  it.each<[string, (network: Network, peer: Peer) => void | Promise<void>]>([
    ['while it dials', (network) => void (network.answer = 'silence')],
    [
      'while it waits',
      async (network) => {
        await time.advance();
        network.last.link.cut();
      },
    ],
    ['while it is open', () => time.advance()],
    [
      'while it drains',
      async (network) => {
        await time.advance();
        void network.last.peer.close({ drainMs: 1_000 });
        await time.advance();
      },
    ],
  ])('`close` of a peer %s stops its dials and leaves no timer', async (_when, before) => {
    const network = echoing();
    if (_when === 'while it dials') network.answer = 'silence';
    const { peer, states } = reconnecting(network);
    await before(network, peer);
    const dials = network.dials.length;
    void peer.close();
    await time.advance(5_000);
    expect([network.dials.length, peer.status.state]).toEqual([dials, 'closed']);
    expect(states.filter((state) => state.startsWith('closed'))).toHaveLength(1);
    expect(time.isOver()).toBe(true);
  });

  it('`close` before the answer to the hello is no failure', async () => {
    const network = new Network({ onHello: () => new Promise(() => undefined) });
    const { peer } = reconnecting(network, { hello: () => ({}) });
    await time.advance();
    void peer.close();
    await time.advance(5_000);
    expect(peer.status).toEqual({ state: 'closed', reason: await peer.closed, error: null });
    await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  });

  it('`close` in `onClose` ends the peer with the reason of the loss, and later handlers see that no retry follows', async () => {
    const network = echoing();
    const { peer, reasons } = reconnecting(network);
    const late: CloseReason[] = [];
    const first = peer.onClose(() => {
      first();
      void peer.close();
    });
    peer.closes$.subscribe((reason) => late.push(reason));
    await time.advance();
    network.last.link.cut();
    expect([reasons, late, peer.status]).toEqual([
      [{ ...cut, willRetry: true }],
      [{ ...cut, willRetry: false }],
      { state: 'closed', reason: { ...cut, willRetry: false }, error: null },
    ]);
    await time.advance(60_000);
    expect(network.dials).toHaveLength(1);
    expect(time.isOver()).toBe(true);
  });

  it('`close` in `onClose` of a final dial leaves the error of the dial to the waiting calls', async () => {
    const network = new Network();
    network.answer = { status: 503 };
    const { peer } = reconnecting(network, { reconnect: false });
    peer.onClose(() => void peer.close());
    const outcome = settled(peer.request('p'));
    await time.advance();
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'CONNECT', status: 503, retriable: true }) });
  });

  it('`close` in the observer of a ping that waited for the socket ends the peer, and each status comes once', async () => {
    const network = echoing();
    const { peer, states } = reconnecting(network);
    const closed: number[] = [];
    peer.onFrame((_direction, { type }) => {
      if (type === 'ping') void peer.close().then(({ code }) => closed.push(code));
    });
    void settled(peer.ping());
    await time.advance();
    expect([closed, states]).toEqual([[1000], ['connecting 1', 'open 0', 'draining by local', 'closed 1000']]);
  });

  it('Calls that wait fail at once when the observer of a call before them closes the peer with a drain', async () => {
    const { peer } = reconnecting(holding());
    const first = peer.onFrame(() => {
      first();
      void peer.close({ drainMs: Infinity });
    });
    const outcomes = ['first', 'second'].map((payload) => progressOf(peer.request(payload)));
    await time.advance();
    expect(outcomes).toEqual([
      { settled: false, error: null },
      { settled: true, error: expect.objectContaining({ code: 'REFUSED', reason: 'this peer was closed' }) },
    ]);
    void peer.close();
  });

  it('`close` does not call `shouldRetry`', async () => {
    const network = echoing();
    const shouldRetry = jest.fn(() => true);
    const { peer } = reconnecting(network, { reconnect: { shouldRetry } });
    await time.advance();
    void peer.close();
    await time.advance(5_000);
    expect([peer.status.state, shouldRetry.mock.calls]).toEqual(['closed', []]);
  });

  it.each(['waiting', 'connecting', 'open'])('`close` in `status$` ends a peer that is %s', async (when) => {
    const network = echoing();
    const { peer } = reconnecting(network);
    await time.advance();
    const dials = network.dials.length + (when === 'open' ? 1 : 0);
    peer.status$.pipe(skip(1)).subscribe(({ state }) => {
      if (state === when) void peer.close();
    });
    network.last.link.cut();
    await time.advance(60_000);
    expect([network.dials.length, peer.status.state]).toEqual([dials, 'closed']);
    expect(time.isOver()).toBe(true);
  });

  it('`close` in the socket factory ends the new socket before it opens', async () => {
    const network = new Network();
    network.answer = 'silence';
    const peer = closedInFactory(network.socket);
    peer.open().subscribe({ error: () => undefined });
    await time.advance(60_000);
    expect([network.dials.length, network.givenUp, peer.status.state]).toEqual([1, 1, 'closed']);
    expect(time.isOver()).toBe(true);
  });

  it('`close` in the socket factory ends a socket that is already open', async () => {
    const network = echoing();
    const open = network.socket('ws://test', 'mux.v1.json');
    await time.advance();
    const received = framesOf(network.last.peer, 'rx');
    const reasons: CloseReason[] = [];
    const peer = closedInFactory(() => open);
    peer.onClose((reason) => reasons.push(reason));
    const outcome = settled(peer.request('p'));
    await time.advance(5_000);
    expect(await outcome).toEqual({ error: expect.objectContaining({ retriable: true }) });
    expect([received, reasons, peer.status.state, network.last.peer.status.state]).toEqual([[], [], 'closed', 'closed']);
  });

  it('`close` in a socket factory that throws reports no failure', async () => {
    const reasons: CloseReason[] = [];
    const peer = closedInFactory(() => {
      throw new Error('no socket');
    });
    peer.onClose((reason) => reasons.push(reason));
    peer.open().subscribe({ error: () => undefined });
    await time.advance(60_000);
    expect([reasons, peer.status]).toMatchObject([[], { state: 'closed', error: null }]);
    expect(time.isOver()).toBe(true);
  });

  it.each<[string, number, (peer: Peer) => void]>([
    ['warns with the number of notifications that never left', 2, (peer) => ['a', 'b'].forEach((payload) => peer.notify(payload))],
    ['warns of no call that rejects', 0, (peer) => void settled(peer.request('a'))],
    ['logs nothing without waiting calls', 0, () => undefined],
  ])('`close` before the opening %s', async (_tells, count, call) => {
    const network = echoing();
    const { peer } = reconnecting(network);
    const received = framesOf(network.last.peer, 'rx');
    call(peer);
    await peer.close();
    await time.advance(5_000);
    expect([received, logs.warnings]).toEqual([[], count === 0 ? [] : [expect.stringContaining(`${count} notify() never left`)]]);
  });

  it('`notify` after `close` warns that the notification never left', async () => {
    const { peer } = reconnecting(echoing());
    await time.advance();
    void peer.close();
    await time.advance(5_000);
    peer.notify('a');
    expect(logs.warnings).toEqual(['rxmux: 1 notify() never left: this peer was closed']);
  });

  it('`close` of an open peer writes the accepted frames', async () => {
    const network = echoing();
    const { peer } = reconnecting(network);
    await time.advance();
    const received = framesOf(network.last.peer, 'rx');
    peer.notify('a');
    void peer.close();
    await time.advance(5_000);
    expect([received, logs.warnings]).toEqual([expect.arrayContaining([{ type: 'open', stream: 1, end: true, payload: 'a' }]), []]);
  });
});

describe('A lazy peer with `idleCloseMs`', () => {
  const time = virtualPeerTime();

  const IDLE = { lazy: true, idleCloseMs: 1_000 };

  /** A lazy peer that closes when it is idle, after its first request. */
  async function used(onStream: StreamHandler = echo): Promise<Watched> {
    const peer = watched(new Network({ onStream }), IDLE);
    void settled(peer.peer.request('first'));
    await time.advance();
    return peer;
  }

  /** How many sockets of a network are open. */
  const openSockets = ({ network }: Watched): number => network.dials.filter(({ peer }) => peer.status.state === 'open').length;

  it('A lazy peer closes its socket when no stream was open for `idleCloseMs`, and stays alive', async () => {
    const mine = await used();
    await time.advance(999);
    expect(openSockets(mine)).toBe(1);
    await time.advance(1);
    expect(openSockets(mine)).toBe(0);
    expect(mine.reasons).toEqual([{ code: 1000, reason: 'idle', wasClean: true, willRetry: true }]);
    expect(mine.states).toEqual(['connecting 1', 'connecting 1', 'open 0', 'connecting 1']);
  });

  it('The next call dials again, with a hello of its own', async () => {
    const mine = greeted({ ...IDLE, hello: () => ({ payload: 'ann' }) });
    void settled(mine.peer.request('first'));
    await time.advance(5_000);
    expect(mine.network.dials).toHaveLength(1);
    const answer = settled(mine.peer.request('second'));
    await time.advance();
    expect(await answer).toEqual({ value: 'second' });
    expect(mine.network.dials).toHaveLength(2);
    expect(mine.peer.status).toEqual({ state: 'open', reconnects: 1 });
    await time.advance(5_000);
    expect(mine.reasons).toHaveLength(2);
  });

  it('A call while the idle socket closes waits for the next socket', async () => {
    const mine = await used();
    await time.advance(999);
    const answers: unknown[] = [];
    mine.peer.onFrame((direction, { type }) => {
      if (direction === 'tx' && type === 'goaway') void mine.peer.request('just now').then((answer) => answers.push(answer));
    });
    await time.advance(100);
    expect(answers).toEqual(['just now']);
    expect(mine.network.dials).toHaveLength(2);
  });

  it('An open stream of this side keeps the socket', async () => {
    const mine = await used(later(10_000, echo));
    await time.advance(9_999);
    expect(openSockets(mine)).toBe(1);
    await time.advance(1 + 999);
    expect(openSockets(mine)).toBe(1);
    await time.advance(1);
    expect(openSockets(mine)).toBe(0);
  });

  it('An open stream of the server keeps the socket', async () => {
    const mine = await used();
    mine.peer.onStream(later(10_000, echo));
    const pushed = settled(mine.network.last.peer.request('push'));
    await time.advance(10_000);
    expect(await pushed).toEqual({ value: 'push' });
    expect(openSockets(mine)).toBe(1);
    await time.advance(1_000);
    expect(openSockets(mine)).toBe(0);
  });

  it('Each call begins the idle time anew', async () => {
    const mine = await used();
    for (let n = 0; n < 5; n++) {
      await time.advance(900);
      void settled(mine.peer.request(n));
      await time.advance();
    }
    expect(mine.network.dials).toHaveLength(1);
    await time.advance(1_000);
    expect(openSockets(mine)).toBe(0);
  });

  it('A socket that was dialed for a ping alone closes, too', async () => {
    const mine = watched(new Network(), IDLE);
    const ping = settled(mine.peer.ping());
    await time.advance();
    expect(await ping).toHaveProperty('value');
    await time.advance(1_000);
    expect(openSockets(mine)).toBe(0);
  });

  it('A peer that is closed while it is idle dials no more, and leaves no timer', async () => {
    const mine = await used();
    await time.advance(5_000);
    expect(await mine.peer.close()).toEqual({ code: 1000, reason: 'idle', wasClean: true, willRetry: false });
    expect(await settled(mine.peer.request())).toHaveProperty('error.code', 'REFUSED');
    expect([mine.network.dials.length, time.isOver()]).toEqual([1, true]);
  });

  it('Without `idleCloseMs` an idle socket stays', async () => {
    const network = new Network({ onStream: echo });
    const peer = dialing(network, { lazy: true });
    void settled(peer.request('p'));
    await time.advance(3_600_000);
    expect([peer.status.state, network.dials.length]).toEqual(['open', 1]);
  });

  it('`idleCloseMs` needs `lazy`, and a number', () => {
    expect(() => connect('ws://test', { idleCloseMs: 1_000 })).toThrow(
      new TypeError('idleCloseMs: expected lazy: true beside it, got none'),
    );
    expect(() => connect('ws://test', { lazy: true, idleCloseMs: -1 })).toThrow(TypeError);
  });
});

describe('connectivity', () => {
  const time = virtualPeerTime();

  const logs = collectLogs();

  interface Around {
    readonly url?: string;
    readonly lazy?: boolean;
    readonly backoff?: null;
    readonly hello?: () => Hello;
  }

  function surrounded(network: Network, { url = 'ws://test', lazy = false, backoff, hello }: Around = {}) {
    const events$ = new Subject<PageEvent>();
    const connectivity = { offline: false, events$ };
    const core = new PeerCore(resolveOptions({ keepalive: { idleMs: 60_000 } }, true));
    const dialer = new Dialer(core, {
      url,
      open: (url, protocol) => new W3cTransport(network.socket(url, protocol)),
      backoff: backoff === null ? null : new Backoff({ minDelayMs: 1_000, maxDelayMs: 1_000, maxAttempts: 3 }),
      hello,
      helloTimeoutMs: 10_000,
      connectTimeoutMs: 10_000,
      lazy,
      idleCloseMs: 0,
      connectivity,
    });
    const peer = new Peer(core, dialer);
    dialer.start();
    return { peer, connectivity, events$ };
  }

  describe('Connectivity of a dialing peer', () => {
    it('A peer without a network dials at the longest delay, spends no attempts, and dials at once when the network returns', async () => {
      const network = echoing();
      const { peer, connectivity, events$ } = surrounded(network);
      await time.advance();
      connectivity.offline = true;
      network.answer = { status: null };
      network.last.link.cut();
      expect(peer.status).toMatchObject({ state: 'waiting', attempt: 1, delayMs: 1_000, offline: true });
      await time.advance(999);
      expect(network.dials).toHaveLength(1);
      await time.advance(9_001);
      expect(network.dials).toHaveLength(11);
      expect(spell(peer.status)).toBe('waiting 1 offline');
      // A page that becomes visible does not restore the network.
      events$.next('visibilitychange');
      expect(network.dials).toHaveLength(11);
      connectivity.offline = false;
      network.answer = 'accept';
      events$.next('online');
      await time.advance();
      expect([network.dials.length, spell(peer.status)]).toEqual([12, 'open 1']);
      void peer.close();
      await time.advance(5_000);
      expect([events$.observed, time.isOver()]).toEqual([false, true]);
    });

    it('A peer that is wrongly reported offline connects all the same', async () => {
      const network = echoing();
      const { peer, connectivity } = surrounded(network);
      await time.advance();
      connectivity.offline = true;
      network.last.link.cut();
      await time.advance(1_000);
      expect([network.dials.length, spell(peer.status)]).toEqual([2, 'open 1']);
      void peer.close();
    });

    it.each([
      ...['ws://localhost:8080', 'ws://127.0.0.1/mux', 'wss://user@[::1]:1/', 'ws://app.localhost?query'].map((url) => [url, 'waiting 2']),
      ...['ws://localhost.example.org', 'ws://127.0.0.1.example.org', 'ws://example.org/localhost', 'ws://localhost@example.org'].map(
        (url) => [url, 'waiting 1 offline'],
      ),
    ])('A peer of %s that is offline is %s: only loopback needs no network', async (url, status) => {
      const network = echoing();
      const { peer, connectivity } = surrounded(network, { url });
      await time.advance();
      connectivity.offline = true;
      network.last.link.cut();
      expect(spell(peer.status)).toBe(status);
      void peer.close();
      await time.advance();
    });

    it('A lazy peer listens to the page from its first dial on', async () => {
      const { peer, events$ } = surrounded(echoing(), { lazy: true });
      await time.advance();
      expect(events$.observed).toBe(false);
      const answer = peer.request('x');
      await time.advance();
      expect(await answer).toBe('x');
      expect(events$.observed).toBe(true);
      void peer.close();
      await time.advance();
      expect(events$.observed).toBe(false);
    });

    it.each<[PageEvent, string, readonly [dials: number, status: string]]>([
      ['online', 'ends the delay', [2, 'connecting 2']],
      ['pageshow', 'ends the delay', [2, 'connecting 2']],
      ['visibilitychange', 'does not end the delay', [1, 'waiting 2']],
      ['resume', 'does not end the delay', [1, 'waiting 2']],
    ])('The event %s probes an open connection, and %s of a waiting peer', async (wake, _what, after) => {
      const network = echoing();
      const { peer, events$ } = surrounded(network);
      await time.advance();
      const sent = framesOf(peer);
      events$.next(wake);
      expect(sent).toEqual([{ type: 'ping', nonce: expect.any(String) }]);
      network.last.link.cut();
      events$.next(wake);
      expect([network.dials.length, spell(peer.status)]).toEqual(after);
      await time.advance(60_000);
      expect([network.dials.length, spell(peer.status)]).toEqual([2, 'open 1']);
      expect(logs.errors).toEqual([]);
      void peer.close();
    });
  });

  describe('A page that enters the back/forward cache', () => {
    const LEFT = { code: 1001, reason: 'the page was left' };

    it('The page closes its socket with 1001, and dials when it is shown again', async () => {
      const ends: unknown[] = [];
      const network = new Network({ onStream: async (_payload, stream) => void ends.push(await stream.closed) });
      const { peer, events$ } = surrounded(network);
      await time.advance();
      const states: string[] = [];
      peer.status$.subscribe((status) => states.push(spell(status)));
      const stream = peer.open('prices');
      await time.advance();
      const { peer: left } = network.last;
      const seen = framesOf(left, 'rx');
      events$.next('pagehide');
      // No timer runs in the cache.
      await time.advance(0);
      expect(seen).toEqual([{ type: 'goaway', code: 0, last_stream: 0, reason: LEFT.reason }]);
      expect([await left.closed, ends]).toMatchObject([LEFT, [{ how: 'lost', reason: LEFT }]]);
      expect(network.dials).toHaveLength(1);
      const answer = peer.request('x', { timeoutMs: 1_000 });
      events$.next('pageshow');
      expect(network.dials).toHaveLength(2);
      expect(stream.cause).toMatchObject({ how: 'lost', reason: { ...LEFT, willRetry: true } });
      await time.advance();
      expect(states).toEqual(['open 0', 'waiting 1', 'connecting 1', 'open 1']);
      void answer.catch(() => undefined);
      void peer.close();
      await time.advance(5_000);
      expect([events$.observed, time.isOver()]).toEqual([false, true]);
    });

    it('The hello is said again, and a subscription goes on', async () => {
      const network = new Network({
        onHello: welcome,
        onStream: async (_payload, stream) => {
          await stream.send('price');
          await stream.closed;
        },
      });
      const { peer, events$ } = surrounded(network, { hello: () => ({ payload: 'ann' }) });
      const prices: unknown[] = [];
      reopenOnReconnect(peer, { open: () => peer.open$('prices') }).subscribe({
        next: (price) => prices.push(price),
        error: () => undefined,
      });
      await time.advance();
      events$.next('pagehide');
      await time.advance(0);
      events$.next('pageshow');
      await time.advance();
      expect([prices.length, spell(peer.status)]).toEqual([2, 'open 1']);
      void peer.close();
      await time.advance(5_000);
    });

    it.each<[when: string, answer: Answer, before: (around: ReturnType<typeof surrounded>, network: Network) => unknown]>([
      ['while it dials', 'silence', () => undefined],
      ['while its hello waits for the answer', 'accept', () => time.advance()],
      [
        'while it waits',
        { status: 503 },
        async ({ peer }) => {
          await time.advance();
          expect(peer.status.state).toBe('waiting');
        },
      ],
    ])('A page that is left %s ends what it began, and begins anew when it is shown', async (_when, answer, before) => {
      const network = new Network({ onHello: () => new Promise(() => undefined) });
      network.answer = answer;
      const around = surrounded(network, { hello: () => ({}) });
      await before(around, network);
      const { dials } = network;
      const earlier = dials.length;
      around.events$.next('pagehide');
      await time.advance(0);
      expect([dials.length, dials.at(-1)?.peer.status.state === 'open', network.givenUp]).toEqual([
        earlier,
        false,
        answer === 'silence' ? 1 : 0,
      ]);
      network.answer = 'accept';
      around.events$.next('pageshow');
      expect([dials.length, around.peer.status]).toMatchObject([earlier + 1, { state: 'connecting' }]);
      void around.peer.close();
      await time.advance(5_000);
      expect(time.isOver()).toBe(true);
    });

    it('A lazy peer that has not dialed, and one without `reconnect`, do nothing', async () => {
      const [unused, plain] = [echoing(), echoing()];
      const lazy = surrounded(unused, { lazy: true });
      const once = surrounded(plain, { backoff: null });
      await time.advance();
      for (const { events$ } of [lazy, once]) {
        events$.next('pagehide');
        events$.next('pageshow');
      }
      await time.advance();
      expect([unused.dials.length, plain.dials.length, spell(once.peer.status)]).toEqual([0, 1, 'open 0']);
      for (const { peer } of [lazy, once]) void peer.close();
      await time.advance(5_000);
    });

    it('A peer that an observer closes on the way stays closed', async () => {
      const network = echoing();
      const { peer, events$ } = surrounded(network);
      await time.advance();
      peer.status$.pipe(skip(1)).subscribe(() => void peer.close());
      peer.onFrame((direction, { type }) => {
        if (direction === 'tx' && type === 'goaway') void peer.close();
      });
      events$.next('pagehide');
      events$.next('pageshow');
      await time.advance(60_000);
      expect([network.dials.length, peer.status.state, time.isOver()]).toEqual([1, 'closed', true]);
    });
  });

  describe('Connectivity of a peer over a given socket', () => {
    it('A resumed page probes a given socket until it ends', async () => {
      const events$ = new Subject<PageEvent>();
      const line = new MemoryLink({ protocol: 'mux.v1.json' });
      const core = new PeerCore(resolveOptions({ keepalive: { idleMs: 60_000 } }, true));
      const peer = new Peer(core, new GivenSocket(core, line.ends.dialer, { offline: false, events$ }));
      const sent = framesOf(peer);
      void peer.serve();
      events$.next('visibilitychange');
      expect(sent).toEqual([{ type: 'ping', nonce: expect.any(String) }]);
      line.cut();
      await time.advance();
      expect(events$.observed).toBe(false);
    });
  });
});
