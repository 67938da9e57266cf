import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, skip, Subject, timer } from 'rxjs';
import { connect } from '../../src/index.js';
import type { CloseReason, ConnectOptions, Peer, PeerStatus, Stream } from '../../src/index.js';
import { Backoff } from '../../src/peer/backoff.js';
import { Dialer } from '../../src/peer/dialer.js';
import { resolveOptions } from '../../src/peer/options.js';
import { PeerCore } from '../../src/peer/peer-core.js';
import { Peer as PeerClass } from '../../src/peer/peer.js';
import { W3cTransport } from '../../src/transport/w3c.js';
import { framesOf } from '../support/peer-frames.js';
import { collectLogs } from '../support/peer-logs.js';
import { Network } from '../support/peer-network.js';
import { settled } from '../support/peer-outcome.js';
import { virtualPeerTime } from '../support/peer-time.js';

const time = virtualPeerTime();
const logs = collectLogs();

const SOON = { minDelayMs: 10, maxDelayMs: 10 };

const echoing = (): Network => new Network({ onStream: (payload, stream) => stream.reply(payload) });

/** Holds every stream open. */
const holding = (): Network => new Network({ onStream: () => new Promise(() => undefined) });

function dialing(network: Network, options: ConnectOptions = {}) {
  const peer = connect('ws://test', { socket: network.socket, keepalive: false, reconnect: SOON, ...options });
  const reasons: CloseReason[] = [];
  const states: string[] = [];
  peer.onClose((reason) => reasons.push(reason));
  peer.status$.subscribe((status) => states.push(spell(status)));
  return { peer, reasons, states };
}

function spell(status: PeerStatus): string {
  switch (status.state) {
    case 'connecting':
      return `connecting ${status.attempt}`;
    case 'open':
      return `open ${status.reconnects}`;
    case 'waiting':
      return `waiting ${status.attempt}${status.offline ? ' offline' : ''}`;
    case 'draining':
      return `draining by ${status.by}`;
    case 'closed':
      return `closed ${status.reason.code}`;
  }
}

const cut = { code: 1006, reason: '', wasClean: false };

