import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { JsonCodec } from '../../../src/codec/json.js';
import { logger } from '../../../src/logger.js';
import type { Message } from '../../../src/wire/codec.js';
import { ConnectionFault } from '../../../src/wire/errors.js';
import type { Frame } from '../../../src/wire/frame.js';
import * as fragments from '../../../src/wire/fragment.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { resetFrame } from '../../../src/connection/replies.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Rig, typesOf } from '../../support/session/rig.js';
import type { RigOptions } from '../../support/session/rig.js';

const FULL = 1024 * 1024;
const logs = collectLogs();
const rigs: Rig[] = [];

/** Throws while encoding a frame that the test refuses. */
class PickyCodec extends JsonCodec {
  refuses: (frame: Frame) => boolean = () => false;

  override encode(frame: Frame): string {
    this.#check(frame);
    return super.encode(frame);
  }

  override encodeWith(frame: Frame, encodedPayload: Message): string {
    this.#check(frame);
    return super.encodeWith(frame, encodedPayload);
  }

  #check(frame: Frame): void {
    if (this.refuses(frame)) throw new TypeError(`refused ${frame.type}`);
  }
}

afterEach(() => {
  for (const rig of rigs.splice(0)) rig.transport.end();
});

describe('frames that cannot be encoded', () => {
  it.each([
    ['a frame that leaves at once', 0],
    ['a frame that has waited', FULL],
  ])('Session resets only the stream of data that cannot be encoded, with INTERNAL_ERROR: %s', (_, bufferedAmount) => {
    const { rig, codec } = pickyRig();
    const [bad, good] = [rig.open({}), rig.open({})];
    expect(rig.news).toHaveLength(2);
    codec.refuses = ({ payload }) => payload === 'bad';
    rig.transport.bufferedAmount = bufferedAmount;
    rig.send(bad, { payload: 'bad' });
    rig.send(bad, { payload: 'behind' });
    rig.send(good, { payload: 'good' });
    rig.transport.drainTo(0);
    const sent = rig.news;
    expect(sent.filter(({ stream }) => stream === 1)).toEqual([
      { type: 'reset', stream: 1, code: ResetCode.INTERNAL_ERROR, reason: 'a frame could not be encoded' },
    ]);
    expect(sent.filter(({ stream }) => stream === 3)).toEqual([{ type: 'data', stream: 3, payload: 'good' }]);
    expect(bad.cause).toMatchObject({ how: 'reset', by: 'library', code: ResetCode.INTERNAL_ERROR });
    expect([good.cause, rig.transport.closes, rig.connection.outbound.bytes]).toEqual([null, [], 0]);
    expect(logs.errors).toEqual([`rxmux: stream 1: a frame of type 'data' could not be encoded`]);
  });

  it.each([
    ['an open that leaves at once', 0],
    ['an open that has waited', FULL],
  ])('Session sends nothing for a stream whose open cannot be encoded: %s', (_, bufferedAmount) => {
    const { rig, codec } = pickyRig();
    codec.refuses = ({ payload }) => payload === 'bad';
    rig.transport.bufferedAmount = bufferedAmount;
    const bad = rig.open({ payload: 'bad' });
    const good = rig.open({ payload: 'good' });
    rig.transport.drainTo(0);
    expect(rig.news).toEqual([{ type: 'open', stream: 3, payload: 'good' }]);
    expect([bad.cause, good.cause]).toEqual([expect.objectContaining({ code: ResetCode.INTERNAL_ERROR }), null]);
  });

  it('Session resets a stream when a later slice of its open cannot be encoded', () => {
    const { rig, codec } = pickyRig({ maxFrameBytes: 256 });
    let slices = 0;
    rig.transport.onSend = () => {
      codec.refuses = ({ type }) => type === 'open' && slices > 0;
      slices++;
    };
    const bad = rig.open({ payload: 'x'.repeat(2000) });
    expect(rig.news.map(({ type, code, more }) => [type, code ?? more])).toEqual([
      ['open', true],
      ['reset', ResetCode.INTERNAL_ERROR],
    ]);
    expect(bad.ends).toHaveLength(1);
  });

  it.each([
    ['a frame that leaves at once', 0],
    ['a frame that has waited', FULL],
  ])('Session resets a stream whose trailers do not fit a message: %s', (_, bufferedAmount) => {
    const { rig } = pickyRig({ maxFrameBytes: 256 });
    const [bad, good] = [rig.open({}), rig.open({})];
    expect(rig.news).toHaveLength(2);
    rig.transport.bufferedAmount = bufferedAmount;
    rig.send(bad, { end: true, trailers: { t: 'x'.repeat(300) } });
    rig.send(good, { payload: 'good' });
    rig.transport.drainTo(0);
    expect(rig.news.map(({ type, stream, code }) => [type, stream, code])).toEqual(
      expect.arrayContaining([
        ['reset', 1, ResetCode.INTERNAL_ERROR],
        ['data', 3, undefined],
      ]),
    );
    expect(good.cause).toBeNull();
  });

  it.each(['is cut', 'is encoded'])('Session replaces a queued reset by INTERNAL_ERROR when a frame before it fails as it %s', (when) => {
    const { rig, codec } = pickyRig();
    const bad = rig.open({});
    expect(rig.news).toHaveLength(1);
    const refuse = (): void => {
      codec.refuses = ({ type }) => type === 'data';
    };
    if (when === 'is cut') refuse();
    else rig.onObserved = refuse;
    rig.transport.bufferedAmount = FULL;
    rig.send(bad, { payload: 1 });
    bad.live.reset('user', 300, 'mine');
    rig.transport.drainTo(0);
    expect(rig.news).toEqual([{ type: 'reset', stream: 1, code: ResetCode.INTERNAL_ERROR }]);
    expect(bad.cause).toMatchObject({ by: 'user', code: 300 });
    expect(rig.connection.outbound.bytes).toBe(0);
  });
});

