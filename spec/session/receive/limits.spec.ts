import { describe, expect, it } from '@jest/globals';
import type { Frame } from '../../../src/wire/frame.js';
import { encodedLength } from '../../../src/wire/length.js';
import type { Limits } from '../../../src/wire/limits.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { AsciiJsonCodec } from '../../support/codec/foreign.js';
import { Rig } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

const { PROTOCOL_ERROR, FLOW_CONTROL, PAYLOAD_TOO_LARGE, REFUSED, ENHANCE_YOUR_CALM, CANCEL } = ResetCode;

/** A limit, the frames that reach it, one frame over it, and this side's answer to that frame. */
interface Row {
  readonly limit: keyof Limits;
  readonly limits: Partial<Limits>;
  readonly at: readonly Frame[];
  readonly over: Frame;
  readonly answer: Partial<Frame>;
  /** The close code, if the connection ends. */
  readonly close?: number;
}

const fragment = (text: string, more = true): Frame => ({ type: 'data', stream: 1, fragment: text, more });
const open = (stream: number): Frame => ({ type: 'open', stream });

const ROWS: readonly Row[] = [
  {
    limit: 'maxPayloadBytes',
    limits: { maxPayloadBytes: 6 },
    at: [open(1), fragment('"ab', true), fragment('cd"', true)],
    over: fragment(' ', false),
    answer: {
      type: 'reset',
      stream: 1,
      code: PAYLOAD_TOO_LARGE,
      reason: 'payload of at least 7 bytes is over the limit of 6 (maxPayloadBytes)',
    },
  },
  {
    limit: 'maxHeldBytes',
    limits: { maxHeldBytes: 200 },
    at: [open(1), open(3), fragment('x'.repeat(100)), { ...fragment('y'.repeat(100)), stream: 3 }],
    over: { ...fragment('z'), stream: 3 },
    answer: {
      type: 'reset',
      stream: 3,
      code: ENHANCE_YOUR_CALM,
      reason: '264 bytes held by this connection are over the limit of 200 (maxHeldBytes)',
    },
  },
  {
    limit: 'maxFragments',
    limits: { maxFragments: 3 },
    at: [open(1), fragment('"'), fragment('a'), fragment('b')],
    over: fragment('"', false),
    answer: { type: 'reset', stream: 1, code: PROTOCOL_ERROR, reason: 'payload of more than 3 fragments (maxFragments)' },
  },
  {
    limit: 'maxEmptyFragments',
    limits: { maxEmptyFragments: 2 },
    at: [open(1), open(3), fragment(''), { ...fragment(''), stream: 3 }],
    over: fragment(''),
    answer: { type: 'goaway', code: ENHANCE_YOUR_CALM, last_stream: 0, reason: 'more than 2 empty fragments (maxEmptyFragments)' },
    close: 1008,
  },
  {
    limit: 'maxStreams',
    limits: { maxStreams: 2 },
    at: [open(1), open(3)],
    over: open(5),
    answer: { type: 'reset', stream: 5, code: REFUSED, reason: 'more than 2 streams (maxStreams)' },
  },
  {
    limit: 'provokedResets',
    limits: { provokedResets: { burst: 2, perSecond: 1 } },
    at: [open(1), fragment('1', false), { type: 'data', stream: 1, more: true }, { type: 'data', stream: 9 }],
    over: { type: 'data', stream: 11 },
    answer: {
      type: 'goaway',
      code: ENHANCE_YOUR_CALM,
      last_stream: 0,
      reason: 'more than 2 at once and 1 per second provoked resets (provokedResets)',
    },
    close: 1008,
  },
  {
    limit: 'junk',
    limits: { junk: { burst: 3, perSecond: 2 } },
    at: [{ type: 'pong' }, { type: 'pong', nonce: 'x' }, { type: 'reset', stream: 9 }],
    over: { type: 'pong' },
    answer: {
      type: 'goaway',
      code: ENHANCE_YOUR_CALM,
      last_stream: 0,
      reason: 'more than 3 at once and 2 per second frames that make no sense (junk)',
    },
    close: 1008,
  },
  {
    limit: 'pings',
    limits: { pings: { burst: 2, perSecond: 1 } },
    at: [{ type: 'ping' }, { type: 'ping' }],
    over: { type: 'ping' },
    answer: { type: 'goaway', code: ENHANCE_YOUR_CALM, last_stream: 0, reason: 'more than 2 at once and 1 per second pings (pings)' },
    close: 1008,
  },
];