describe('the reconnect helper', () => {
  it('dials again behind a lost socket, and says so', async () => {
    const network = echoing();
    const { peer, reasons, states } = dialing(network);
    const frames: unknown[] = [];
    peer.frames$.subscribe(({ direction, frame, connection }) => {
      if (direction === 'tx') frames.push([connection, frame.stream]);
    });
    await time.advance();
    peer.notify('one');
    network.last.link.cut();
    expect([reasons, peer.status]).toEqual([
      [{ ...cut, willRetry: true }],
      { state: 'waiting', attempt: 2, delayMs: expect.any(Number), last: { ...cut, willRetry: true }, offline: false },
    ]);
    await time.advance(10);
    peer.notify('two');
    expect(states).toEqual(['connecting 1', 'open 0', 'waiting 2', 'connecting 2', 'open 1']);
    expect(frames).toEqual([
      [1, 1],
      [2, 1],
    ]);
    expect(peer.status).toEqual({ state: 'open', reconnects: 1 });
  });

  it('fails every stream whose open had left with ConnectionLostError, which is not retriable', async () => {
    const network = holding();
    const { peer } = dialing(network);
    await time.advance();
    const stream = peer.open('p');
    const errors: unknown[] = [];
    stream.subscribe({ error: (error: unknown) => errors.push(error) });
    await time.advance();
    network.last.link.cut({ reason: 'gone' });
    expect(errors).toEqual([
      expect.objectContaining({
        code: 'CONNECTION_LOST',
        retriable: false,
        streamId: 1,
        reason: { ...cut, reason: 'gone', willRetry: true },
      }),
    ]);
  });

  it('keeps opens that never left for the next socket, with everything behind them', async () => {
    const network = echoing();
    const { peer } = dialing(network);
    await time.advance();
    network.last.link.stall('acceptor');
    // More than a socket takes: what follows does not leave any more.
    peer.open().subscribe({ error: () => undefined });
    void peer.open('full').send('x'.repeat(2_000_000));
    await time.advance();
    const waiting = peer.open('waiting');
    void waiting.send(1);
    const answer = peer.request('asked');
    await time.advance();
    expect(waiting.id).not.toBeNull();
    network.last.link.cut();
    expect([waiting.id, waiting.phase]).toEqual([null, 'idle']);
    const sent = framesOf(peer);
    await time.advance(10);
    expect(sent).toEqual([
      { type: 'open', stream: 1, payload: 'waiting' },
      { type: 'data', stream: 1, payload: 1 },
      { type: 'open', stream: 3, end: true, payload: 'asked' },
    ]);
    expect(await answer).toBe('asked');
  });

  it('reports a failed dial through onClose too, once each, and gives up behind 5 while never yet connected', async () => {
    const network = new Network();
    network.answer = { status: 503 };
    const { peer, reasons, states } = dialing(network);
    const outcome = settled(peer.request('p'));
    await time.advance(1_000);
    expect(network.dials).toHaveLength(5);
    expect(reasons.map(({ willRetry }) => willRetry)).toEqual([true, true, true, true, false]);
    expect(states).toEqual(
      [1, 2, 3, 4, 5].flatMap((n) => (n === 1 ? ['connecting 1'] : [`waiting ${n}`, `connecting ${n}`])).concat('closed 1006'),
    );
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'CONNECT', status: 503, retriable: true }) });
    expect(await peer.closed).toEqual(reasons.at(-1));
    expect(time.isOver()).toBe(true);
  });

  it('goes on without a limit behind a first success', async () => {
    const network = echoing();
    const { peer } = dialing(network);
    await time.advance();
    network.answer = { status: null };
    network.last.link.cut();
    await time.advance(1_000);
    expect(network.dials.length).toBeGreaterThan(50);
    expect(peer.status.state).not.toBe('closed');
    void peer.close();
  });

  it('counts from one again when a socket has lasted for 10 s, and not before', async () => {
    const network = echoing();
    const { peer, states } = dialing(network);
    await time.advance();
    network.last.link.cut();
    await time.advance(10);
    await time.advance(9_000);
    network.last.link.cut();
    await time.advance(10);
    await time.advance(10_000);
    network.last.link.cut();
    await time.advance(10);
    expect(states.filter((state) => state.startsWith('waiting'))).toEqual(['waiting 2', 'waiting 3', 'waiting 2']);
    void peer.close();
  });

  it.each([1002, 1003, 4002, 4003])('does not dial again behind %p', async (code) => {
    const network = echoing();
    const { peer, reasons } = dialing(network);
    await time.advance();
    network.last.link.cut({ code });
    expect(reasons).toEqual([{ ...cut, code, willRetry: false }]);
    expect(await peer.closed).toEqual(reasons[0]);
    await time.advance(60_000);
    expect(network.dials).toHaveLength(1);
  });

  it('asks shouldRetry, which has the last word', async () => {
    const network = echoing();
    const asked: unknown[] = [];
    const { peer } = dialing(network, {
      reconnect: {
        ...SOON,
        shouldRetry: ({ attempt, reason, willRetry }) => {
          asked.push([attempt, reason.code, willRetry]);
          return attempt < 2;
        },
      },
    });
    await time.advance();
    network.last.link.cut({ code: 1002 });
    await time.advance(10);
    network.last.link.cut();
    await time.advance(10);
    expect([asked, network.dials.length, peer.status.state]).toEqual([
      [
        [1, 1002, false],
        [2, 1006, true],
      ],
      2,
      'closed',
    ]);
  });

  it('is not there unless it is asked for: the peer ends with its socket', async () => {
    const network = echoing();
    const { peer, reasons, states } = dialing(network, { reconnect: false });
    await time.advance();
    network.last.link.cut();
    await time.advance(60_000);
    expect([network.dials.length, reasons, states.at(-1)]).toEqual([1, [{ ...cut, willRetry: false }], 'closed 1006']);
    expect(await settled(peer.request())).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: true }) });
  });

  it('dials at once with reconnectNow(), which does nothing else', async () => {
    const network = echoing();
    const { peer } = dialing(network, { reconnect: { minDelayMs: 60_000, maxDelayMs: 60_000 } });
    await time.advance();
    peer.reconnectNow();
    network.last.link.cut();
    expect(network.dials).toHaveLength(1);
    peer.reconnectNow();
    peer.reconnectNow();
    expect(network.dials).toHaveLength(2);
    await time.advance();
    expect(peer.status).toEqual({ state: 'open', reconnects: 1 });
    void peer.close();
  });

  it('may be told to dial at once from within onClose', async () => {
    const network = echoing();
    const { peer } = dialing(network, { reconnect: { minDelayMs: 60_000, maxDelayMs: 60_000 } });
    peer.onClose(() => {
      peer.reconnectNow();
    });
    await time.advance();
    network.last.link.cut();
    await time.advance();
    expect([network.dials.length, peer.status.state]).toEqual([2, 'open']);
    void peer.close();
  });
});

