import { describe, expect, it } from '@jest/globals';
import { interval } from 'rxjs';
import { connect } from '../../../src/index.js';
import type { Peer } from '../../../src/index.js';
import { endless } from '../../support/peer/endless.js';
import { ADDRESS, dialing, holding } from '../../support/peer/dialing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { progressOf, settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

const KIB = 1024;

/** A peer whose dial gets no answer, and its network. */
function unanswered() {
  const network = holding();
  network.answer = 'silence';
  return { network, peer: dialing(network, { reconnect: { minDelayMs: 10, maxDelayMs: 10 } }) };
}

/** Whether one more call may wait. */
async function takesMore(peer: Peer): Promise<boolean> {
  const outcome = settled(peer.request('small', { timeoutMs: 1 }));
  await time.advance(1);
  expect(await outcome).toEqual({ error: expect.objectContaining({ code: expect.stringMatching(/DEADLINE_EXCEEDED|QUEUE_OVERFLOW/) }) });
  return ((await outcome) as { readonly error: { readonly code: string } }).error.code === 'DEADLINE_EXCEEDED';
}

describe('Stream that waits for a connection', () => {
  it('A waiting stream blocks its sender from 256 KiB on, and leaves room for other calls', async () => {
    const { peer } = unanswered();
    const stream = peer.open('p');
    const sends = Array.from({ length: 6 }, () => progressOf(stream.send('x'.repeat(64 * KIB))));
    await time.advance();
    expect(sends.map((send) => send.settled)).toEqual([true, true, true, false, false, false]);
    expect(await takesMore(peer)).toBe(true);
  });

  it('A waiting `send` continues when another stream releases enough room', async () => {
    const network = holding();
    network.answer = 'silence';
    const peer = dialing(network, { limits: { maxQueuedBytes: 200 * KIB } });
    const [large, larger, small] = [peer.open('x'.repeat(60 * KIB)), peer.open('x'.repeat(70 * KIB)), peer.open('p')];
    const send = progressOf(small.send('x'.repeat(140 * KIB)));
    await time.advance();
    const full = send.settled;
    large.reset();
    await time.advance();
    const stillFull = send.settled;
    larger.reset();
    await time.advance();
    expect([full, stillFull, send.settled]).toEqual([false, false, true]);
  });

  it.each([
    [1_999, false],
    [2_000, true],
  ])(
    'A waiting stream without other values survives up to twice `maxQueuedBytes`: at %i of 1 000 bytes its `send` fails: %p',
    async (waiting, fails) => {
      const network = holding();
      network.answer = 'silence';
      const peer = dialing(network, { limits: { maxQueuedBytes: 1_000 } });
      const stream = peer.open('x'.repeat(waiting - '""'.length));
      const send = progressOf(stream.send('little'));
      await time.advance();
      expect([stream.phase, send.error]).toEqual(
        fails ? ['closed', expect.objectContaining({ code: 'QUEUE_OVERFLOW', retriable: true })] : ['idle', null],
      );
    },
  );

  it.each([
    [16 * KIB, false],
    [16 * KIB + 1, true],
  ])('A waiting stream without other values may queue 16 KiB: with %i bytes its `send` fails: %p', async (bytes, fails) => {
    const network = holding();
    network.answer = 'silence';
    const peer = dialing(network, { limits: { maxQueuedBytes: 20 * KIB } });
    const stream = peer.open('x'.repeat(20 * KIB));
    const send = progressOf(stream.send('x'.repeat(bytes - '""'.length)));
    await time.advance();
    expect([stream.phase, send.error]).toEqual(
      fails ? ['closed', expect.objectContaining({ code: 'QUEUE_OVERFLOW', retriable: true })] : ['idle', null],
    );
  });

  it('The overflow error names the bytes that would wait', () => {
    const network = holding();
    network.answer = 'silence';
    const peer = dialing(network, { limits: { maxQueuedBytes: 1_000 } });
    peer.open('x'.repeat(498));
    expect(() => peer.open('x'.repeat(500))).toThrow('1002 bytes waiting for a connection are over the limit of 1000 (maxQueuedBytes)');
    // Exactly the limit may wait.
    peer.open('x'.repeat(498));
  });

  it('A waiting stream accepts no value after its end', async () => {
    const { peer, network } = unanswered();
    const sent = framesOf(peer);
    const ended = peer.open('p', { end: true });
    const replied = peer.open('q');
    void replied.reply('last');
    const outcomes = await Promise.all([settled(ended.send('more')), settled(replied.send('more'))]);
    const refused = { error: expect.objectContaining({ code: 'PROTOCOL', message: 'expected nothing to be sent after the end' }) };
    expect(outcomes).toEqual([refused, refused]);
    const warning = 'rxmux: a value was sent after the end and is lost';
    expect(logs.warnings).toEqual([warning, warning]);
    network.answer = 'accept';
    await time.advance(10_100);
    expect(sent).toEqual([
      { type: 'open', stream: 1, payload: 'p', end: true },
      { type: 'open', stream: 3, payload: 'q' },
      { type: 'data', stream: 3, payload: 'last', end: true },
    ]);
  });

  it('A waiting stream moves to the next connection when this one ends while another stream leaves', async () => {
    const { peer, network } = unanswered();
    const sent: unknown[] = [];
    peer.frames$.subscribe(({ direction, frame, connection }) => {
      if (direction !== 'tx' || frame.type !== 'open') return;
      sent.push([connection, frame.payload]);
      if (frame.payload === 'first') network.last.link.cut();
    });
    const first = settled(peer.open('first').closed);
    const second = peer.open('second');
    network.answer = 'accept';
    await time.advance(10_100);
    expect(await first).toMatchObject({ value: { how: 'lost' } });
    expect([second.phase, sent]).toEqual([
      'open',
      [
        [1, 'first'],
        [2, 'second'],
      ],
    ]);
  });

  it('A waiting stream does not leave when the peer is closed while another stream leaves', async () => {
    const { peer, network } = unanswered();
    const sent = framesOf(peer);
    peer.onFrame((direction, { payload }) => {
      if (direction === 'tx' && payload === 'first') void peer.close();
    });
    const outcomes = [settled(peer.request('first')), settled(peer.request('second'))];
    network.answer = 'accept';
    await time.advance(10_100);
    expect(sent.filter(({ type }) => type === 'open')).toEqual([{ type: 'open', stream: 1, payload: 'first', end: true }]);
    expect(await Promise.all(outcomes)).toMatchObject([{ error: { code: 'CANCELLED' } }, { error: { retriable: true } }]);
  });

  it('A waiting `send` keeps waiting when a socket ends that accepted nothing, and continues over the next', async () => {
    const network = holding();
    const isFull = () => network.dials.length === 1;
    const peer = connect(ADDRESS, {
      keepalive: false,
      reconnect: { minDelayMs: 10, maxDelayMs: 10 },
      socket: (url, protocol) =>
        Object.defineProperty(network.socket(url, protocol), 'bufferedAmount', { get: () => (isFull() ? 8 * 1024 * KIB : 0) }),
    });
    const sent = framesOf(peer);
    await time.advance();
    const stream = peer.open('p');
    const sends = Array.from({ length: 6 }, () => progressOf(stream.send('x'.repeat(64 * KIB))));
    await time.advance();
    const settledThen = sends.map((send) => send.settled);
    network.answer = 'silence';
    network.last.link.cut();
    await time.advance(100);
    expect([settledThen, sends.map((send) => send.settled)]).toEqual([1, 2].map(() => [true, true, true, false, false, false]));
    network.answer = 'accept';
    await time.advance(10_100);
    expect(sends).toEqual(sends.map(() => ({ settled: true, error: null })));
    expect(sent.filter(({ type }) => type === 'open')).toEqual([{ type: 'open', stream: 1, payload: 'p' }]);
    stream.reset();
  });

  it('A waiting stream does not pull its input before it is connected', async () => {
    const { peer, network } = unanswered();
    const { pulled, iterator } = endless();
    const sent = framesOf(peer);
    const call = peer.open$('p', { input: iterator }).subscribe({ error: () => undefined });
    await time.advance();
    expect([pulled.count, await takesMore(peer)]).toEqual([0, true]);
    network.answer = 'accept';
    await time.advance(10_100);
    expect(sent.slice(0, 3)).toEqual([
      { type: 'open', stream: 1, payload: 'p' },
      { type: 'data', stream: 1, payload: 0 },
      { type: 'data', stream: 1, payload: 1 },
    ]);
    call.unsubscribe();
  });

  it('A waiting stream keeps the newest pushed value with overflow `latest`', async () => {
    const { peer, network } = unanswered();
    const sent = framesOf(peer);
    const stream = peer.open('p');
    void stream.send('x'.repeat(256 * KIB));
    void stream.sendAll(interval(1), { overflow: 'latest' });
    await time.advance(1_000);
    network.answer = 'accept';
    await time.advance(9_500);
    const ticks = sent.map(({ payload }) => payload).filter((payload) => typeof payload === 'number');
    expect(ticks[0]).toBeGreaterThan(9_000);
    stream.reset();
  });

  it('A waiting stream leaves before a stream that is opened while the socket opens', async () => {
    const network = holding();
    const open = network.socket(ADDRESS, 'mux.v1.json');
    await time.advance();
    const peer = connect(ADDRESS, { lazy: true, keepalive: false, socket: () => open });
    const sent = framesOf(peer);
    peer.status$.subscribe(({ state }) => {
      if (state === 'open') peer.notify('second');
    });
    peer.notify('first');
    await time.advance();
    expect(sent.map(({ stream, payload }) => [stream, payload])).toEqual([
      [1, 'first'],
      [3, 'second'],
    ]);
  });
});
