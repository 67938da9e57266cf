import { afterEach, describe, expect, it } from '@jest/globals';
import { noop } from 'rxjs';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { TURN_BYTES } from '../../src/connection/outbound.js';
import { overtakes } from '../../src/stream/end.js';
import type { StreamCore } from '../../src/stream/stream-core.js';
import { ResetCode } from '../../src/wire/codes.js';
import type { Frame } from '../../src/wire/frame.js';
import { encodedLength } from '../../src/wire/length.js';
import { OutgoingFrame } from '../../src/wire/outgoing.js';
import { collectLogs } from '../support/peer/logs.js';
import { Rig, typesOf } from '../support/session/rig.js';
import type { Envelope, RigOptions } from '../support/session/rig.js';

describe('scheduler', () => {
  const KIB = 1024;
  const FULL = 1024 * KIB;
  const ROOM = 256 * KIB;

  collectLogs();

  const rigs: Rig[] = [];

  afterEach(() => {
    for (const rig of rigs.splice(0)) rig.transport.end();
  });

  describe('order of frames', () => {
    it('Scheduler sends control frames before data, in their own order', () => {
      const rig = fullRig();
      rig.open({ payload: 'data' });
      rig.connection.control.ping(noop, noop);
      rig.receive({ type: 'ping', nonce: 'theirs' });
      rig.connection.drain(1000, ResetCode.NO_ERROR, '');
      rig.transport.drainTo(0);
      expect(typesOf(rig)).toEqual(['ping', 'pong', 'goaway', 'open']);
    });

    it('A pong overtakes a transfer in progress', () => {
      const rig = rigOf();
      rig.open({ payload: 'x'.repeat(600 * KIB) });
      expect(new Set(typesOf(rig))).toEqual(new Set(['open']));
      rig.receive({ type: 'ping', nonce: 'n' });
      rig.transport.nextTurn();
      expect(typesOf(rig)[0]).toBe('pong');
    });

    it('Scheduler sends one slice of each stream in turn', () => {
      const rig = fullRig({ maxFrameBytes: 256 });
      for (const letter of ['a', 'b', 'c']) rig.open({ payload: letter.repeat(500) });
      rig.transport.drainTo(ROOM);
      const streams = rig.news.map((slice) => slice['stream']);
      expect(streams.slice(0, 9)).toEqual([1, 3, 5, 1, 3, 5, 1, 3, 5]);
      expect(streams).toHaveLength(9);
    });

    it('Scheduler keeps the slices of a frame contiguous within their stream, and sends the end last', () => {
      const rig = fullRig({ maxFrameBytes: 256 });
      const [a, b] = [rig.open({ payload: 'a'.repeat(500) }), rig.open({ payload: 'b'.repeat(500) })];
      for (const holder of [a, b]) {
        rig.send(holder, { payload: 'second' });
        rig.send(holder, { end: true });
      }
      rig.transport.drainTo(ROOM);
      const all = rig.news;
      for (const { live } of [a, b]) {
        const own = all.filter(({ stream }) => stream === live.id);
        expect(own.map(({ type, more, end }) => [type, more ?? false, end ?? false])).toEqual([
          ['open', true, false],
          ['open', true, false],
          ['open', false, false],
          ['data', false, false],
          ['data', false, true],
        ]);
      }
    });

    it('A small request waits for at most one slice of each big transfer', () => {
      const rig = rigOf({ maxFrameBytes: 64 * KIB });
      rig.transport.stuck = true;
      const big = ['a', 'b', 'c'].map((letter) => rig.open({ payload: letter.repeat(3 * FULL) }));
      rig.settle();
      expect(rig.transport.bufferedAmount).toBeGreaterThanOrEqual(FULL);
      rig.transport.stuck = false;
      expect(rig.news.length).toBeGreaterThan(0);
      const request = rig.open({ payload: 'small', end: true });
      rig.transport.drainTo(ROOM);
      rig.settle();
      const before = rig.news.findIndex(({ stream }) => stream === request.live.id);
      expect(before).toBeGreaterThanOrEqual(0);
      expect(before).toBeLessThanOrEqual(big.length);
    });

    it('Opens leave in the order of their ids, even during a transfer', () => {
      const rig = fullRig({ maxFrameBytes: 256 });
      rig.open({ payload: 'a'.repeat(3000) });
      rig.onObserved = (direction, frame) => {
        if (direction === 'tx' && frame.type === 'open' && rig.connection.nextId < 20) rig.open({ payload: 'b'.repeat(300) });
      };
      rig.transport.drainTo(ROOM);
      const opened = [...new Set(rig.news.map((slice) => slice['stream']))];
      expect(opened).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    });
  });

  describe('the pump', () => {
    it('Scheduler stops when the socket holds 1 MiB and continues when it holds 256 KiB', () => {
      const rig = rigOf();
      rig.transport.bufferedAmount = FULL - 1;
      rig.open({ payload: 1 });
      expect([typesOf(rig), rig.transport.awaitedBytes]).toEqual([['open'], null]);
      rig.transport.bufferedAmount = FULL;
      rig.open({ payload: 2 });
      rig.open({ payload: 3 });
      expect([typesOf(rig), rig.transport.awaitedBytes]).toEqual([[], ROOM]);
      rig.transport.drainTo(ROOM + 1);
      expect(typesOf(rig)).toEqual([]);
      rig.transport.drainTo(ROOM);
      expect([typesOf(rig), rig.transport.awaitedBytes]).toEqual([['open', 'open'], null]);
    });

    it('Scheduler checks the socket before each slice, so that the socket holds little more than 1 MiB', () => {
      const rig = rigOf();
      rig.transport.stuck = true;
      rig.open({ payload: 'x'.repeat(3 * FULL) });
      rig.settle();
      expect(rig.transport.bufferedAmount).toBeGreaterThanOrEqual(FULL);
      expect(rig.transport.bufferedAmount).toBeLessThan(FULL + 64 * KIB);
      expect(rig.transport.awaitedBytes).toBe(ROOM);
    });

    it('Scheduler holds back control frames too while the socket is full', () => {
      const rig = fullRig();
      rig.receive({ type: 'ping', nonce: 'n' });
      expect(rig.sent).toEqual([]);
      rig.transport.drainTo(ROOM);
      expect(typesOf(rig)).toEqual(['pong']);
    });

    it('Scheduler yields to the event loop after its share of a turn, and continues in the next turn', () => {
      const rig = rigOf();
      const payload = 'x'.repeat(1200 * KIB);
      rig.open({ payload });
      const turns = [bytesOf(rig.news)];
      while (rig.transport.turnsDue > 0) {
        expect(rig.transport.turnsDue).toBe(1);
        rig.transport.nextTurn();
        turns.push(bytesOf(rig.news));
      }
      expect(turns.length).toBeGreaterThan(3);
      for (const bytes of turns.slice(0, -1)) {
        expect(bytes).toBeGreaterThanOrEqual(TURN_BYTES);
        expect(bytes).toBeLessThan(TURN_BYTES + 64 * KIB + 64);
      }
      expect(turns.reduce((sum, bytes) => sum + bytes)).toBe(payload.length + 2);
      expect(rig.connection.outbound.bytes).toBe(0);
    });

    it('Scheduler counts control frames towards its share of a turn', () => {
      const rig = fullRig();
      for (let at = 0; at < 10_000; at++) rig.connection.control.ping(noop, noop);
      rig.transport.drainTo(0);
      expect(rig.transport.sent.length).toBe(TURN_BYTES / 64);
      rig.settle();
      expect(rig.transport.sent.length).toBe(10_000);
    });

    it('Scheduler queues frames sent between turns behind the frames that already wait', () => {
      const rig = rigOf();
      const big = rig.open({ payload: 'x'.repeat(TURN_BYTES + 90 * KIB) });
      expect(rig.transport.turnsDue).toBe(1);
      rig.send(big, { payload: 'behind' });
      rig.receive({ type: 'ping' });
      const already = rig.news.length;
      expect(already).toBeGreaterThan(0);
      rig.transport.nextTurn();
      const rest = rig.news;
      expect([rest[0]?.['type'], rest.at(-1)?.['payload']]).toEqual(['pong', 'behind']);
    });

    it.each([new JsonCodec(), new MsgpackCodec()])('A pulling stream has demand for about one share of each turn, under $name', (codec) => {
      const rig = rigOf({ codec });
      const stream = rig.open();
      let asked = 0;
      const pull = (): void => {
        for (; stream.live.hasDemand && asked < 4 * TURN_BYTES; asked += KIB) rig.send(stream, { payload: 'x'.repeat(KIB) });
        // A stream that has ended calls back at once, which would recur without end.
        if (stream.ends.length === 0) stream.live.whenDemand(pull);
      };
      pull();
      for (const turn of [1, 2, 3]) {
        expect(rig.transport.turnsDue).toBe(1);
        expect(Math.abs(asked / turn - TURN_BYTES)).toBeLessThan(TURN_BYTES / 8);
        rig.transport.nextTurn();
      }
    });

    it('Scheduler counts the queued bytes back to 0', () => {
      const rig = fullRig({ maxFrameBytes: 300 });
      const { outbound } = rig.connection;
      const holders = [1000, 20, 333].map((length) => rig.open({ payload: 'é'.repeat(length) }));
      expect(outbound.bytes).toBe(2002 + 64 + 668);
      for (const holder of holders) rig.send(holder, { end: true });
      expect(outbound.bytes).toBe(2002 + 64 + 668 + 3 * 64);
      rig.transport.drainTo(0);
      expect([outbound.bytes, outbound.frames]).toEqual([0, 0]);
    });

    it('A sender has room as soon as its own queue is below 256 KiB', () => {
      const rig = fullRig();
      const holder = rig.open({ payload: 'x'.repeat(ROOM) });
      let queued = -1;
      expect(holder.live.hasRoom).toBe(false);
      holder.live.whenRoom(() => (queued = rig.connection.outbound.bytes));
      expect(queued).toBe(-1);
      rig.transport.drainTo(0);
      expect(queued).toBeLessThan(ROOM);
      expect(queued).toBeGreaterThan(ROOM - 64 * KIB - 2);
      expect(holder.live.hasRoom).toBe(true);
    });

    it('Other senders have room once all queues together are below sendHighWaterBytes', () => {
      const rig = fullRig({ limits: { sendHighWaterBytes: 100 * KIB } });
      const [, other] = [rig.open({ payload: 'x'.repeat(200 * KIB) }), rig.local()];
      const seen: number[] = [];
      other.live.whenRoom(() => seen.push(rig.connection.outbound.bytes));
      expect(seen).toEqual([]);
      rig.transport.drainTo(0);
      expect(seen).toHaveLength(1);
      expect(seen[0]).toBeLessThan(100 * KIB);
      expect(seen[0]).toBeGreaterThan(0);
    });
  });

  describe('re-entrant sends', () => {
    it.each([
      ['with an empty queue', 0],
      ['after a full socket', FULL],
    ])('Frames sent while another one leaves come after it, once and in order: %s', (_, bufferedAmount) => {
      const rig = rigOf();
      rig.transport.bufferedAmount = bufferedAmount;
      let payload = 0;
      const holder = rig.local();
      rig.onObserved = (direction) => {
        if (direction !== 'tx' || payload > 5) return;
        rig.send(holder, { payload: ++payload });
        rig.send(holder, { payload: ++payload });
      };
      rig.send(holder, { type: 'open', payload: 0 });
      rig.transport.drainTo(0);
      expect(rig.news.map((frame) => frame['payload'])).toEqual([0, 1, 2, 3, 4, 5, 6]);
      expect(rig.connection.outbound.bytes).toBe(0);
    });

    it.each(['observed', 'sent'])('Frames sent while a slice leaves do not split the sliced frame: %s', (when) => {
      const rig = rigOf({ maxFrameBytes: 128 });
      const holder = rig.local();
      let at = 0;
      const act = (): void => {
        if (++at <= 3) rig.send(holder, { payload: at });
      };
      if (when === 'sent') rig.transport.onSend = act;
      else rig.onObserved = act;
      rig.send(holder, { type: 'open', payload: 'x'.repeat(400) });
      const sent = rig.news;
      const opens = sent.filter(({ type }) => type === 'open');
      expect(opens.map((slice) => slice['fragment']).join('')).toBe(`"${'x'.repeat(400)}"`);
      expect(sent.slice(opens.length).map((frame) => frame['payload'])).toEqual([1, 2, 3]);
      expect(opens.at(-1)?.['more']).toBeUndefined();
    });

    it('A control frame sent while another frame leaves is the next one to leave', () => {
      const rig = fullRig();
      rig.open({ payload: 1 });
      rig.open({ payload: 2 });
      rig.transport.onSend = () => {
        if (rig.transport.sent.length === 0) rig.connection.control.ping(noop, noop);
      };
      rig.transport.drainTo(0);
      expect(typesOf(rig)).toEqual(['open', 'ping', 'open']);
    });

    it('A reset sent while a slice of its stream leaves is the last frame of that stream', () => {
      const rig = rigOf({ maxFrameBytes: 128 });
      const holder = rig.local();
      rig.transport.onSend = () => {
        holder.live.reset('user', ResetCode.CANCEL, '');
      };
      rig.send(holder, { type: 'open', payload: 'x'.repeat(400) });
      expect(typesOf(rig)).toEqual(['open', 'reset']);
      expect(rig.connection.outbound.bytes).toBe(0);
    });
  });

  describe('resets', () => {
    const OVERTAKING = [null, 1, 2, 3, 5, 6, 7, 8, 11, 17, 4, 15, 18, 255, -1];
    const QUEUED = [ResetCode.NO_ERROR, ResetCode.APPLICATION_ERROR, 256, 300, 2 ** 31];

    it.each(OVERTAKING)('A reset with code %p overtakes and drops the queued frames of its stream', (code) => {
      expect(overtakes(code)).toBe(true);
      const { rig, holder } = withQueue();
      holder.live.reset('user', code, 'why');
      rig.transport.drainTo(0);
      const reset = { type: 'reset', stream: 1, ...(code === null ? {} : { code }), reason: 'why' };
      expect(rig.news).toEqual([reset, { type: 'open', stream: 3, payload: 'other' }]);
      expect(rig.connection.outbound.bytes).toBe(0);
    });

    it.each(QUEUED)('A reset with code %p leaves after the queued frames of its stream', (code) => {
      expect(overtakes(code)).toBe(false);
      const { rig, holder } = withQueue();
      holder.live.reset('user', code, 'why');
      rig.transport.drainTo(0);
      const own = rig.news.filter(({ stream }) => stream === 1);
      expect(own).toEqual([
        { type: 'data', stream: 1, payload: 'first' },
        { type: 'data', stream: 1, payload: 'second' },
        { type: 'reset', stream: 1, code, reason: 'why' },
      ]);
    });

    it.each(OVERTAKING)('A reset with code %p drops an unsent open, and nothing of the stream leaves', (code) => {
      const rig = fullRig();
      const holder = rig.open({ payload: 'never' });
      rig.send(holder, { payload: 'nor this' });
      holder.live.reset('user', code, '');
      expect(rig.connection.outbound.bytes).toBe(0);
      rig.open({ payload: 'other' });
      rig.transport.drainTo(0);
      expect(rig.news).toEqual([{ type: 'open', stream: 3, payload: 'other' }]);
    });

    it.each(QUEUED)('A reset with code %p leaves after the unsent open of its stream', (code) => {
      const rig = fullRig();
      rig.open({ payload: 'x' }).live.reset('user', code, '');
      rig.transport.drainTo(0);
      expect(typesOf(rig)).toEqual(['open', 'reset']);
    });

    it('A goaway drops the queued opens of closed streams with what follows them, and no frame of an opened stream', () => {
      const { rig } = withQueue();
      rig.open({ payload: 'never' }).live.reset('user', 256, '');
      rig.receive({ type: 'goaway' });
      rig.transport.drainTo(0);
      expect(rig.news).toEqual([
        { type: 'data', stream: 1, payload: 'first' },
        { type: 'data', stream: 1, payload: 'second' },
      ]);
      expect([rig.connection.outbound.frames, rig.connection.outbound.bytes]).toEqual([0, 0]);
    });

    it('An overtaking reset with a big payload drops the queue and leaves in slices, in its turn', () => {
      const { rig, holder } = withQueue({ maxFrameBytes: 128 });
      const payload = 'p'.repeat(300);
      holder.live.reset('user', ResetCode.CANCEL, '', { payload, encodedPayload: JSON.stringify(payload) });
      rig.receive({ type: 'ping' });
      rig.transport.drainTo(0);
      const sent = rig.news;
      expect(sent.slice(0, 3).map(({ type }) => type)).toEqual(['pong', 'open', 'reset']);
      const own = sent.filter(({ stream }) => stream === 1);
      expect(new Set(own.map(({ type }) => type))).toEqual(new Set(['reset']));
      expect(own.map((slice) => slice['fragment']).join('')).toBe(JSON.stringify(payload));
    });

    it('An overtaking reset drops the rest of a frame that is being sliced', () => {
      const rig = rigOf();
      const holder = rig.open({ payload: 'x'.repeat(600 * KIB) });
      expect(rig.news.length).toBeGreaterThan(1);
      holder.live.reset('user', ResetCode.CANCEL, '');
      rig.transport.nextTurn();
      expect(typesOf(rig)).toEqual(['reset']);
    });

    it('A reset of the remote drops the queued frames of its stream', () => {
      const { rig } = withQueue();
      rig.receive({ type: 'reset', stream: 1, code: 8 });
      rig.transport.drainTo(0);
      expect(rig.news).toEqual([{ type: 'open', stream: 3, payload: 'other' }]);
    });

    it('A reset first ends its stream, then wakes the tasks that waited for room on it and on other streams', () => {
      const rig = fullRig({ limits: { sendHighWaterBytes: 1000 } });
      const [holder, other] = [rig.open({ payload: 'x'.repeat(2000) }), rig.local()];
      const ran: string[] = [];
      other.live.whenRoom(() => ran.push('other'));
      holder.live.whenRoom(() => ran.push('own'));
      holder.onGone = () => ran.push('gone');
      holder.live.reset('user', ResetCode.CANCEL, '');
      expect(ran).toEqual(['gone', 'own', 'other']);
    });
  });

  describe('sendHighWaterBytes', () => {
    it('A waiting sender has room again when a goaway drops the queued frames', () => {
      const rig = fullRig({ isDialer: true, limits: { sendHighWaterBytes: 1000 } });
      const closed = rig.open({ payload: 'x'.repeat(2000) });
      closed.live.reset('user', 300, '');
      const other = rig.remote(2);
      let went = false;
      other.live.whenRoom(() => (went = true));
      expect(went).toBe(false);
      rig.receive({ type: 'goaway', code: ResetCode.NO_ERROR, last_stream: 0 });
      rig.transport.drainTo(0);
      expect([rig.connection.outbound.bytes, went]).toEqual([0, true]);
    });

    it('A waiting sender has room again when the queued frame cannot be sliced', () => {
      const rig = fullRig({ isDialer: true, maxFrameBytes: 256, limits: { sendHighWaterBytes: 1000 } });
      rig.transport.bufferedAmount = 0;
      const [one, other] = [rig.open({ payload: 1 }), rig.open({ payload: 2 })];
      rig.transport.bufferedAmount = FULL;
      rig.send(one, { payload: 'x'.repeat(2000), headers: { h: 'y'.repeat(300) } });
      one.live.reset('user', 300, '');
      let went = false;
      other.live.whenRoom(() => (went = true));
      rig.transport.drainTo(0);
      expect([rig.connection.outbound.bytes, went]).toEqual([0, true]);
    });
  });

  describe('unsent streams', () => {
    it('A goaway of the remote refuses unsent streams, and nothing of them leaves', () => {
      const rig = fullRig();
      const holder = rig.open({ payload: 'never' });
      const closed = rig.open({ payload: 'neither' });
      closed.live.reset('user', ResetCode.APPLICATION_ERROR, '');
      rig.receive({ type: 'goaway', code: 0, last_stream: 0 });
      expect(holder.cause).toMatchObject({ how: 'reset', by: 'library', code: ResetCode.REFUSED });
      rig.transport.drainTo(0);
      expect([rig.news, rig.connection.outbound.bytes]).toEqual([[], 0]);
    });
  });

  describe('`whenFlushed`', () => {
    it('`whenFlushed` runs a task at once when nothing is queued', () => {
      let ran = 0;
      rigOf().connection.outbound.whenFlushed(() => ran++);
      expect(ran).toBe(1);
    });

    it('`whenFlushed` runs tasks once, in order, when the last frame has left', () => {
      const rig = fullRig();
      const log: string[] = [];
      rig.onObserved = (_direction, { type }) => log.push(type);
      rig.open({ payload: 1 });
      rig.connection.control.probe();
      for (const name of ['a', 'b']) rig.connection.outbound.whenFlushed(() => log.push(name));
      expect(log).toEqual([]);
      rig.transport.drainTo(0);
      rig.open({ payload: 3 });
      expect(log).toEqual(['ping', 'open', 'a', 'b', 'open']);
    });

    it('`whenFlushed` waits for the frame that is just leaving', () => {
      const rig = rigOf();
      const log: string[] = [];
      rig.transport.onSend = () => log.push('sent');
      rig.onObserved = () => {
        rig.connection.outbound.whenFlushed(() => log.push('flushed'));
        log.push('leaving');
      };
      rig.open();
      expect(log).toEqual(['leaving', 'sent', 'flushed']);
    });

    it('`whenFlushed` runs tasks when the last queue is dropped with its stream', () => {
      const rig = rigOf();
      const stream = rig.open();
      rig.transport.bufferedAmount = FULL;
      rig.send(stream, { payload: 1 });
      let ran = 0;
      rig.connection.outbound.whenFlushed(() => ran++);
      rig.receive({ type: 'reset', stream: stream.live.id });
      expect(ran).toBe(1);
    });
  });

  describe('an outbound that stops', () => {
    it('It sends one last frame ahead of its queues, and nothing after it', () => {
      const rig = fullRig();
      const stream = rig.open({ payload: 1 });
      const { outbound } = rig.connection;
      outbound.addAhead(new OutgoingFrame({ type: 'ping', nonce: 'n' }, null));
      const flushed: string[] = [];
      outbound.whenFlushed(() => flushed.push('flushed'));
      outbound.stop(new OutgoingFrame({ type: 'goaway', code: 0 }, null));
      outbound.stop(new OutgoingFrame({ type: 'goaway', code: 1 }, null));
      outbound.addAhead(new OutgoingFrame({ type: 'pong', nonce: 'n' }, null));
      rig.send(stream, { payload: 2 });
      rig.transport.drainTo(0);
      expect([rig.news, flushed]).toEqual([[{ type: 'goaway', code: 0 }], []]);
      expect([stream.live.sending?.frames, outbound.frames]).toEqual([2, 4]);
    });

    it('It may stop in the middle of a turn, without a last frame', () => {
      const rig = fullRig();
      for (const payload of [1, 2, 3]) rig.open({ payload });
      rig.onObserved = () => {
        rig.connection.outbound.stop(null);
      };
      rig.transport.drainTo(0);
      expect(rig.news.map(({ payload }) => payload)).toEqual([1]);
    });

    it('It drops all queued frames once the socket has ended', () => {
      const rig = fullRig();
      rig.open({ payload: 1 });
      rig.connection.control.probe();
      rig.transport.end();
      rig.transport.drainTo(0);
      expect([rig.news, rig.connection.outbound.bytes, rig.connection.outbound.frames]).toEqual([[], 0, 0]);
    });
  });

  describe('frames that cannot be cut', () => {
    it.each([
      ['at once', 0],
      ['at its turn', FULL],
    ])('A frame that cannot be cut %s is dropped with the frames behind it, and its stream is reset', (_, bufferedAmount) => {
      const rig = rigOf();
      const streams = [1, 2, 3].map(() => rig.open());
      Object.assign(rig.transport, {
        cut: ({ payload }: Frame) => {
          if (payload === 'uncut') throw new TypeError('no');
          return null;
        },
      });
      rig.forget();
      rig.transport.bufferedAmount = bufferedAmount;
      const payloads = ['first', 'uncut', 'last'];
      const uncut = (payload: string) => new OutgoingFrame({ type: 'data', payload }, JSON.stringify(payload), new JsonCodec());
      for (const [at, payload] of payloads.entries()) streams[at]?.live.send(uncut(payload));
      if (bufferedAmount > 0) streams[1]?.live.send(uncut('behind'));
      rig.transport.drainTo(0);
      const { news } = rig;
      expect(news.filter(({ type }) => type === 'data').map(({ payload }) => payload)).toEqual(['first', 'last']);
      expect(news.filter(({ type }) => type === 'reset')).toMatchObject([{ stream: streams[1]?.live.id, code: ResetCode.INTERNAL_ERROR }]);
      expect(rig.connection.outbound.bytes).toBe(0);
    });
  });

  describe('demand', () => {
    it('A stream has no demand while the socket is full, even before the first frame', () => {
      const rig = rigOf();
      const stream = rig.local();
      expect(stream.live.hasDemand).toBe(true);
      rig.transport.bufferedAmount = FULL;
      expect(stream.live.hasDemand).toBe(false);
    });

    it('All tasks of the stream that has waited longest run first', () => {
      const rig = rigOf();
      const [one, other] = [rig.open(), rig.open()];
      rig.transport.bufferedAmount = FULL;
      const ran: string[] = [];
      for (const [stream, task] of [
        [other, 'a'],
        [one, 'b'],
        [other, 'c'],
      ] as const)
        stream.live.whenDemand(() => ran.push(task));
      rig.transport.drainTo(0);
      rig.settle();
      expect(ran).toEqual(['a', 'c', 'b']);
    });
  });

  function rigOf(options: RigOptions = {}): Rig {
    const rig = new Rig({ isDialer: true, measured: false, ...options });
    rigs.push(rig);
    return rig;
  }

  function fullRig(options: RigOptions = {}): Rig {
    const rig = rigOf(options);
    rig.transport.bufferedAmount = FULL;
    return rig;
  }

  /** A rig in which stream 1 is open and has two queued frames, and stream 3 has a queued open. */
  function withQueue(options: RigOptions = {}) {
    const rig = rigOf(options);
    const holder = rig.open({});
    expect(typesOf(rig)).toEqual(['open']);
    rig.transport.bufferedAmount = FULL;
    rig.send(holder, { payload: 'first' });
    rig.send(holder, { payload: 'second' });
    rig.open({ payload: 'other' });
    return { rig, holder };
  }

  function bytesOf(slices: readonly Envelope[]): number {
    return slices.reduce((sum, { fragment }) => sum + String(fragment).length, 0);
  }
});