describe('a goaway', () => {
  it('has the replacement dialed before the old socket drains: make before break', async () => {
    const streams: Stream[] = [];
    const network = new Network({
      onStream: (_, stream) => {
        streams.push(stream);
        return new Promise(() => undefined);
      },
    });
    const { peer, reasons, states } = dialing(network);
    await time.advance();
    const old = peer.open('old');
    const values: unknown[] = [];
    old.subscribe((value) => values.push(value));
    await time.advance();
    const first = network.last;
    void first.peer.close({ drainMs: 60_000 });
    await time.advance();
    expect([states.at(-1), network.dials.length]).toEqual(['draining by remote', 1]);
    const fresh = peer.open('new');
    expect(fresh.id).toBeNull();
    await time.advance(1_000);
    expect([network.dials.length, states.at(-1), fresh.id, reasons]).toEqual([2, 'open 1', 1, []]);
    void streams[0]?.reply('drained');
    await time.advance();
    expect([values, old.cause]).toEqual([['drained'], null]);
    void old.end();
    await time.advance(10);
    // The last stream has left, so the old socket closes: a replacement is there.
    expect([reasons, states.at(-1)]).toEqual([[{ code: 1000, reason: '', wasClean: true, willRetry: true }], 'open 1']);
    void peer.close();
  });

  it('moves opens that have not left, and fails those it does not cover with a retriable RefusedError', async () => {
    const network = holding();
    const { peer } = dialing(network);
    await time.advance();
    const { link } = network.last;
    link.stall('acceptor');
    const sent = peer.open('sent');
    const errors: unknown[] = [];
    sent.subscribe({ error: (error: unknown) => errors.push(error) });
    void sent.send('x'.repeat(2_000_000));
    await time.advance();
    const waiting = peer.open('waiting');
    link.inject('dialer', JSON.stringify({ type: 'goaway', code: 0, last_stream: 0 }));
    await time.advance();
    expect(errors).toEqual([expect.objectContaining({ code: 'REFUSED', resetCode: null, retriable: true })]);
    expect([waiting.phase, waiting.id]).toEqual(['idle', null]);
    await time.advance(1_000);
    expect([waiting.phase, waiting.id, network.dials.length]).toEqual(['open', 1, 2]);
    void peer.close();
  });

  it('without the reconnect helper ends the taking of new streams: they are refused', async () => {
    const network = holding();
    const { peer } = dialing(network, { reconnect: false });
    await time.advance();
    const old = peer.open('old');
    await time.advance();
    void network.last.peer.close({ drainMs: 1_000 });
    await time.advance();
    expect(await settled(peer.request('new'))).toEqual({
      error: expect.objectContaining({ code: 'REFUSED', resetCode: null, retriable: true, streamId: null }),
    });
    expect([old.phase, peer.status.state]).toEqual(['open', 'draining']);
    await time.advance(3_000);
    expect(peer.status.state).toBe('closed');
  });

  it('during the hello has the replacement dialed behind it', async () => {
    const network = new Network({ onHello: (_, stream) => lastValueFrom(timer(100)).then(() => stream.reply('welcome')) });
    const { peer, states } = dialing(network, { hello: () => ({ payload: 'hi' }) });
    await time.advance(50);
    network.last.link.inject('dialer', JSON.stringify({ type: 'goaway', code: 0 }));
    const waiting = peer.open('waiting');
    await time.advance(49);
    expect([network.dials.length, states.at(-1)]).toEqual([1, 'connecting 1']);
    await time.advance(1_200);
    expect([network.dials.length, waiting.id, peer.status]).toEqual([2, 3, { state: 'open', reconnects: 1 }]);
    void peer.close();
  });

  it('and a replacement that is refused for good: the old streams drain, then the peer ends, and nothing hangs', async () => {
    const network = holding();
    const { peer, reasons } = dialing(network);
    await time.advance();
    const old = peer.open('old');
    await time.advance();
    const first = network.last;
    network.answer = { status: 401 };
    void first.peer.close({ drainMs: 5_000 });
    await time.advance();
    const waiting = settled(peer.request('waiting'));
    await time.advance(1_000);
    expect(reasons).toEqual([expect.objectContaining({ code: 1006, willRetry: false })]);
    expect(await waiting).toEqual({ error: expect.objectContaining({ code: 'CONNECT', status: 401, retriable: true }) });
    expect([old.phase, peer.status.state]).toEqual(['open', 'draining']);
    expect(await settled(peer.request('later'))).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: true }) });
    await time.advance(10_000);
    expect(reasons.at(-1)).toMatchObject({ code: 1000, willRetry: false });
    expect(await peer.closed).toEqual(reasons.at(-1));
    expect(time.isOver()).toBe(true);
  });

  it('whose socket ends before the replacement is dialed leaves the peer waiting, and says so', async () => {
    const network = echoing();
    const { peer, states, reasons } = dialing(network);
    await time.advance();
    void network.last.peer.close();
    await time.advance();
    expect(reasons).toEqual([{ code: 1000, reason: '', wasClean: true, willRetry: true }]);
    expect(states.at(-1)).toBe('waiting 1');
    await time.advance(1_000);
    expect(peer.status).toEqual({ state: 'open', reconnects: 1 });
    void peer.close();
  });
});