describe('resets that cannot be encoded', () => {
  it.each([300, ResetCode.APPLICATION_ERROR, ResetCode.CANCEL, null])(
    'Session sends a reset without its payload when that cannot be encoded: code %p',
    (code) => {
      const { rig, codec } = pickyRig();
      const holder = rig.open({});
      expect(rig.news).toHaveLength(1);
      codec.refuses = ({ payload }) => payload === 'bad';
      holder.live.reset('user', code, 'why', { payload: 'bad', encodedPayload: '"bad"' });
      expect(rig.news).toEqual([{ type: 'reset', stream: 1, ...(code === null ? {} : { code }), reason: 'why' }]);
      expect([holder.ends.length, rig.transport.closes]).toEqual([1, []]);
    },
  );

  it('Session adds no reason to a reset whose payload cannot be encoded', () => {
    const { rig, codec } = pickyRig();
    const holder = rig.open({});
    expect(rig.news).toHaveLength(1);
    codec.refuses = ({ payload }) => payload === 'bad';
    holder.live.reset('user', 300, '', { payload: 'bad', encodedPayload: '"bad"' });
    expect(rig.news).toEqual([{ type: 'reset', stream: 1, code: 300 }]);
  });

  it('Session ends a sliced reset without the rest of its payload when a later slice fails', () => {
    const { rig, codec } = pickyRig({ maxFrameBytes: 256 });
    const holder = rig.open({});
    expect(rig.news).toHaveLength(1);
    rig.transport.onSend = () => {
      codec.refuses = ({ fragment }) => fragment !== null && fragment !== undefined;
    };
    const payload = 'x'.repeat(2000);
    holder.live.reset('user', 300, 'why', { payload, encodedPayload: JSON.stringify(payload) });
    expect(rig.news.map(({ type, more, fragment }) => [type, more, fragment === undefined])).toEqual([
      ['reset', true, false],
      ['reset', undefined, true],
    ]);
  });

  it('Session ends the connection when a reset cannot be encoded even without a payload', () => {
    const { rig, codec } = pickyRig();
    const holder = rig.open({});
    codec.refuses = ({ type }) => type === 'reset';
    holder.live.reset('user', ResetCode.CANCEL, '');
    expect(rig.news.at(-1)).toMatchObject({ type: 'goaway', code: ResetCode.INTERNAL_ERROR });
    expect(rig.transport.closes.map(({ code }) => code)).toEqual([1011]);
    expect(logs.errors).toEqual(['rxmux: internal error, the connection is closed']);
  });
});