const MIB = 1024 * 1024;
const { NO_ERROR, CANCEL, APPLICATION_ERROR } = ResetCode;

/** A rig whose socket is full, so that every frame waits until {@link flush}. */
function full(): Rig {
  const rig = new Rig({ measured: false });
  rig.transport.bufferedAmount = MIB;
  return rig;
}

/** Drains the socket, and returns the frames that left, each as its type, stream and payload. */
function flush(rig: Rig): readonly unknown[] {
  rig.transport.drainTo(0);
  rig.settle();
  return rig.news.map(spell);
}

const spell = ({ type, stream, payload, code }: Envelope) =>
  [type, stream, ...(type === 'reset' ? [code] : []), payload ?? ''].join(' ').trim();

describe('ids', () => {
  it.each([
    [true, [1, 3, 5]],
    [false, [2, 4, 6]],
  ])('Stream ids rise by two, and a dialer uses odd ones (dialer: %s)', (isDialer, ids) => {
    const rig = new Rig({ isDialer });
    const streams = ids.map((id) => rig.open({ payload: id }));
    expect(streams.map(({ live }) => live.id)).toEqual(ids);
    expect(rig.news.map(({ stream }) => stream)).toEqual(ids);
  });
});

describe('streams', () => {
  it('A stream sends its frames in order, slices together and the end last', () => {
    const rig = full();
    const stream = rig.open();
    rig.send(stream, { payload: 'x'.repeat(100_000) });
    rig.send(stream, { payload: 'y' });
    rig.send(stream, { end: true });
    rig.transport.drainTo(0);
    expect(rig.news.map(({ type, fragment, more, payload, end }) => [type, typeof fragment, more, payload, end])).toEqual([
      ['open', 'undefined', undefined, undefined, undefined],
      ['data', 'string', true, undefined, undefined],
      ['data', 'string', undefined, undefined, undefined],
      ['data', 'undefined', undefined, 'y', undefined],
      ['data', 'undefined', undefined, undefined, true],
    ]);
  });

  it('A stream sends nothing after its end, and nothing once it is closed', () => {
    const rig = new Rig();
    const stream = rig.open({ end: true });
    rig.send(stream, { payload: 'late' });
    expect(rig.news.map(spell)).toEqual(['open 2']);
    stream.live.reset('user', CANCEL, '');
    rig.send(stream, { payload: 'later' });
    stream.live.reset('user', CANCEL, '');
    expect(rig.news.map(spell)).toEqual(['reset 2 8']);
  });

  it('A stream is half closed when its end is written, not when the end is queued', () => {
    const rig = full();
    const stream = rig.open({ end: true });
    expect([stream.live.phase, stream.live.sealed]).toEqual(['idle', true]);
    flush(rig);
    expect(stream.live.phase).toBe('halfClosedLocal');
  });

  it('A stream closes when its end is written after the end of the remote', () => {
    const rig = new Rig();
    const stream = rig.remote(1, { end: true });
    rig.transport.bufferedAmount = MIB;
    rig.send(stream, { payload: 'answer', end: true });
    expect(stream.ends).toEqual([]);
    expect(flush(rig)).toEqual(['data 1 answer']);
    expect([stream.ends, stream.live.phase]).toEqual([[{ how: 'ended' }], 'closed']);
  });

  it('A stream stays open for the answer after an open with `end`', () => {
    const rig = new Rig();
    const { live } = rig.local();
    live.send(new OutgoingFrame({ type: 'open', end: true }, null));
    expect(live.phase).toBe('halfClosedLocal');
  });

  it('A stream of a notification closes once its open has left', () => {
    const rig = full();
    const stream = rig.open({ payload: 'note', end: true }, true);
    expect(rig.connection.streams.size).toBe(1);
    expect(flush(rig)).toEqual(['open 2 note']);
    expect([stream.ends, stream.live.phase]).toEqual([[{ how: 'ended' }], 'closed']);
    expect(rig.connection.streams.size).toBe(0);
    rig.receive({ type: 'data', stream: 2, payload: 'unwanted', end: true });
    expect(rig.news).toEqual([]);
  });
});

