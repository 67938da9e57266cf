import { describe, expect, it } from '@jest/globals';
import { connect } from '../../../src/index.js';
import type { StreamHandler } from '../../../src/index.js';
import { dialing, echo, greeted, later, watched } from '../../support/peer/dialing.js';
import type { Watched } from '../../support/peer/dialing.js';
import { Network } from '../../support/peer/network.js';
import { settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';

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

describe('A lazy peer with `idleCloseMs`', () => {
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