describe('close() of a peer that dials', () => {
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
  ])('%s ends it: nothing is dialed any more, and no timer is left', async (_when, before) => {
    const network = echoing();
    if (_when === 'while it dials') network.answer = 'silence';
    const { peer, states } = dialing(network);
    await before(network, peer);
    const dials = network.dials.length;
    void peer.close();
    await time.advance(5_000);
    expect([network.dials.length, peer.status.state]).toEqual([dials, 'closed']);
    expect(states.filter((state) => state.startsWith('closed'))).toHaveLength(1);
    expect(time.isOver()).toBe(true);
  });

  it('inside onClose ends it with the reason of that loss, of which everybody is told', async () => {
    const network = echoing();
    const { peer, reasons } = dialing(network);
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
      [{ ...cut, willRetry: true }],
      { state: 'closed', reason: { ...cut, willRetry: false }, error: null },
    ]);
    await time.advance(60_000);
    expect(network.dials).toHaveLength(1);
    expect(time.isOver()).toBe(true);
  });

  it.each(['waiting', 'connecting', 'open'])('inside status$ ends it when it is %s', async (when) => {
    const network = echoing();
    const { peer } = dialing(network);
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

  it('inside the making of its socket ends that socket before it is open', async () => {
    const network = new Network();
    network.answer = 'silence';
    const peers: Peer[] = [];
    const peer = connect('ws://test', {
      lazy: true,
      reconnect: true,
      socket: (url, protocol) => {
        void peers[0]?.close();
        return network.socket(url, protocol);
      },
    });
    peers.push(peer);
    peer.open().subscribe({ error: () => undefined });
    await time.advance(60_000);
    expect([network.dials.length, network.givenUp, peer.status.state]).toEqual([1, 1, 'closed']);
    expect(time.isOver()).toBe(true);
  });
});