describe('resets', () => {
  it.each([CANCEL, APPLICATION_ERROR])('A reset with code %s ends its stream at once, even if it is written later', (code) => {
    const rig = full();
    const stream = rig.open({ payload: 'a' });
    stream.live.reset('user', code, 'why');
    expect([stream.live.phase, stream.ends]).toEqual(['closed', [{ how: 'reset', by: 'user', code, reason: 'why', payload: null }]]);
  });

  it.each([CANCEL, APPLICATION_ERROR])('A reset with code %s of a stream that never sent its open sends nothing', (code) => {
    const rig = new Rig({ measured: false });
    const stream = rig.local();
    stream.live.reset('user', code, '');
    expect(stream.ends).toHaveLength(1);
    expect(flush(rig)).toEqual([]);
  });

  it('A reset overtakes the queued slices of its stream', () => {
    const rig = new Rig({ measured: false });
    const stream = rig.open();
    rig.transport.onSend = () => {
      rig.transport.bufferedAmount = MIB;
    };
    rig.send(stream, { payload: 'x'.repeat(300_000) });
    rig.transport.onSend = () => undefined;
    stream.live.reset('user', CANCEL, '');
    rig.transport.drainTo(0);
    expect(rig.news.map(({ type, more }) => [type, more])).toEqual([
      ['open', undefined],
      ['data', true],
      ['reset', undefined],
    ]);
  });

  it.each([CANCEL, APPLICATION_ERROR])('A reset with code %s and a payload over the cap leaves in slices', (code) => {
    const rig = new Rig({ measured: false });
    const stream = rig.remote(1);
    const payload = 'x'.repeat(150_000);
    stream.live.reset('user', code, 'why', { payload, encodedPayload: rig.connection.codec.encodePayload(payload) });
    expect(rig.transport.sent.every((message) => encodedLength(message) <= 65_536)).toBe(true);
    expect(rig.news).toMatchObject([
      { type: 'reset', code, reason: 'why', more: true },
      { type: 'reset', code, reason: 'why', more: true },
      { type: 'reset', code, reason: 'why' },
    ]);
  });

  it('A reset of the remote drops the queued frames of a stream that is already closed here', () => {
    const rig = new Rig({ limits: { maxStreams: 1 } });
    const stream = rig.remote(1);
    rig.transport.bufferedAmount = MIB;
    rig.send(stream, { payload: 'x'.repeat(100_000) });
    stream.live.reset('user', APPLICATION_ERROR, '');
    expect(rig.connection.places).toBe(1);
    rig.receive({ type: 'reset', stream: 1, code: CANCEL });
    expect([rig.connection.places, rig.connection.outbound.bytes]).toEqual([0, 0]);
    expect(flush(rig)).toEqual([]);
  });

  it('A reset without reason and payload has only a code on the wire', () => {
    const rig = new Rig();
    rig.remote(1).live.reset('library', NO_ERROR, '');
    expect(rig.news).toEqual([{ type: 'reset', stream: 1, code: 0 }]);
  });
});