describe('limits', () => {
  it.each(ROWS)('Session accepts frames up to $limit and answers the frame over it', ({ limits, at, over, answer, close }) => {
    const rig = new Rig({ limits });
    rig.receive(...at);
    expect(rig.news.filter(({ reason }) => reason === answer.reason)).toEqual([]);
    expect(rig.transport.closes).toEqual([]);
    rig.receive(over);
    expect(rig.news).toContainEqual(answer);
    expect(rig.transport.closes).toEqual(close === undefined ? [] : [{ code: close, reason: answer.reason }]);
  });

  it('Session accepts messages of at most 1 MiB, counted in bytes and not in characters', () => {
    const rig = new Rig();
    const message = (bytes: number) => `{"type":"pong","nonce":"${'é'.repeat((bytes - 26) / 2)}"}`;
    rig.transport.receive(message(1_048_576));
    expect(rig.transport.closes).toEqual([]);
    rig.transport.receive(message(1_048_578));
    const reason = 'message of 1048578 bytes is over the limit of 1048576 (maxMessageBytes)';
    expect(rig.news).toEqual([{ type: 'goaway', code: ENHANCE_YOUR_CALM, last_stream: 0, reason }]);
    expect(rig.transport.closes).toEqual([{ code: 1009, reason }]);
  });

  it('Session counts maxUnreadBytes per stream and resets the stream that exceeds it', () => {
    const rig = new Rig({ limits: { maxUnreadBytes: 100 } });
    const [one, other] = [rig.remote(1), rig.remote(3)];
    expect([one.live.keep(60), other.live.keep(60), one.live.keep(40)]).toEqual([true, true, true]);
    expect(one.live.keep(1)).toBe(false);
    const reason = '101 unread bytes are over the limit of 100 (maxUnreadBytes)';
    expect(rig.news).toEqual([{ type: 'reset', stream: 1, code: FLOW_CONTROL, reason }]);
    expect(one.ends).toEqual([{ how: 'reset', by: 'library', code: FLOW_CONTROL, reason, payload: null }]);
    expect(other.ends).toEqual([]);
  });

  it('Held bytes include unread payloads', () => {
    const rig = new Rig({ limits: { maxHeldBytes: 100 } });
    const [one, two] = [rig.remote(1), rig.remote(3)];
    expect([one.live.keep(60), two.live.keep(40)]).toEqual([true, true]);
    expect(two.live.keep(1)).toBe(false);
    const reason = '101 bytes held by this connection are over the limit of 100 (maxHeldBytes)';
    expect(rig.news).toEqual([{ type: 'reset', stream: 3, code: ENHANCE_YOUR_CALM, reason }]);
    one.live.read(60);
    two.live.read(40);
    expect(rig.connection.budget.held.used).toBe(0);
  });

  it.each<[string, (rig: Rig) => void]>([
    [
      'a stream of this side ended',
      (rig) => {
        const stream = rig.open({ end: true });
        stream.onReceive = () => stream.live.keep(100);
        rig.receive({ type: 'data', stream: 2, payload: 'unread', end: true });
        stream.live.read(100);
      },
    ],
    [
      'the remote reset its stream, and then the handler settled',
      (rig) => {
        const stream = rig.remote(1);
        stream.live.handlerStarted();
        stream.live.keep(100);
        rig.receive({ type: 'reset', stream: 1, code: CANCEL });
        expect(rig.connection.budget.held.used).toBe(100);
        stream.live.handlerSettled();
        expect(rig.connection.budget.held.used).toBe(0);
        stream.live.read(100);
      },
    ],
    [
      'the handler settled, and then the remote stream ended',
      (rig) => {
        const stream = rig.remote(1);
        stream.live.handlerStarted();
        stream.live.keep(100);
        stream.live.handlerSettled();
        expect(rig.connection.budget.held.used).toBe(100);
        rig.send(stream, { end: true });
        rig.receive({ type: 'data', stream: 1, end: true });
      },
    ],
  ])('Session releases the held bytes of payloads that no reader is left for: %s', (_what, act) => {
    const rig = new Rig({ limits: { maxHeldBytes: 100 } });
    act(rig);
    expect(rig.connection.budget.held.used).toBe(0);
    expect(rig.remote(3).live.keep(100)).toBe(true);
  });

  /** Returns a text that makes the message of `frame` take `bytes`. */
  const padded = (frame: Frame, bytes: number): string => 'x'.repeat(bytes - JSON.stringify(frame).length);

  it.each<[string, number, (bytes: number) => Frame]>([
    ['payload', 1_000, (bytes) => ({ ...open(5), payload: padded({ ...open(5), payload: '' }, bytes) })],
    ['headers', 1_269, (bytes) => ({ ...open(5), headers: { h: padded({ ...open(5), headers: { h: '' } }, bytes) } })],
    [
      'trailers',
      1_257,
      (bytes) => ({ ...open(5), end: true, trailers: { t: padded({ ...open(5), end: true, trailers: { t: '' } }, bytes) } }),
    ],
  ])(
    'Held bytes include the %s of an open, %i bytes in memory, until its stream is closed and its handler has settled',
    (_what, weight, opening) => {
      const rig = new Rig({ limits: { maxHeldBytes: weight } });
      const { attached } = rig.connection.budget;
      rig.receive(opening(1_000));
      const [stream] = rig.remotes;
      stream?.live.handlerStarted();
      rig.receive({ ...open(7), payload: 1 });
      const reason = `${weight + 64} bytes held by this connection are over the limit of ${weight} (maxHeldBytes)`;
      expect([attached.used, rig.news]).toEqual([weight, [{ type: 'reset', stream: 7, code: ENHANCE_YOUR_CALM, reason }]]);
      expect(rig.remotes).toHaveLength(1);
      rig.receive({ type: 'reset', stream: 5, code: CANCEL });
      expect(attached.used).toBe(weight);
      stream?.live.handlerSettled();
      expect(attached.used).toBe(0);
    },
  );

  it('Held bytes count the payload of an open as encoded under a codec that does not weigh', () => {
    const rig = new Rig({ codec: new AsciiJsonCodec() });
    const frame = { ...open(5), payload: 'x'.repeat(1_000) };
    rig.receive(frame);
    expect(rig.connection.budget.attached.used).toBe(encodedLength(new AsciiJsonCodec().encode(frame)));
  });

  it('Held bytes include the headers of a fragmented open even after its last fragment', () => {
    const rig = new Rig({ limits: { maxHeldBytes: 1_000 } });
    rig.receive({ ...open(1), headers: { h: 'x'.repeat(500) }, fragment: '"', more: true });
    rig.receive({ ...open(1), fragment: '"' });
    expect(rig.remotes).toHaveLength(1);
    expect(rig.connection.budget.attached.used).toBeGreaterThan(500);
  });

  it.each<[string, Frame]>([
    ['headers', { type: 'data', stream: 2, headers: { h: 'x'.repeat(500) } }],
    ['trailers', { type: 'data', stream: 2, end: true, trailers: { t: 'x'.repeat(500) } }],
  ])('Held bytes include the %s of an answer until its stream closes', (_what, answer) => {
    const rig = new Rig({ limits: { maxHeldBytes: 1_000 } });
    const streams = [rig.open(), rig.open()];
    for (const { live } of streams) rig.receive({ ...answer, stream: live.id });
    expect(streams.map(({ cause }) => cause)).toMatchObject([null, { how: 'reset', by: 'library', code: ENHANCE_YOUR_CALM }]);
    rig.receive({ type: 'reset', stream: 2, code: CANCEL });
    expect(rig.connection.budget.attached.used).toBe(0);
  });

  it.each<[string, Frame]>([
    ['an open', { ...open(3), payload: 'x'.repeat(99) }],
    ['data', { type: 'data', stream: 1, payload: 'é'.repeat(50) }],
  ])('Session applies maxPayloadBytes to an unfragmented payload: %s', (_what, frame) => {
    const rig = new Rig({ limits: { maxPayloadBytes: 100 } });
    const stream = rig.remote(1);
    rig.receive({ type: 'data', stream: 1, payload: 'x'.repeat(98), headers: { and: 'these' } });
    rig.receive(frame);
    const bytes = JSON.stringify(frame.payload).length + (frame.type === 'data' ? 50 : 0);
    const reason = `payload of ${bytes} bytes is over the limit of 100 (maxPayloadBytes)`;
    expect(rig.news).toEqual([{ type: 'reset', stream: frame.stream, code: PAYLOAD_TOO_LARGE, reason }]);
    expect([stream.payloads, rig.remotes.length]).toEqual([['x'.repeat(98)], 1]);
  });

  it.each<[string, Frame]>([
    ['headers', { type: 'data', stream: 1, headers: { h: 'x'.repeat(200) } }],
    ['a reset', { type: 'reset', stream: 1, code: 300, payload: 'x'.repeat(200) }],
    ['a ping', { type: 'ping', payload: 'x'.repeat(200) }],
  ])('Session does not apply maxPayloadBytes to %s', (_what, frame) => {
    const rig = new Rig({ limits: { maxPayloadBytes: 100 } });
    const stream = rig.remote(1);
    rig.receive(frame);
    expect(rig.news.filter(({ type }) => type !== 'pong')).toEqual([]);
    expect(stream.ends).toEqual(frame.type === 'reset' ? [expect.objectContaining({ by: 'remote' })] : []);
  });

  it('Held bytes exclude the payloads after an open, later headers, and the frame that ends the stream', () => {
    const rig = new Rig({ limits: { maxHeldBytes: 300 } });
    const { attached } = rig.connection.budget;
    const stream = rig.open({ end: true });
    rig.receive({ type: 'data', stream: 2, payload: 'x'.repeat(300) }, { type: 'data', stream: 2, headers: { h: 'x'.repeat(300) } });
    expect([attached.used, stream.cause]).toEqual([0, null]);
    rig.receive({ type: 'data', stream: 2, end: true, trailers: { t: 'x'.repeat(300) } });
    expect([attached.used, stream.cause, stream.received.at(-1)?.trailers]).toEqual([0, { how: 'ended' }, { t: 'x'.repeat(300) }]);
  });

  it('Session does not answer a late frame over maxPayloadBytes', () => {
    const rig = new Rig({ limits: { maxPayloadBytes: 100 } });
    rig.remote(1);
    rig.receive({ type: 'reset', stream: 1, code: CANCEL }, { type: 'data', stream: 1, payload: 'x'.repeat(200) });
    expect([rig.news, rig.transport.closes]).toEqual([[], []]);
  });

  it('Session resets a stream whose payload cannot be measured, and keeps the connection', () => {
    const rig = new Rig({ limits: { maxPayloadBytes: 100 } });
    const stream = rig.remote(1);
    rig.transport.receive(`{"type":"data","stream":1,"payload":["${'x'.repeat(100)}",1e400]}`);
    const reason = 'payload of a message of 147 bytes, which cannot be measured, is over the limit of 100 (maxPayloadBytes)';
    expect(stream.ends).toMatchObject([{ how: 'reset', code: PAYLOAD_TOO_LARGE, reason }]);
    expect(rig.transport.closes).toEqual([]);
  });

  it('Session refuses opens over maxStreams and never ends the connection for them', () => {
    const rig = new Rig({ limits: { maxStreams: 1, junk: { burst: 2, perSecond: 0 } } });
    for (let stream = 1; stream < 200; stream += 2) rig.receive(open(stream));
    expect(rig.news.filter(({ type, code }) => type === 'reset' && code === REFUSED)).toHaveLength(99);
    expect(rig.transport.closes).toEqual([]);
  });

  it('Session ends a stream with a reset when its last payload exceeds maxUnreadBytes, so that the reader learns of it', () => {
    const rig = new Rig({ limits: { maxUnreadBytes: 100 } });
    const stream = rig.open({ end: true });
    stream.onReceive = () => stream.live.keep(101);
    rig.receive({ type: 'data', stream: 2, payload: 'much', end: true });
    expect(stream.ends).toMatchObject([{ how: 'reset', by: 'library', code: FLOW_CONTROL }]);
    expect(rig.news).toMatchObject([{ type: 'open' }]);
  });

  it('Session accepts one more ping for every 256 KiB received, up to the burst', () => {
    const rig = new Rig({ limits: { pings: { burst: 2, perSecond: 0 } } });
    const ping = () => {
      rig.receive({ type: 'ping' });
      return rig.transport.closes.length === 0;
    };
    const bulk = (bytes: number) => {
      rig.transport.receive(`{"type":"later","x":"${'x'.repeat(bytes - 23)}"}`);
    };
    expect([ping(), ping()]).toEqual([true, true]);
    bulk(256 * 1024 - 2 * 15 - 1);
    bulk(23 + 1);
    expect(ping()).toBe(true);
    for (let n = 0; n < 4; n++) bulk(1024 * 1024);
    expect([ping(), ping(), ping()]).toEqual([true, true, false]);
  });

  it(
    'Session accepts pings at their rate and ends the connection when one comes too early',
    inTime((time) => {
      const rig = new Rig({ limits: { pings: { burst: 1, perSecond: 2 } } });
      for (const wait of [500, 500, 499]) {
        rig.receive({ type: 'ping' });
        expect(rig.transport.closes).toEqual([]);
        time.advance(wait);
      }
      rig.receive({ type: 'ping' });
      expect(rig.transport.closes).toMatchObject([{ code: 1008 }]);
    }),
  );
});
