import { describe, expect, it } from '@jest/globals';
import { connect } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { Network } from '../../support/peer/network.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
collectLogs();

const KIB = 1024;
const text = (bytes: number): string => 'x'.repeat(bytes);

describe('`bufferedAmount`', () => {
  it('`bufferedAmount` is 0 while the remote reads everything', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const answer = dialer.request<string>(text(300 * KIB));
    await time.advance(1_000);
    expect((await answer).length).toBe(300 * KIB);
    expect([dialer.bufferedAmount, acceptor.bufferedAmount]).toEqual([0, 0]);
  });

  it('`bufferedAmount` grows with each push to a stalled reader, in socket and queue, and falls when it reads', async () => {
    const { dialer, acceptor, link } = createPair();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    await time.advance();
    link.stall('acceptor');
    const amounts: number[] = [];
    for (let n = 0; n < 30; n++) {
      dialer.notify(text(100 * KIB));
      await time.advance();
      amounts.push(Math.round(dialer.bufferedAmount / (100 * KIB)));
    }
    expect(amounts).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
    link.resume('acceptor');
    await time.advance(1_000);
    expect(dialer.bufferedAmount).toBe(0);
  });

  it('`bufferedAmount` counts the bytes that wait for a connection', async () => {
    const network = new Network();
    network.answer = 'silence';
    const peer = connect('ws://test', { socket: network.socket, reconnect: true });
    peer.notify(text(5_000));
    await time.advance();
    // A text takes its characters and two quotes.
    expect(peer.bufferedAmount).toBe(5_002);
    void peer.close();
    expect(peer.bufferedAmount).toBe(0);
  });
});
