import { describe, expect, it } from '@jest/globals';
import type { FrameEvent } from '../../../src/index.js';
import type { Peer } from '../../../src/peer/peer.js';
import { BreakableCodec } from '../../support/codec/breakable.js';
import { CODECS } from '../../support/codec/shipped.js';
import { collectLogs } from '../../support/peer/logs.js';
import { settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { createPair } from '../../support/peer/tracked.js';

const time = virtualPeerTime();
const logs = collectLogs();

/** Collects the frames of a peer that go one way, pings left out. */
function framesOf(peer: Peer, way: 'tx' | 'rx'): FrameEvent[] {
  const seen: FrameEvent[] = [];
  peer.frames$.subscribe((event) => {
    if (event.direction === way && !/^p[io]ng$/.test(event.frame.type)) seen.push(event);
  });
  return seen;
}

describe.each(CODECS)('frames$ under %s', (_name, codec) => {
  it.each([
    ['a small payload', { op: 'sum', text: 'é😀' }],
    ['a payload in fragments', 'é'.repeat(200_000)],
  ])('Both ends of a connection report the same sizes of the frames of %s', async (_what, payload) => {
    const { dialer, acceptor } = createPair({ codec });
    acceptor.onStream((value, stream) => stream.reply(value));
    const [sent, received] = [framesOf(dialer, 'tx'), framesOf(acceptor, 'rx')];
    const answer = settled(dialer.request(payload));
    await time.advance(1_000);
    expect(await answer).toEqual({ value: payload });
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.map(({ frame, bytes }) => [frame.type, bytes])).toEqual(received.map(({ frame, bytes }) => [frame.type, bytes]));
    expect(sent.every(({ bytes }) => bytes > 0)).toBe(true);
  });
});

describe('frames$', () => {
  it('A frame has the time at which it leaves, and the time at which it arrives', async () => {
    const { dialer, acceptor } = createPair({ latencyMs: 20 });
    const [sent, received] = [framesOf(dialer, 'tx'), framesOf(acceptor, 'rx')];
    dialer.notify('first');
    await time.advance(50);
    dialer.notify('second');
    await time.advance(50);
    const [first = NaN, second = NaN] = sent.map(({ at }) => at);
    expect(second - first).toBe(50);
    expect(received.map(({ at }) => at)).toEqual([first + 20, second + 20]);
  });

  it('A frame that cannot be encoded is seen by `onFrame` alone', async () => {
    const breakable = new BreakableCodec('json', ['encode', 'encodeWith']);
    const { dialer } = createPair({ dialer: { codec: breakable.codec } });
    const observed: string[] = [];
    dialer.onFrame((direction, { type }) => observed.push(`${direction} ${type}`));
    const sent = framesOf(dialer, 'tx');
    breakable.breaksAt = ['encode', 'encodeWith'];
    const failed = settled(dialer.request('p'));
    await time.advance();
    expect(await failed).toHaveProperty('error');
    expect(observed).toEqual(['tx open']);
    expect(sent).toEqual([]);
    expect(logs.errors).toHaveLength(1);
  });

  it('A subscriber that closes the socket as a frame leaves sees no further frame, and the frame is not sent', async () => {
    const { dialer, acceptor, link } = createPair();
    const arrived = framesOf(acceptor, 'rx');
    dialer.frames$.subscribe(() => {
      link.cut();
    });
    const lost = settled(dialer.request('p'));
    await time.advance();
    expect(await lost).toHaveProperty('error.code', 'CONNECTION_LOST');
    expect(arrived).toEqual([]);
  });

  it('A subscriber receives a frozen frame', async () => {
    const { dialer } = createPair();
    const sent = framesOf(dialer, 'tx');
    dialer.notify('p');
    await time.advance();
    expect(sent.map(({ frame }) => Object.isFrozen(frame))).toEqual([true]);
  });
});
