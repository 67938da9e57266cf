import { describe, expect, it, jest } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { ConnectionLimits } from '../../src/connection/connection.js';
import { FloodGuard } from '../../src/connection/inbound.js';
import { logger } from '../../src/logger.js';
import { TokenBucket } from '../../src/util/time.js';
import type { Codec } from '../../src/wire/codec.js';
import { ResetCode } from '../../src/wire/codes.js';
import { ConnectionFault } from '../../src/wire/errors.js';
import type { Frame } from '../../src/wire/frame.js';
import { encodedLength } from '../../src/wire/length.js';
import { DEFAULT_LIMITS, resolveLimits } from '../../src/wire/limits.js';
import type { Limits } from '../../src/wire/limits.js';
import { AsciiJsonCodec } from '../support/codec/foreign.js';
import { Rig } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';

const { PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL, PAYLOAD_TOO_LARGE, REFUSED, ENHANCE_YOUR_CALM, CANCEL } = ResetCode;

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
      reason: "payload of at least 7 bytes is over the receiver's limit of 6 (maxPayloadBytes)",
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

  it('Held bytes count a payload as encoded under a codec that weighs it as NaN', () => {
    const codec = Object.assign(new JsonCodec(), { weigh: () => NaN });
    const rig = new Rig({ codec, limits: { maxHeldBytes: 1_000 } });
    for (const id of [1, 3]) rig.receive({ ...open(id), payload: 'x'.repeat(600) });
    expect(rig.news).toMatchObject([{ type: 'reset', stream: 3, code: ENHANCE_YOUR_CALM }]);
  });

  it.each<[string, Frame]>([
    ['the payload of an open', { ...open(1), payload: 'p' }],
    ['the headers of an answer', { type: 'data', stream: 2, headers: { h: 'x' } }],
  ])('A codec that fails to weigh %s ends that stream alone', (_what, frame) => {
    jest.spyOn(logger, 'error').mockImplementationOnce(() => undefined);
    const codec = Object.assign(new JsonCodec(), {
      weigh: () => {
        throw new RangeError('no weight');
      },
    });
    const rig = new Rig({ codec });
    rig.open();
    rig.receive(frame);
    expect(rig.news.at(-1)).toEqual({ type: 'reset', stream: frame.stream, code: INTERNAL_ERROR, reason: 'internal error' });
    expect(rig.connection.isOver).toBe(false);
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

  it.each<[string, Codec, boolean]>([
    ['exclude', new JsonCodec(), false],
    ['include, under a codec that does not weigh,', new AsciiJsonCodec(), true],
  ])('Held bytes %s a payload beside the headers of an answer', (_verb, codec, isCounted) => {
    const rig = new Rig({ codec });
    const stream = rig.open();
    rig.receive({ type: 'data', stream: 2, payload: 'x'.repeat(5_000), headers: { h: 'x'.repeat(100) } });
    const { used } = rig.connection.budget.attached;
    expect([stream.payloads.length, used > 100, used > 5_000]).toEqual([1, true, isCounted]);
  });

  it('Held bytes exclude trailers without an end, which are ignored', () => {
    const rig = new Rig({ limits: { maxHeldBytes: 1_000 } });
    const stream = rig.remote(1);
    for (let n = 0; n < 10; n++) rig.receive({ type: 'data', stream: 1, payload: n, trailers: { t: 'x'.repeat(200) } });
    expect([stream.payloads.length, stream.cause, rig.connection.budget.attached.used]).toEqual([10, null, 0]);
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
    const reason = `payload of ${bytes} bytes is over the receiver's limit of 100 (maxPayloadBytes)`;
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
    const reason = "payload of a message of 147 bytes, which cannot be measured, is over the receiver's limit of 100 (maxPayloadBytes)";
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

describe('limits that end each reason with a note', () => {
  const note = ', on Mondays';
  const fragment = (text: string): Frame => ({ type: 'open', stream: 3, fragment: text, more: true });

  it.each<[string, Partial<ConnectionLimits>, Frame, string]>([
    [
      'a payload in fragments',
      { maxPayloadBytes: 10 },
      fragment('x'.repeat(11)),
      "payload of at least 11 bytes is over the receiver's limit of 10 (maxPayloadBytes)",
    ],
    [
      'a payload in one piece',
      { maxPayloadBytes: 10 },
      { type: 'open', stream: 3, payload: 'x'.repeat(9) },
      "payload of 11 bytes is over the receiver's limit of 10 (maxPayloadBytes)",
    ],
    [
      'an unfinished payload over the held bytes',
      { maxHeldBytes: 60 },
      fragment('x'),
      '64 bytes held by this connection are over the limit of 60 (maxHeldBytes)',
    ],
    [
      'the payload of an open over the held bytes',
      { maxHeldBytes: 60 },
      { type: 'open', stream: 3, payload: 'x' },
      '64 bytes held by this connection are over the limit of 60 (maxHeldBytes)',
    ],
  ])('Session notes why it resets a stream: %s', (_what, limits, frame, reason) => {
    const rig = new Rig({ limits: { ...limits, note } });
    rig.receive(frame);
    expect(rig.news).toEqual([expect.objectContaining({ type: 'reset', stream: 3, reason: reason + note })]);
  });

  it('Session notes why it ends the connection', () => {
    const rig = new Rig({ limits: { maxPayloadItems: 5, note } });
    rig.receive({ type: 'open', stream: 3, payload: [0, 0, 0, 0, 0] });
    const reason = `codec 'json': expected at most 5 items (maxPayloadItems), got more${note}`;
    expect(rig.news).toEqual([{ type: 'goaway', code: ResetCode.PROTOCOL_ERROR, last_stream: 0, reason }]);
    expect(rig.transport.closes).toEqual([{ code: 1002, reason }]);
  });

  it('Session adds no note to an error of its own', () => {
    jest.spyOn(logger, 'error').mockImplementationOnce(() => undefined);
    const rig = new Rig({ limits: { note } });
    rig.onObserved = (direction) => {
      if (direction === 'rx') throw new Error('of the owner');
    };
    rig.receive({ type: 'open', stream: 3 });
    expect(rig.transport.closes).toEqual([{ code: 1011, reason: 'internal error' }]);
  });

  it('Session reads each limit at its use, so that they may widen', () => {
    const rig = new Rig({ limits: { maxPayloadBytes: 20, maxHeldBytes: 100, maxPayloadItems: 10, note } });
    Object.assign(rig.connection.limits, { maxPayloadBytes: 1_000, maxHeldBytes: 5_000, maxPayloadItems: 200, note: undefined });
    rig.receive(
      { type: 'open', stream: 1, payload: 'x'.repeat(900) },
      { type: 'open', stream: 3, payload: Array.from({ length: 100 }, () => 0) },
      { type: 'open', stream: 5, fragment: 'x'.repeat(900), more: true },
    );
    expect([rig.news, rig.remotes.length]).toEqual([[], 2]);
    rig.receive({ type: 'open', stream: 5, fragment: 'x'.repeat(101), more: true });
    const reason = "payload of at least 1001 bytes is over the receiver's limit of 1000 (maxPayloadBytes)";
    expect(rig.news).toEqual([{ type: 'reset', stream: 5, code: ResetCode.PAYLOAD_TOO_LARGE, reason }]);
  });
});

const codec = new MsgpackCodec();
/** Items of an envelope with `type`, `stream` and `payload`, besides the payload: the map, its keys and the other values. */
const AROUND = 6;
const ITEMS = 20;

function rigOf(maxPayloadItems: number): Rig {
  const rig = new Rig({ codec, limits: { maxPayloadItems } });
  rig.remote(1);
  return rig;
}

describe('maxPayloadItems', () => {
  const payload = Array.from({ length: ITEMS - 1 }, () => null);
  const whole = codec.encodePayload(payload);
  const reason = (items: number): string => `codec 'msgpack': expected at most ${items} items (maxPayloadItems), got more`;

  it('Session accepts a message of maxPayloadItems items and ends the connection at one more', () => {
    const rig = rigOf(AROUND + ITEMS);
    rig.receive({ type: 'data', stream: 1, payload });
    expect([rig.remotes[0]?.payloads, rig.transport.closes]).toEqual([[payload], []]);
    rig.receive({ type: 'data', stream: 1, payload: [...payload, null] });
    expect(rig.transport.closes).toEqual([{ code: 1002, reason: reason(AROUND + ITEMS) }]);
  });

  it('Session accepts a reassembled payload of maxPayloadItems items and resets the stream at one more', () => {
    const longer = codec.encodePayload([...payload, null]);
    const rig = rigOf(ITEMS);
    rig.receive({ type: 'data', stream: 1, fragment: whole.slice(0, 3), more: true });
    rig.receive({ type: 'data', stream: 1, fragment: whole.slice(3) });
    expect([rig.remotes[0]?.payloads, rig.news]).toEqual([[payload], []]);
    rig.receive({ type: 'data', stream: 1, fragment: longer });
    expect(rig.news).toEqual([{ type: 'reset', stream: 1, code: ResetCode.PROTOCOL_ERROR, reason: reason(ITEMS) }]);
  });
});

describe('maxPayloadItems under json', () => {
  const arrays = (count: number): string => `[${'[],'.repeat(count - 2)}[]]`;
  const limits = { maxPayloadItems: 20 };
  const reason = `codec 'json': expected at most 20 items (maxPayloadItems), got more`;

  it('Session resets the stream of a reassembled JSON payload with more items than maxPayloadItems', () => {
    const rig = new Rig({ limits });
    const stream = rig.remote(1);
    rig.receive({ type: 'data', stream: 1, fragment: arrays(20).slice(0, 3), more: true });
    rig.receive({ type: 'data', stream: 1, fragment: arrays(20).slice(3) });
    expect([stream.payloads, rig.news]).toEqual([[JSON.parse(arrays(20))], []]);
    rig.receive({ type: 'data', stream: 1, fragment: arrays(21) });
    expect(rig.news).toEqual([{ type: 'reset', stream: 1, code: ResetCode.PROTOCOL_ERROR, reason }]);
  });

  it('Session ends the connection at a JSON message with more items than maxPayloadItems', () => {
    const rig = new Rig({ limits });
    rig.remote(1);
    const around = 6;
    rig.receive({ type: 'data', stream: 1, payload: JSON.parse(arrays(20 - around)) as unknown });
    expect(rig.transport.closes).toEqual([]);
    rig.receive({ type: 'data', stream: 1, payload: JSON.parse(arrays(21 - around)) as unknown });
    expect(rig.transport.closes).toEqual([{ code: 1002, reason }]);
  });
});

describe('floods', () => {
  const { REFUSED, CANCEL, APPLICATION_ERROR, ENHANCE_YOUR_CALM } = ResetCode;
  const MIB = 1024 * 1024;

  const open = (stream: number): Frame => ({ type: 'open', stream });

  describe('rapid resets', () => {
    it('A rapid reset does not free the place of its stream until the handler has settled', () => {
      const rig = new Rig({ limits: { maxStreams: 1 } });
      const { live } = rig.remote(1);
      live.handlerStarted();
      rig.receive({ type: 'reset', stream: 1, code: CANCEL }, open(3));
      expect(rig.news).toMatchObject([{ type: 'reset', stream: 3, code: REFUSED }]);
      live.handlerSettled();
      expect(rig.remote(5).ends).toEqual([]);
    });

    it(
      'Session refuses opens for a while after too many resets of running handlers, and stays open',
      inTime((time) => {
        const rig = new Rig({ limits: { resets: { burst: 2, perSecond: 10 }, junk: { burst: 0, perSecond: 0 } } });
        for (const id of [1, 3, 5]) {
          rig.receive(open(id));
          if (id < 5) rig.held(id).live.handlerStarted();
          rig.receive({ type: 'reset', stream: id, code: CANCEL });
        }
        const reason = 'more than 2 at once and 10 per second resets of running handlers (resets)';
        expect(rig.news).toEqual([{ type: 'reset', stream: 5, code: REFUSED, reason }]);
        time.advance(100);
        expect(rig.remote(7).ends).toEqual([]);
        expect(rig.transport.closes).toEqual([]);
      }),
    );

    it('A reset after the handler has settled is not counted', () => {
      const rig = new Rig({ limits: { resets: { burst: 1, perSecond: 0 } } });
      for (const id of [1, 3, 5]) {
        const { live } = rig.remote(id);
        live.handlerStarted();
        live.handlerSettled();
        rig.receive({ type: 'reset', stream: id, code: CANCEL });
      }
      expect(rig.news).toEqual([]);
    });
  });

  describe('opens without a handler', () => {
    it('Session refuses an open without a handler, and ends the connection after too many', () => {
      const rig = new Rig({ limits: { junk: { burst: 1, perSecond: 0 } } });
      for (const id of [1, 3]) rig.remote(id).live.refuse('no handler is here');
      const refused = { how: 'reset', by: 'library', code: REFUSED, reason: 'no handler is here', payload: null };
      expect(rig.remotes.map(({ ends }) => ends)).toEqual([[refused], [refused]]);
      expect(rig.news).toMatchObject([
        { type: 'reset', stream: 1, code: REFUSED, reason: 'no handler is here' },
        { type: 'reset', stream: 3, code: REFUSED, reason: 'no handler is here' },
        { type: 'goaway', code: ENHANCE_YOUR_CALM },
      ]);
      expect(rig.transport.closes).toHaveLength(1);
    });
  });

  describe('remotes that do not read', () => {
    it.each([
      [CANCEL, ''],
      [APPLICATION_ERROR, 'failed'],
    ])('A remote that does not read has no place for a new stream until a reset is written (code %s)', (code, reason) => {
      const rig = new Rig({ limits: { maxStreams: 2 } });
      rig.transport.bufferedAmount = MIB;
      for (const id of [1, 3]) {
        const { live } = rig.remote(id);
        live.handlerStarted();
        live.reset('user', code, reason);
        live.handlerSettled();
      }
      expect([rig.connection.streams.size, rig.connection.places]).toEqual([0, 2]);
      rig.receive(open(5));
      rig.transport.drainTo(0);
      expect(rig.news).toContainEqual(expect.objectContaining({ stream: 5, code: REFUSED }));
      expect(rig.connection.places).toBe(0);
      expect(rig.remote(7).ends).toEqual([]);
    });
  });
});

describe('flood guard', () => {
  const KIB = 1024;
  const { PROTOCOL_ERROR, STREAM_CLOSED, ENHANCE_YOUR_CALM } = ResetCode;

  const flood = (limits: Partial<Limits> = {}): FloodGuard => new FloodGuard(resolveLimits(limits));

  const repeat = (count: number, act: () => void): void => {
    for (let n = 0; n < count; n++) act();
  };

  /** Returns the ConnectionFault that an act throws. */
  const faultOf = (act: () => void): ConnectionFault => {
    try {
      act();
    } catch (error) {
      if (error instanceof ConnectionFault) return error;
      throw error;
    }
    throw new Error('expected a ConnectionFault, got none');
  };

  /** A bucket whose exhaustion ends the connection, an act that takes from it, and its numbers in the protocol. */
  interface Row {
    readonly limit: 'provokedResets' | 'junk' | 'pings';
    readonly take: (flood: FloodGuard) => void;
    readonly burst: number;
    readonly perSecond: number;
    readonly reason: string;
  }

  const ROWS: readonly Row[] = [
    {
      limit: 'provokedResets',
      take: (of) => {
        of.countProvokedReset(PROTOCOL_ERROR);
      },
      burst: 1_024,
      perSecond: 1,
      reason: 'more than 1024 at once and 1 per second provoked resets (provokedResets)',
    },
    {
      limit: 'provokedResets',
      take: (of) => {
        of.countProvokedReset(STREAM_CLOSED);
      },
      burst: 1_024,
      perSecond: 1,
      reason: 'more than 1024 at once and 1 per second provoked resets (provokedResets)',
    },
    {
      limit: 'junk',
      take: (of) => {
        of.countJunk('a pong that answers no ping');
      },
      burst: 10_000,
      perSecond: 330,
      reason: 'more than 10000 at once and 330 per second frames that make no sense (junk)',
    },
    {
      limit: 'pings',
      take: (of) => {
        of.countPing();
      },
      burst: 1_000,
      perSecond: 33,
      reason: 'more than 1000 at once and 33 per second pings (pings)',
    },
  ];

  describe('floods', () => {
    it.each(ROWS)(
      'FloodGuard ends the connection with ENHANCE_YOUR_CALM and 1008 past $burst $limit',
      inTime<[Row]>((_time, { take, burst, reason }) => {
        const counted = flood();
        repeat(burst, () => {
          take(counted);
        });
        const fault = faultOf(() => {
          take(counted);
        });
        expect([fault.resetCode, fault.closeCode, fault.message]).toEqual([ENHANCE_YOUR_CALM, 1008, reason]);
      }),
    );

    it.each(ROWS)(
      'FloodGuard accepts $limit at $perSecond a second',
      inTime<[Row]>((time, { take, burst, perSecond }) => {
        const counted = flood();
        repeat(burst, () => {
          take(counted);
        });
        time.advance(1_000);
        repeat(perSecond, () => {
          take(counted);
        });
        faultOf(() => {
          take(counted);
        });
      }),
    );

    it.each(ROWS)(
      'FloodGuard leaves the other buckets full when $limit are exhausted',
      inTime<[Row]>((_time, { limit, take, burst }) => {
        const counted = flood();
        repeat(burst, () => {
          take(counted);
        });
        for (const other of ROWS) if (other.limit !== limit) other.take(counted);
        expect(counted.refusal).toBeNull();
      }),
    );

    it.each([
      ...Object.entries(ResetCode).filter(([, code]) => code !== PROTOCOL_ERROR && code !== STREAM_CLOSED),
      ['an application code', 300],
    ])('FloodGuard does not count a reset whose code blames no side: %s', (_name, code) => {
      const counted = flood({ provokedResets: { burst: 0, perSecond: 0 } });
      counted.countProvokedReset(Number(code));
      expect(() => {
        counted.countProvokedReset(PROTOCOL_ERROR);
      }).toThrow(ConnectionFault);
    });
  });

  describe('resets of running handlers', () => {
    it(
      'FloodGuard refuses new streams until it has tokens again, and keeps the connection',
      inTime((time) => {
        const counted = flood();
        repeat(999, () => {
          counted.countEarlyReset();
        });
        expect(counted.refusal).toBeNull();
        repeat(10_000, () => {
          counted.countEarlyReset();
        });
        expect(counted.refusal).toBe('more than 1000 at once and 100 per second resets of running handlers (resets)');
        time.advance(5);
        expect(counted.refusal).not.toBeNull();
        time.advance(5);
        expect(counted.refusal).toBeNull();
        counted.countEarlyReset();
        expect(counted.refusal).not.toBeNull();
      }),
    );

    it('FloodGuard refuses no stream before the first reset', () => {
      expect(flood().refusal).toBeNull();
      expect(DEFAULT_LIMITS.resets).toEqual({ burst: 1_000, perSecond: 100 });
    });
  });

  describe('earned pings', () => {
    /** Counts the pings that are accepted before one ends the connection. */
    const pingsOf = (counted: FloodGuard): number => {
      let taken = 0;
      try {
        for (; taken < 100; taken++) counted.countPing();
      } catch {
        // This ping was one too many.
      }
      return taken;
    };

    it.each([
      ['256 KiB earn one', [256 * KIB], 1],
      ['one byte less earns none', [256 * KIB - 1], 0],
      ['256 KiB in several messages earn one', [100 * KIB, 100 * KIB, 56 * KIB - 1, 1], 1],
      ['each 256 KiB earn one, and the remainder counts on', [700 * KIB, 68 * KIB], 3],
      ['at most the burst is earned', [256 * KIB * 9], 4],
    ])('Received bytes earn pings: %s', (_what, messages, earned) => {
      const counted = flood({ pings: { burst: 4, perSecond: 0 } });
      expect(pingsOf(counted)).toBe(4);
      for (const bytes of messages) counted.received(bytes);
      expect(pingsOf(counted)).toBe(earned);
    });

    it('Received bytes earn a ping only once', () => {
      const counted = flood({ pings: { burst: 4, perSecond: 0 } });
      pingsOf(counted);
      counted.received(257 * KIB);
      expect(pingsOf(counted)).toBe(1);
      counted.received(255 * KIB - 1);
      expect(pingsOf(counted)).toBe(0);
      counted.received(1);
      expect(pingsOf(counted)).toBe(1);
    });
  });
});

/** Takes tokens until the bucket is empty, at most `most`, and returns their number. */
const drain = (bucket: TokenBucket, most = 100): number => {
  let taken = 0;
  while (taken < most && bucket.take()) taken++;
  return taken;
};

describe('TokenBucket', () => {
  it.each([0, 1, 2, 10])('TokenBucket grants its burst of %i at once, and no more', (burst) => {
    const bucket = new TokenBucket({ burst, perSecond: 1 });
    expect(bucket.empty).toBe(burst === 0);
    expect(drain(bucket)).toBe(burst);
    expect(bucket.empty).toBe(true);
    expect(bucket.take()).toBe(false);
  });

  it.each([
    [10, 99, 0],
    [10, 100, 1],
    [10, 250, 2],
    [10, 400, 4],
    [10, 60_000, 4],
    [0, 60_000, 0],
    [0.5, 1_999, 0],
    [0.5, 2_000, 1],
  ])(
    'With %d tokens a second, %i ms after it was emptied, TokenBucket has %i of its 4',
    inTime<[number, number, number]>((time, perSecond, ms, tokens) => {
      const bucket = new TokenBucket({ burst: 4, perSecond });
      drain(bucket);
      time.advance(ms);
      expect(bucket.empty).toBe(tokens === 0);
      expect(drain(bucket)).toBe(tokens);
    }),
  );

  it(
    'TokenBucket keeps a fraction of a token, however often a caller asks',
    inTime((time) => {
      const bucket = new TokenBucket({ burst: 1, perSecond: 1 });
      drain(bucket);
      for (let n = 0; n < 9; n++) {
        time.advance(100);
        expect([bucket.empty, bucket.take()]).toEqual([true, false]);
      }
      time.advance(101);
      expect([bucket.empty, bucket.take(), bucket.take()]).toEqual([false, true, false]);
    }),
  );

  it(
    'TokenBucket earns nothing while it is full',
    inTime((time) => {
      const bucket = new TokenBucket({ burst: 2, perSecond: 1 });
      time.advance(60_000);
      expect(drain(bucket)).toBe(2);
      time.advance(999);
      expect(bucket.take()).toBe(false);
    }),
  );

  it('TokenBucket adds earned tokens up to its burst', () => {
    const bucket = new TokenBucket({ burst: 3, perSecond: 0 });
    drain(bucket);
    bucket.earn(2);
    expect(drain(bucket)).toBe(2);
    bucket.earn(1_000);
    expect(drain(bucket)).toBe(3);
  });

  it(
    'TokenBucket loses no tokens when the clock is set back, and counts on from there',
    inTime((time) => {
      time.advance(10_000);
      const bucket = new TokenBucket({ burst: 2, perSecond: 1 });
      bucket.take();
      time.advance(-9_000);
      expect([bucket.take(), bucket.take()]).toEqual([true, false]);
      time.advance(1_000);
      expect([bucket.take(), bucket.take()]).toEqual([true, false]);
    }),
  );

  it('TokenBucket without a limit is never empty', () => {
    const bucket = new TokenBucket({ burst: Infinity, perSecond: 0 });
    expect([drain(bucket, 10_000), bucket.empty]).toEqual([10_000, false]);
  });
});
