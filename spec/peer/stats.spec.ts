import { describe, expect, it } from '@jest/globals';
import { encodedLength, JsonCodec, ResetCode, ResetError } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { createServer } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { connect, createPair } from '../support/peer/tracked.js';

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
    const { dialer } = createPair();
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
    const { dialer, acceptor } = createPair();
    const seen = counted(dialer);
    acceptor.onStream((payload, stream) => stream.reply(payload));
    await done(dialer.request('a short one'));
    await done(dialer.request('ü'.repeat(100_000)));
    expect(dialer.stats()).toMatchObject(seen);
    expect(acceptor.stats()).toMatchObject({ sent: seen.received, received: seen.sent });
    expect(seen.sent.frames).toBeGreaterThan(3);
  });

  it('Live streams count at both ends, and an open stream of the remote takes a place', async () => {
    const { dialer, acceptor } = createPair();
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
    const { dialer, acceptor } = createPair({ acceptor: { limits: { maxStreams: 2 } } });
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
    const { dialer, link } = createPair();
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
    const { dialer, acceptor } = createPair();
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
    const { dialer, acceptor } = createPair({ acceptor: { limits: { maxHeldBytes: 1_000_000 } } });
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
