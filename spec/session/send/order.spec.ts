import { describe, expect, it } from '@jest/globals';
import { encodedLength } from '../../../src/wire/length.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { Rig } from '../../support/session/rig.js';
import type { Envelope } from '../../support/session/rig.js';

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
