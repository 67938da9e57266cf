import { describe, expect, it } from '@jest/globals';
import type { ConnectOptions, Peer } from '../../../src/index.js';
import type { SocketLike } from '../../../src/transport/socket-like.js';
import { framesOf } from '../../support/peer/frames.js';
import type { Envelope } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Network } from '../../support/peer/network.js';
import { settled } from '../../support/peer/outcome.js';
import { SOON, echoing, holding, reconnecting, watched } from '../../support/peer/dialing.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
collectLogs();

const cut = { code: 1006, reason: '', wasClean: false };

describe('the reconnect helper', () => {
  it('dials again after a lost socket, and says so', async () => {
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

  it('fails every stream whose open had left with ConnectionLostError, which is not retriable', async () => {
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

  it('keeps opens that never left for the next socket, with everything sent after them', async () => {
    const network = echoing();
    const { peer } = reconnecting(network);
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

  /** A socket that the remote has begun to close, with the end still to come. */
  async function closing(
    options: ConnectOptions,
  ): Promise<{ readonly peer: Peer; readonly network: Network; readonly sent: readonly Envelope[] }> {
    const network = echoing();
    const sockets: SocketLike[] = [];
    const socket = (url: string, protocol: string): SocketLike => {
      const made = network.socket(url, protocol);
      sockets.push(made);
      return made;
    };
    const { peer } = watched(network, { ...options, socket });
    await time.advance();
    Object.defineProperty(sockets[0], 'readyState', { value: 2 });
    return { peer, network, sent: framesOf(peer) };
  }

  it('keeps calls for the next socket that are made while the remote closes this one', async () => {
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

  it('without the helper refuses calls that are made while the remote closes the socket', async () => {
    const { peer } = await closing({});
    await expect(peer.request('asked')).rejects.toMatchObject({ code: 'REFUSED', retriable: true });
  });

  it('reports a failed dial through onClose too, once each, and gives up after 5 while never yet connected', async () => {
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

  it('goes on without a limit after a first success', async () => {
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

  it('counts from one again when a socket has lasted for 10 s, and not before', async () => {
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

  it('counts on while it waits, though the 10 s of the socket before are over by then', async () => {
    const network = echoing();
    const { peer, states } = reconnecting(network, { reconnect: { maxDelayMs: 20_000 } });
    await time.advance(9_999);
    network.last.link.cut({ code: 1008 });
    await time.advance(20_000);
    expect(states).toEqual(['connecting 1', 'open 0', 'waiting 2', 'connecting 2', 'open 1']);
    void peer.close();
  });

  it.each([1002, 1003, 4002, 4003])('does not dial again after %p', async (code) => {
    const network = echoing();
    const { peer, reasons } = reconnecting(network);
    await time.advance();
    network.last.link.cut({ code });
    expect(reasons).toEqual([{ ...cut, code, willRetry: false }]);
    expect(await peer.closed).toEqual(reasons[0]);
    await time.advance(60_000);
    expect(network.dials).toHaveLength(1);
  });

  it.each([1002, 1006])('does not dial again after a goaway with PROTOCOL_ERROR and %p', async (code) => {
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

  it('dials again after a goaway with ENHANCE_YOUR_CALM only at the longest delay', async () => {
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

  it.each(['a socket is lost', 'a dial fails'])('does not dial again where shouldRetry closes the peer because %s', async (what) => {
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

  it('tells no close handler of another dial where one who was told of the loss has closed the peer', async () => {
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
    'tells later close handlers of no other dial where an earlier one closes the peer: %s',
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

  it('asks shouldRetry, which has the last word', async () => {
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

  it('is not there unless it is asked for: the peer ends with its socket', async () => {
    const network = echoing();
    const { peer, reasons, states } = reconnecting(network, { reconnect: false });
    await time.advance();
    network.last.link.cut();
    await time.advance(60_000);
    expect([network.dials.length, reasons, states.at(-1)]).toEqual([1, [{ ...cut, willRetry: false }], 'closed 1006']);
    expect(await settled(peer.request())).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: true }) });
  });

  it('dials at once with reconnectNow(), which does nothing else', async () => {
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

  it('dials no more from within onClose of a loss that ends the peer: calls that are made there are refused', async () => {
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

  it('may be told to dial at once from within onClose', async () => {
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