const FULL = 1024 * 1024;

describe('ControlReplies', () => {
  it.each([
    ['pings', 'ENHANCE_YOUR_CALM for unread pongs', (at: number) => ({ type: 'ping', nonce: `${at}` })],
    [
      'data of streams that were never opened',
      'ENHANCE_YOUR_CALM for unread resets',
      (at: number) => ({ type: 'data', stream: 101 + 2 * at, payload: 1 }),
    ],
    ['opens beyond maxStreams', 'ENHANCE_YOUR_CALM for unread refusals', (at: number) => ({ type: 'open', stream: 1 + 2 * at })],
  ])('Session ends the connection over maxControlFrames unread answers to %s: %s', (_, __, provoke) => {
    const rig = new Rig({ limits: { maxControlFrames: 3, maxStreams: 0 } });
    rig.transport.bufferedAmount = FULL;
    for (let at = 0; at < 3; at++) rig.receive(provoke(at));
    expect([rig.sent, rig.transport.closes]).toEqual([[], []]);
    rig.receive(provoke(3));
    expect(rig.sent).toEqual([
      { type: 'goaway', code: ResetCode.ENHANCE_YOUR_CALM, last_stream: 0, reason: 'more than 3 unread answers (maxControlFrames)' },
    ]);
    expect(rig.transport.closes).toEqual([{ code: 1008, reason: 'more than 3 unread answers (maxControlFrames)' }]);
    rig.transport.end();
  });

  it('Session ends the connection over 1 Mi characters of nonces in unread pongs', () => {
    const rig = new Rig();
    const nonce = 'n'.repeat(10_000);
    rig.transport.bufferedAmount = FULL;
    for (let at = 0; at < 104; at++) rig.receive({ type: 'ping', nonce });
    rig.receive({ type: 'ping', nonce: 'n'.repeat(8_576) });
    expect(rig.transport.closes).toEqual([]);
    rig.receive({ type: 'ping', nonce: 'n' });
    expect(rig.transport.closes).toEqual([{ code: 1008, reason: 'more than 1048576 characters of unread pongs' }]);
  });

  it('Session counts pongs, refusals and resets of unknown streams together', () => {
    const rig = new Rig({ limits: { maxControlFrames: 2, maxStreams: 0 } });
    rig.transport.bufferedAmount = FULL;
    rig.receive({ type: 'ping' }, { type: 'open', stream: 1 }, { type: 'data', stream: 99, payload: 1 });
    expect(rig.transport.closes.map(({ code }) => code)).toEqual([1008]);
    rig.transport.end();
  });

  it('Session counts only unwritten answers, so a remote that reads them may ask without limit', () => {
    const rig = new Rig({ limits: { maxControlFrames: 3 }, measured: false });
    for (let round = 0; round < 50; round++) {
      rig.transport.bufferedAmount = FULL;
      for (let at = 0; at < 3; at++) rig.receive({ type: 'ping', nonce: `${at}`.repeat(10_000) });
      rig.transport.drainTo(0);
      expect(rig.news).toHaveLength(3);
    }
    expect(rig.transport.closes).toEqual([]);
  });

  it.each<[string, (live: StreamCore, rig: Rig) => void]>([
    ['pings', (_, rig) => rig.connection.control.ping(noop, noop)],
    ['resets', (live) => live.reset('user', ResetCode.CANCEL, '')],
  ])('Session does not count control frames that this side sends unasked: %s', (_what, send) => {
    const rig = new Rig({ isDialer: true, limits: { maxControlFrames: 2 } });
    const streams = Array.from({ length: 10 }, () => rig.open());
    rig.forget();
    rig.transport.bufferedAmount = FULL;
    for (const { live } of streams) send(live, rig);
    rig.receive({ type: 'ping' }, { type: 'ping' });
    expect(rig.transport.closes).toEqual([]);
    rig.transport.drainTo(0);
    expect(rig.news).toHaveLength(12);
  });
});