describe('control frames that cannot be encoded', () => {
  it('Session ends the connection when a control frame cannot be encoded', () => {
    const { rig, codec } = pickyRig();
    codec.refuses = ({ type }) => type === 'pong';
    rig.receive({ type: 'ping', nonce: 'n' });
    expect(rig.news).toEqual([{ type: 'goaway', code: ResetCode.INTERNAL_ERROR, last_stream: 0, reason: 'internal error' }]);
    expect(rig.transport.closes).toEqual([{ code: 1011, reason: 'internal error' }]);
  });
});

describe('departures', () => {
  it('Departures drops the message of a frame during whose encoding the connection ended', () => {
    const { rig, codec } = pickyRig();
    const stream = rig.open({});
    codec.refuses = ({ type }) => {
      if (type === 'data') rig.connection.fail(new ConnectionFault('over'));
      return false;
    };
    rig.send(stream, { payload: 'late', end: true });
    expect(typesOf(rig)).toEqual(['open', 'goaway']);
    expect(stream.live.phase).toBe('open');
  });

  it.each([
    ['kept', 65_536, 'why', 'why'],
    ['cut to 1 024 bytes', 65_536, 'é'.repeat(600), 'é'.repeat(512)],
    ['left out when empty', 65_536, '', null],
    ['cut to fit a small cap', 64, 'x'.repeat(100), 'x'.repeat(64 - '{"type":"reset","stream":1,"code":8,"reason":""}'.length)],
  ])('`resetFrame` makes a reset that fits one message: its reason is %s', (_, maxFrameBytes, reason, expected) => {
    const { rig } = pickyRig({ maxFrameBytes });
    const frame = resetFrame(rig.connection, 1, ResetCode.CANCEL, reason);
    expect([frame.type, frame.stream, frame.code, frame.reason]).toEqual(['reset', 1, ResetCode.CANCEL, expected]);
  });

  it('Session logs the error that the codec threw', () => {
    const { rig, codec } = pickyRig();
    const logged = jest.spyOn(logger, 'error');
    const stream = rig.open({});
    codec.refuses = ({ type }) => type === 'data';
    rig.send(stream, { payload: 1 });
    expect(logged.mock.lastCall?.[1]).toEqual(new TypeError('refused data'));
  });

  it('Session drops frames after its end', () => {
    const { rig } = pickyRig();
    rig.transport.end();
    rig.forget();
    expect(() => {
      rig.connection.outbound.addAhead(new OutgoingFrame({ type: 'ping', nonce: 'n' }, null));
    }).not.toThrow();
    expect(rig.news).toEqual([]);
  });

  it('A frame that was found small is not measured again', () => {
    const { rig } = pickyRig({ maxFrameBytes: 256 });
    const measured = jest.spyOn(fragments, 'slicerToSend');
    const [one, other] = [rig.open(), rig.open()];
    measured.mockClear();
    rig.forget();
    one.live.send(new OutgoingFrame({ type: 'data' }, null, rig.connection.codec, null, true));
    other.live.send(new OutgoingFrame({ type: 'data' }, null));
    expect(rig.news).toEqual([
      { type: 'data', stream: one.live.id },
      { type: 'data', stream: other.live.id },
    ]);
    expect(measured.mock.calls.map(([{ stream }]) => stream)).toEqual([other.live.id]);
    measured.mockRestore();
  });

  it('A stream of the remote keeps its place until its reset is written', () => {
    const { rig } = pickyRig({ isDialer: false });
    const holder = rig.remote(1);
    rig.transport.bufferedAmount = FULL;
    holder.live.reset('user', ResetCode.CANCEL, '');
    expect(rig.connection.places).toBe(1);
    rig.transport.drainTo(0);
    expect([typesOf(rig), rig.connection.places]).toEqual([['reset'], 0]);
  });

  it('A stream of the remote keeps its place until the last slice of a big reset is written', () => {
    const { rig } = pickyRig({ isDialer: false, maxFrameBytes: 256 });
    const holder = rig.remote(1);
    const occupied: number[] = [];
    rig.transport.onSend = () => occupied.push(rig.connection.places);
    const payload = 'x'.repeat(400);
    holder.live.reset('user', ResetCode.APPLICATION_ERROR, '', { payload, encodedPayload: JSON.stringify(payload) });
    expect(occupied).toEqual([1, 1, 0]);
  });
});

function pickyRig(options: RigOptions = {}) {
  const codec = new PickyCodec();
  const rig = new Rig({ isDialer: true, ...options, codec });
  rigs.push(rig);
  return { rig, codec };
}