describe('the surroundings of a peer that dials', () => {
  function surrounded(network: Network) {
    const wakes$ = new Subject<void>();
    const surroundings = { offline: false, wakes$ };
    const core = new PeerCore(resolveOptions({ keepalive: { idleMs: 60_000 } }, true));
    const dialer = new Dialer(core, {
      url: 'ws://test',
      open: (url, protocol) => new W3cTransport(network.socket(url, protocol)),
      backoff: new Backoff({ minDelayMs: 1_000, maxDelayMs: 1_000, maxAttempts: 3 }),
      hello: undefined,
      connectTimeoutMs: 10_000,
      helloTimeoutMs: 10_000,
      lazy: false,
      surroundings,
    });
    const peer = new PeerClass(core, dialer);
    dialer.start();
    return { peer, surroundings, wakes$ };
  }

  it('pause it while there is no network, without spending attempts, until they wake it', async () => {
    const network = echoing();
    const { peer, surroundings, wakes$ } = surrounded(network);
    await time.advance();
    surroundings.offline = true;
    network.last.link.cut();
    expect(spell(peer.status)).toBe('waiting 1 offline');
    await time.advance(3_600_000);
    expect(network.dials).toHaveLength(1);
    // A page that becomes visible brings no network.
    wakes$.next();
    expect(network.dials).toHaveLength(1);
    surroundings.offline = false;
    wakes$.next();
    await time.advance();
    expect([network.dials.length, spell(peer.status)]).toEqual([2, 'open 1']);
    void peer.close();
    await time.advance(5_000);
    expect([wakes$.observed, time.isOver()]).toEqual([false, true]);
  });

  it('pause it when the network goes while it waits', async () => {
    const network = echoing();
    const { peer, surroundings } = surrounded(network);
    await time.advance();
    network.last.link.cut();
    surroundings.offline = true;
    await time.advance(60_000);
    expect([network.dials.length, spell(peer.status)]).toEqual([1, 'waiting 2 offline']);
    void peer.close();
  });

  it('wake it out of its delay, and have an open connection probed', async () => {
    const network = echoing();
    const { peer, wakes$ } = surrounded(network);
    await time.advance();
    const sent = framesOf(peer);
    wakes$.next();
    expect(sent).toEqual([{ type: 'ping', nonce: expect.any(String) }]);
    network.last.link.cut();
    wakes$.next();
    expect(network.dials).toHaveLength(2);
    await time.advance();
    expect(spell(peer.status)).toBe('open 1');
    expect(logs.errors).toEqual([]);
    void peer.close();
  });
});

describe('a peer whose stream ids are used up', () => {
  const LAST = 2 ** 53 - 1;

  function nearlyUsedUp(network: Network, backoff: Backoff | null) {
    const options = { ...resolveOptions({ keepalive: false }, true), firstId: LAST };
    const core = new PeerCore(options);
    const dialer = new Dialer(core, {
      url: 'ws://test',
      open: (url, protocol) => new W3cTransport(network.socket(url, protocol)),
      backoff,
      hello: undefined,
      connectTimeoutMs: 0,
      helloTimeoutMs: 0,
      lazy: false,
      surroundings: { offline: false, wakes$: new Subject() },
    });
    const peer = new PeerClass(core, dialer);
    dialer.start();
    return peer;
  }

  it('throws StreamIdsExhaustedError without the reconnect helper, and sends nothing', async () => {
    const peer = nearlyUsedUp(holding(), null);
    await time.advance();
    expect(peer.open('last').id).toBe(LAST);
    const sent = framesOf(peer);
    expect(() => peer.open('one more')).toThrow(expect.objectContaining({ code: 'IDS_EXHAUSTED', retriable: false }));
    expect(sent).toEqual([]);
  });

  it('goes on over a new socket with it, while the old one drains', async () => {
    const network = holding();
    const peer = nearlyUsedUp(network, new Backoff({}));
    await time.advance();
    const last = peer.open('last');
    const sent = framesOf(peer);
    const next = peer.open('one more');
    expect([next.id, sent]).toEqual([null, [{ type: 'goaway', code: 0, last_stream: 0 }]]);
    await time.advance(1_000);
    expect([network.dials.length, next.id, last.phase]).toEqual([2, LAST, 'open']);
    last.reset();
    await time.advance(5_000);
    expect(network.dials[0]?.peer.status.state).toBe('closed');
    void peer.close();
  });
});
