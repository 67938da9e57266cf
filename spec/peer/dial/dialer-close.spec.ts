import { describe, expect, it, jest } from '@jest/globals';
import { skip } from 'rxjs';
import { connect } from '../../../src/index.js';
import type { CloseReason, Peer } from '../../../src/index.js';
import { Network } from '../../support/peer/network.js';
import { echoing, reconnecting } from '../../support/peer/dialing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

const cut = { code: 1006, reason: '', wasClean: false };

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
    const { peer, states } = reconnecting(network);
    await before(network, peer);
    const dials = network.dials.length;
    void peer.close();
    await time.advance(5_000);
    expect([network.dials.length, peer.status.state]).toEqual([dials, 'closed']);
    expect(states.filter((state) => state.startsWith('closed'))).toHaveLength(1);
    expect(time.isOver()).toBe(true);
  });

  it('while its hello is not answered is no failure', async () => {
    const network = new Network({ onHello: () => new Promise(() => undefined) });
    const { peer } = reconnecting(network, { hello: () => ({}) });
    await time.advance();
    void peer.close();
    await time.advance(5_000);
    expect(peer.status).toEqual({ state: 'closed', reason: await peer.closed, error: null });
    await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  });

  it('inside onClose ends it with the reason of that loss, of which everybody is told', async () => {
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

  it('inside onClose of a dial that is not tried again leaves the calls that wait the error of that dial', async () => {
    const network = new Network();
    network.answer = { status: 503 };
    const { peer } = reconnecting(network, { reconnect: false });
    peer.onClose(() => void peer.close());
    const outcome = settled(peer.request('p'));
    await time.advance();
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'CONNECT', status: 503, retriable: true }) });
  });

  it('has nothing asked of shouldRetry', async () => {
    const network = echoing();
    const shouldRetry = jest.fn(() => true);
    const { peer } = reconnecting(network, { reconnect: { shouldRetry } });
    await time.advance();
    void peer.close();
    await time.advance(5_000);
    expect([peer.status.state, shouldRetry.mock.calls]).toEqual(['closed', []]);
  });

  it.each(['waiting', 'connecting', 'open'])('inside status$ ends it when it is %s', async (when) => {
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

  it('inside the making of a socket that is open already ends that socket in the same way', async () => {
    const network = echoing();
    const open = network.socket('ws://test', 'mux.v1.json');
    await time.advance();
    const received = framesOf(network.last.peer, 'rx');
    const reasons: CloseReason[] = [];
    const peers: Peer[] = [];
    const peer = connect('ws://test', {
      lazy: true,
      reconnect: true,
      socket: () => {
        void peers[0]?.close();
        return open;
      },
    });
    peers.push(peer);
    peer.onClose((reason) => reasons.push(reason));
    const outcome = settled(peer.request('p'));
    await time.advance(5_000);
    expect(await outcome).toEqual({ error: expect.objectContaining({ retriable: true }) });
    expect([received, reasons, peer.status.state, network.last.peer.status.state]).toEqual([[], [], 'closed', 'closed']);
  });

  it('inside the making of a socket that fails is told of no failure', async () => {
    const reasons: CloseReason[] = [];
    const peers: Peer[] = [];
    const peer = connect('ws://test', {
      lazy: true,
      reconnect: true,
      socket: () => {
        void peers[0]?.close();
        throw new Error('no socket');
      },
    });
    peers.push(peer);
    peer.onClose((reason) => reasons.push(reason));
    peer.open().subscribe({ error: () => undefined });
    await time.advance(60_000);
    expect([reasons, peer.status]).toMatchObject([[], { state: 'closed', error: null }]);
    expect(time.isOver()).toBe(true);
  });

  it.each<[string, number, (peer: Peer) => void]>([
    ['tells how many notify() never left', 2, (peer) => ['a', 'b'].forEach((payload) => peer.notify(payload))],
    ['leaves it to the other calls to tell', 0, (peer) => void settled(peer.request('a'))],
    ['is silent when nothing waits', 0, () => undefined],
  ])('before it is open %s', async (_tells, count, call) => {
    const network = echoing();
    const { peer } = reconnecting(network);
    const received = framesOf(network.last.peer, 'rx');
    call(peer);
    await peer.close();
    await time.advance(5_000);
    expect([received, logs.warnings]).toEqual([[], count === 0 ? [] : [expect.stringContaining(`${count} notify() never left`)]]);
  });

  it('tells that a notify() after it never left', async () => {
    const { peer } = reconnecting(echoing());
    await time.advance();
    void peer.close();
    await time.advance(5_000);
    peer.notify('a');
    expect(logs.warnings).toEqual(['rxmux: 1 notify() never left: this peer opens no more streams']);
  });

  it('once it is open writes what it has accepted', async () => {
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
