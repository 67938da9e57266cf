import { describe, expect, it } from '@jest/globals';
import type { ConnectOptions, Peer } from '../../../src/index.js';
import { framesOf } from '../../support/peer/frames.js';
import type { Envelope } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Network } from '../../support/peer/network.js';
import { settled } from '../../support/peer/outcome.js';
import { SOON, echoing, holding, reconnecting, watched } from '../../support/peer/dialing.js';
import { fillSocket } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
collectLogs();

const cut = { code: 1006, reason: '', wasClean: false };

describe('Reconnect helper', () => {
  it('The reconnect helper dials again after a lost socket, and reports that', async () => {
    const network = echoing();
    const { peer, reasons, states } = reconnecting(network);
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

  it('A lost socket fails every stream whose open was sent with a ConnectionLostError that is not retriable', async () => {
    const network = holding();
    const { peer } = reconnecting(network);
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

  it('Unsent opens move to the next socket, with all their frames', async () => {
    const network = echoing();
    const { peer } = reconnecting(network);
    await time.advance();
    network.last.link.stall('acceptor');
    peer.open().subscribe({ error: () => undefined });
    // The socket accepts no more: later frames stay in the queue.
    fillSocket(peer);
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

  /** A socket that the remote has begun to close, before its close event. */
  async function closing(
    options: ConnectOptions,
  ): Promise<{ readonly peer: Peer; readonly network: Network; readonly sent: readonly Envelope[] }> {
    const network = echoing();
    const { peer } = watched(network, options);
    await time.advance();
    Object.defineProperty(network.last.socket, 'readyState', { value: 2 });
    return { peer, network, sent: framesOf(peer) };
  }

  it('Calls made while the remote closes the socket wait for the next socket', async () => {
    const { peer, network, sent } = await closing({ reconnect: SOON });
    const answer = peer.request('asked');
    peer.notify('told');
    await time.advance();
    expect(sent).toEqual([]);
    network.last.link.cut({ code: 1001 });
    await time.advance(10);
    expect(await answer).toBe('asked');
    expect(sent.map(({ payload }) => payload)).toEqual(['asked', 'told']);
  });

  it('Calls made while the remote closes the socket are refused without the reconnect helper', async () => {
    const { peer } = await closing({});
    await expect(peer.request('asked')).rejects.toMatchObject({ code: 'REFUSED', retriable: true });
  });

  it('The reconnect helper reports each failed dial to `onClose` once, and stops after 5 before a first success', async () => {
    const network = new Network();
    network.answer = { status: 503 };
    const { peer, reasons, states } = reconnecting(network);
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

  it('The reconnect helper dials without a limit after a first success', async () => {
    const network = echoing();
    const { peer } = reconnecting(network);
    await time.advance();
    network.answer = { status: null };
    network.last.link.cut();
    await time.advance(1_000);
    expect(network.dials.length).toBeGreaterThan(50);
    expect(peer.status.state).not.toBe('closed');
    void peer.close();
  });

  /** Dials until the helper stops, at most `mostDials` times. The server closes each socket with 1011 after `first`. */
  async function turnedAway(network: Network, mostDials: number, first: (network: Network) => void = () => undefined): Promise<Peer> {
    const { peer, states } = reconnecting(network);
    for (let dials = 1; dials <= mostDials; dials++) {
      await time.advance(10);
      if (states.at(-1)?.startsWith('open') !== true) continue;
      first(network);
      await time.advance();
      network.last.link.cut({ code: 1011, reason: 'no backend', wasClean: true });
    }
    return peer;
  }

  it('The reconnect helper stops after 5 sockets that a proxy has accepted and closed with 1011 at once', async () => {
    const network = echoing();
    const peer = await turnedAway(network, 20);
    const reason = { code: 1011, reason: 'no backend', wasClean: true, willRetry: false };
    expect([network.dials.length, peer.status]).toEqual([5, { state: 'closed', reason, error: null }]);
    expect(time.isOver()).toBe(true);
  });

  it('The reconnect helper goes on if a socket that was closed with 1011 at once has brought a message', async () => {
    const network = echoing();
    const peer = await turnedAway(network, 20, ({ last }) => {
      last.link.inject('dialer', JSON.stringify({ type: 'ping', nonce: 'n' }));
    });
    expect([network.dials.length > 5, peer.status.state]).toEqual([true, 'waiting']);
    void peer.close();
  });

  it('The reconnect helper counts attempts from one again after a socket that lasted 10 s, and not before', async () => {
    const network = echoing();
    const { peer, states } = reconnecting(network, { reconnect: { minDelayMs: 0, maxDelayMs: 0 } });
    await time.advance();
    network.last.link.cut();
    await time.advance();
    await time.advance(9_999);
    network.last.link.cut();
    await time.advance();
    await time.advance(10_000);
    network.last.link.cut();
    await time.advance();
    expect(states.filter((state) => state.startsWith('waiting'))).toEqual(['waiting 2', 'waiting 3', 'waiting 2']);
    void peer.close();
  });

  it('The reconnect helper does not reset its count while it waits, even 10 s after the last opening', async () => {
    const network = echoing();
    const { peer, states } = reconnecting(network, { reconnect: { maxDelayMs: 20_000 } });
    await time.advance(9_999);
    network.last.link.cut({ code: 1008 });
    await time.advance(20_000);
    expect(states).toEqual(['connecting 1', 'open 0', 'waiting 2', 'connecting 2', 'open 1']);
    void peer.close();
  });

  it.each([1002, 1003, 4002, 4003])('The reconnect helper does not dial again after %p', async (code) => {
    const network = echoing();
    const { peer, reasons } = reconnecting(network);
    await time.advance();
    network.last.link.cut({ code });
    expect(reasons).toEqual([{ ...cut, code, willRetry: false }]);
    expect(await peer.closed).toEqual(reasons[0]);
    await time.advance(60_000);
    expect(network.dials).toHaveLength(1);
  });

  it.each([1002, 1006])('The reconnect helper does not dial again after a goaway with PROTOCOL_ERROR and %p', async (code) => {
    const network = echoing();
    const { peer, reasons } = reconnecting(network);
    await time.advance();
    network.last.link.inject('dialer', JSON.stringify({ type: 'goaway', code: 1, last_stream: 0 }));
    await time.advance(500);
    network.last.link.cut({ code });
    expect(reasons).toEqual([{ ...cut, code, willRetry: false }]);
    expect(await peer.closed).toEqual(reasons[0]);
    await time.advance(60_000);
    expect(network.dials).toHaveLength(1);
  });

  it('The reconnect helper uses the longest delay after a goaway with ENHANCE_YOUR_CALM', async () => {
    const network = echoing();
    const { peer, reasons } = reconnecting(network, { reconnect: { maxDelayMs: 20_000 } });
    await time.advance();
    network.last.link.inject('dialer', JSON.stringify({ type: 'goaway', code: 11, last_stream: 0 }));
    await time.advance(500);
    network.last.link.cut({ code: 1008 });
    expect([reasons, peer.status]).toMatchObject([[{ code: 1008, willRetry: true }], { state: 'waiting', attempt: 2, delayMs: 20_000 }]);
    await time.advance(19_999);
    expect(network.dials).toHaveLength(1);
    await time.advance(1);
    expect(network.dials).toHaveLength(2);
    void peer.close();
  });

  it.each(['a socket is lost', 'a dial fails'])('The reconnect helper stops if `shouldRetry` closes the peer because %s', async (what) => {
    const network = echoing();
    if (what === 'a dial fails') network.answer = { status: 503 };
    const { peer, reasons } = reconnecting(network, {
      reconnect: {
        shouldRetry: ({ willRetry }) => {
          void peer.close();
          return willRetry;
        },
      },
    });
    await time.advance();
    if (what === 'a socket is lost') network.last.link.cut();
    await time.advance(60_000);
    expect([reasons.map(({ willRetry }) => willRetry), network.dials.length, peer.status.state]).toEqual([[false], 1, 'closed']);
  });

  it('Close handlers learn that no dial follows when a subscriber of a lost stream has closed the peer', async () => {
    const network = holding();
    const { peer, reasons } = reconnecting(network);
    await time.advance();
    peer.open('p').subscribe({ error: () => void peer.close() });
    await time.advance();
    network.last.link.cut();
    await time.advance(60_000);
    expect([reasons.map(({ willRetry }) => willRetry), peer.status]).toEqual([[false], expect.objectContaining({ state: 'closed' })]);
  });

  it.each(['a socket is lost', 'a dial fails'])(
    'Later close handlers learn that no dial follows when an earlier one has closed the peer: %s',
    async (what) => {
      const network = echoing();
      if (what === 'a dial fails') network.answer = { status: 503 };
      const { peer, reasons } = reconnecting(network);
      peer.onClose(() => void peer.close());
      const later: boolean[] = [];
      peer.onClose(({ willRetry }) => later.push(willRetry));
      peer.closes$.subscribe(({ willRetry }) => later.push(willRetry));
      await time.advance();
      network.last.link.cut();
      await time.advance();
      expect([reasons.map(({ willRetry }) => willRetry), later]).toEqual([[true], [false, false]]);
    },
  );

  it('`shouldRetry` has the final decision on a dial', async () => {
    const network = echoing();
    const asked: unknown[] = [];
    const { peer } = reconnecting(network, {
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

  it('A peer without the reconnect helper ends with its socket', async () => {
    const network = echoing();
    const { peer, reasons, states } = reconnecting(network, { reconnect: false });
    await time.advance();
    network.last.link.cut();
    await time.advance(60_000);
    expect([network.dials.length, reasons, states.at(-1)]).toEqual([1, [{ ...cut, willRetry: false }], 'closed 1006']);
    expect(await settled(peer.request())).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: true }) });
  });

  it('`reconnectNow` dials at once, and has no other effect', async () => {
    const network = echoing();
    const { peer } = reconnecting(network, { reconnect: { minDelayMs: 60_000, maxDelayMs: 60_000 } });
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

  it('`reconnectNow` in `onClose` of a final loss does not dial, and calls made there are refused', async () => {
    const network = holding();
    const { peer, reasons } = reconnecting(network, { reconnect: { maxAttempts: 1 } });
    await time.advance();
    const old = peer.open('p');
    await time.advance();
    const outcomes: unknown[] = [];
    peer.onClose(() => {
      peer.reconnectNow();
      outcomes.push(settled(peer.request()));
    });
    network.last.link.cut();
    const lost = { ...cut, willRetry: false };
    expect([reasons, old.cause, network.dials.length]).toEqual([[lost], { how: 'lost', reason: lost }, 1]);
    expect(await Promise.all(outcomes)).toEqual([{ error: expect.objectContaining({ code: 'REFUSED', retriable: true }) }]);
  });

  it('`reconnectNow` in `onClose` dials at once', async () => {
    const network = echoing();
    const { peer } = reconnecting(network, { reconnect: { minDelayMs: 60_000, maxDelayMs: 60_000 } });
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
