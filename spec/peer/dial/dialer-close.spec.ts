import { describe, expect, it, jest } from '@jest/globals';
import { skip } from 'rxjs';
import { connect } from '../../../src/index.js';
import type { CloseReason, ConnectOptions, Peer } from '../../../src/index.js';
import { Network } from '../../support/peer/network.js';
import { echoing, reconnecting } from '../../support/peer/dialing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';

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

describe('`close` of a dialing peer', () => {
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
    expect(logs.warnings).toEqual(['rxmux: 1 notify() never left: this peer opens no more streams']);
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
