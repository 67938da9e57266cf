import { describe, expect, it } from '@jest/globals';
import { ConnectionFault } from '../../src/wire/errors.js';
import type { Frame } from '../../src/wire/frame.js';
import { ResetCode } from '../../src/wire/codes.js';
import { BreakableCodec, WRITING } from '../support/codec/breakable.js';
import { collectLogs } from '../support/peer/logs.js';
import { Rig } from '../support/session/rig.js';
import type { Envelope, Holder } from '../support/session/rig.js';

const MIB = 1024 * 1024;
const { CANCEL, APPLICATION_ERROR, INTERNAL_ERROR, NO_ERROR } = ResetCode;

const logs = collectLogs();

const spell = ({ type, stream, payload, code }: Envelope) => [type, stream ?? '', payload ?? code ?? ''].join(' ').trim();

/** Returns the sent frames, and checks that the observers saw the same ones. */
function sentAndSeen(rig: Rig): readonly string[] {
  const seen = rig.observed.filter(([direction]) => direction === 'tx').map(([, frame]) => spell(frame));
  const sent = rig.sent.map(spell);
  expect(seen).toEqual(sent);
  return sent;
}

/** Runs `act` in the observer of the first frame sent for which `when` holds. */
function onSending(rig: Rig, when: (frame: Envelope) => boolean, act: () => void): void {
  rig.onObserved = (direction, frame) => {
    if (direction !== 'tx' || !when(frame)) return;
    rig.onObserved = () => undefined;
    act();
  };
}

const isOpen = ({ type }: Envelope) => type === 'open';
const carries = (payload: unknown) => (frame: Envelope) => frame.payload === payload;

describe('observers of outgoing frames', () => {
  it('An observer may send more frames, which leave after the observed one, in order and once', () => {
    const rig = new Rig();
    const stream = rig.open();
    onSending(rig, carries('a'), () => {
      rig.send(stream, { payload: 'b' });
      rig.open({ payload: 'other' });
      rig.connection.control.probe();
      rig.send(stream, { payload: 'c', end: true });
    });
    rig.send(stream, { payload: 'a' });
    expect(sentAndSeen(rig).map((line) => line.replace(/ping.*/, 'ping'))).toEqual([
      'open 2',
      'data 2 a',
      'ping',
      'data 2 b',
      'open 4 other',
      'data 2 c',
    ]);
  });

  it('An observer may send during a transfer, whose slices stay together', () => {
    const rig = new Rig({ measured: false });
    const stream = rig.open();
    onSending(
      rig,
      ({ more }) => more === true,
      () => {
        rig.send(stream, { payload: 'behind' });
      },
    );
    rig.send(stream, { payload: 'x'.repeat(150_000) });
    rig.transport.nextTurn();
    expect(rig.news.map(({ more, payload }) => payload ?? more)).toEqual([undefined, true, true, undefined, 'behind']);
  });

  it.each([
    ['overtaking', CANCEL, ['open 2 a', 'reset 2 8']],
    ['queued', APPLICATION_ERROR, ['open 2 a', 'reset 2 16']],
  ])('An observer may reset the stream whose open is leaving, and the reset follows the open: %s', (_what, code, expected) => {
    const rig = new Rig();
    const stream = rig.local();
    onSending(rig, isOpen, () => {
      stream.live.reset('user', code, '');
    });
    rig.send(stream, { type: 'open', payload: 'a' });
    expect(sentAndSeen(rig)).toEqual(expected);
    expect(stream.ends).toMatchObject([{ how: 'reset', code }]);
  });

  it.each([CANCEL, APPLICATION_ERROR])(
    'An observer may reset a stream whose open then cannot be encoded, and no frame leaves (code %s)',
    (code) => {
      const breakable = new BreakableCodec('json', WRITING);
      const rig = new Rig({ codec: breakable.codec });
      const stream = rig.local();
      onSending(rig, isOpen, () => {
        breakable.breaksAt = WRITING;
        stream.live.reset('user', code, '');
      });
      rig.send(stream, { type: 'open', payload: 'a' });
      expect(rig.sent).toEqual([]);
      expect(stream.ends).toMatchObject([{ how: 'reset', by: 'user', code }]);
      expect(rig.connection.streams.size).toBe(0);
    },
  );

  it('An observer may reset the stream whose end is leaving', () => {
    const rig = new Rig();
    const stream = rig.remote(1, { end: true });
    onSending(rig, carries('last'), () => {
      stream.live.reset('user', CANCEL, '');
    });
    rig.send(stream, { payload: 'last', end: true });
    expect(sentAndSeen(rig)).toEqual(['data 1 last', 'reset 1 8']);
    expect(stream.ends).toMatchObject([{ how: 'reset' }]);
  });

  it('An observer may reset another queued stream, of which no frame leaves', () => {
    const rig = new Rig();
    rig.transport.bufferedAmount = MIB;
    const [one, two] = [rig.open({ payload: 'one' }), rig.open({ payload: 'two' })];
    onSending(rig, carries('one'), () => {
      two.live.reset('user', CANCEL, '');
    });
    rig.transport.drainTo(0);
    expect(sentAndSeen(rig)).toEqual(['open 2 one']);
    expect([one.ends, two.ends]).toMatchObject([[], [{ code: CANCEL }]]);
  });

  it('An observer may end the connection, and the goaway is the last frame that leaves', () => {
    const rig = new Rig();
    onSending(rig, isOpen, () => {
      rig.connection.fail(ConnectionFault.tooMuch('enough'));
    });
    const stream = rig.open({ payload: 'never' });
    expect(rig.sent.map(spell)).toEqual(['goaway  11']);
    rig.transport.end();
    expect(stream.ends).toMatchObject([{ how: 'lost' }]);
  });

  it('Session begins no stream when the socket ends while an observer sees its open', () => {
    const rig = new Rig();
    rig.onObserved = (direction) => {
      if (direction === 'rx') rig.transport.end();
    };
    rig.receive({ type: 'open', stream: 1, payload: 'late' });
    expect([rig.remotes, rig.connection.streams.size]).toEqual([[], 0]);
  });

  it('A stream is lost, and not unsent, when the socket ends while an observer sees its open', () => {
    const rig = new Rig();
    onSending(rig, isOpen, () => {
      rig.transport.end();
    });
    const stream = rig.open({ payload: 'a' });
    expect(stream.ends).toMatchObject([{ how: 'lost' }]);
    expect(stream.live.unsent).toBe(false);
    expect(rig.isEmpty).toBe(true);
  });
});

describe('sinks', () => {
  it('A sink may answer, reset, open and close while it receives a payload', () => {
    const rig = new Rig();
    const stream = rig.remote(1);
    stream.live.handlerStarted();
    stream.onReceive = () => {
      rig.send(stream, { payload: 'answer' });
      rig.open({ payload: 'push', end: true }, true);
      stream.live.reset('user', CANCEL, 'enough');
      rig.connection.drain(0, NO_ERROR, '');
    };
    rig.receive({ type: 'data', stream: 1, payload: 'question', end: true });
    expect(sentAndSeen(rig)).toEqual(['data 1 answer', 'open 2 push', 'reset 1 8', 'goaway  0']);
    expect(stream.ends).toHaveLength(1);
    expect(rig.transport.closes).toEqual([{ code: 1000, reason: '' }]);
  });

  it('A sink cannot reset a stream that its last payload closes', () => {
    const rig = new Rig();
    const stream = rig.open({ end: true });
    stream.onReceive = () => {
      stream.live.reset('user', CANCEL, '');
    };
    rig.receive({ type: 'data', stream: 2, payload: 'answer', end: true });
    expect(sentAndSeen(rig)).toEqual(['open 2']);
    expect(stream.ends).toEqual([{ how: 'ended' }]);
  });

  it('Session releases a stream before its sink receives the end', () => {
    const rig = new Rig();
    const stream = rig.open({ end: true });
    const sizes: number[] = [];
    stream.onReceive = stream.onGone = () => sizes.push(rig.connection.streams.size);
    rig.receive({ type: 'data', stream: 2, payload: 'answer', end: true });
    expect(sizes).toEqual([0, 0]);
  });

  it('A sink cannot open streams when the socket is lost, and its frames are dropped', () => {
    const rig = new Rig();
    const [one, two] = [rig.open(), rig.open()];
    rig.forget();
    const accepting: boolean[] = [];
    one.onGone = () => {
      rig.send(two, { payload: 'late' });
      two.live.reset('user', CANCEL, '');
      accepting.push(rig.connection.acceptsStreams);
    };
    rig.transport.end();
    expect(accepting).toEqual([false]);
    expect(rig.news).toEqual([]);
    expect(two.ends).toMatchObject([{ how: 'reset' }]);
    expect(rig.isEmpty).toBe(true);
  });

  it('The owner may reset a stream of the remote before a handler starts', () => {
    const rig = new Rig();
    rig.onOpened = ({ live }) => {
      live.reset('library', ResetCode.REFUSED, 'not now');
      live.handlerStarted();
      live.handlerSettled();
    };
    expect(rig.remote(1).ends).toHaveLength(1);
    expect(rig.connection.places).toBe(0);
  });
});

/** Receives `answer` within the write of the next frame. */
function answering(rig: Rig, ...answer: readonly Frame[]): void {
  rig.transport.onSend = () => {
    rig.transport.onSend = () => undefined;
    rig.receive(...answer);
  };
}

describe('sockets that deliver within send', () => {
  it('Session accepts an answer within the write of its open', () => {
    const rig = new Rig();
    answering(rig, { type: 'data', stream: 2, payload: 'answer', end: true });
    const stream = rig.local();
    rig.send(stream, { type: 'open', payload: 'question', end: true });
    expect([stream.payloads, stream.ends]).toEqual([['answer'], [{ how: 'ended' }]]);
    expect(sentAndSeen(rig)).toEqual(['open 2 question']);
  });

  it('Session accepts an answer within the write of an open that had to wait', () => {
    const rig = new Rig();
    rig.transport.bufferedAmount = MIB;
    const stream = rig.open({ payload: 'question', end: true });
    answering(rig, { type: 'data', stream: 2, payload: 'answer', end: true });
    rig.transport.drainTo(0);
    expect([stream.payloads, stream.ends]).toEqual([['answer'], [{ how: 'ended' }]]);
  });

  it('Session accepts an answer within the write of the last slice of an open', () => {
    const rig = new Rig({ maxFrameBytes: 100 });
    const stream = rig.local();
    rig.transport.onSend = (message) => {
      if (!String(message).includes('"more"')) rig.receive({ type: 'data', stream: 2, payload: 'answer', end: true });
    };
    rig.send(stream, { type: 'open', payload: 'x'.repeat(150), end: true });
    expect([stream.payloads, stream.ends]).toEqual([['answer'], [{ how: 'ended' }]]);
  });

  it('Session accepts the end of the remote within the write of its own end', () => {
    const rig = new Rig();
    const stream = rig.open();
    answering(rig, { type: 'data', stream: 2, payload: 'last', end: true });
    rig.send(stream, { end: true });
    expect([stream.payloads, stream.ends]).toEqual([['last'], [{ how: 'ended' }]]);
    expect(rig.connection.streams.size).toBe(0);
  });

  it('Session ignores a reset within the write of the end that closes its stream', () => {
    const rig = new Rig();
    const stream = rig.remote(1, { end: true });
    answering(rig, { type: 'reset', stream: 1, code: CANCEL });
    rig.send(stream, { payload: 'answer', end: true });
    expect(stream.ends).toEqual([{ how: 'ended' }]);
  });

  it('Session drops an answer within the write of a notification', () => {
    const rig = new Rig();
    answering(rig, { type: 'data', stream: 2, payload: 'answer' }, { type: 'reset', stream: 2, code: CANCEL });
    const stream = rig.open({ payload: 'push', end: true }, true);
    expect([stream.payloads, stream.ends]).toEqual([[], [{ how: 'ended' }]]);
    expect(sentAndSeen(rig)).toEqual(['open 2 push']);
  });

  it('Session accepts a reset within the write of the open', () => {
    const rig = new Rig();
    const stream = rig.local();
    answering(rig, { type: 'reset', stream: 2, code: ResetCode.REFUSED });
    rig.send(stream, { type: 'open' });
    rig.send(stream, { payload: 'late' });
    expect(stream.ends).toMatchObject([{ how: 'reset', by: 'remote' }]);
    expect(sentAndSeen(rig)).toEqual(['open 2']);
  });

  it('Session accepts an open within the write of the reset that frees its place', () => {
    const rig = new Rig({ limits: { maxStreams: 1 } });
    const stream = rig.remote(1);
    answering(rig, { type: 'open', stream: 3 });
    stream.live.reset('user', CANCEL, '');
    expect(rig.held(3).ends).toEqual([]);
  });

  it('Session accepts a pong within the write of its ping', () => {
    const rig = new Rig();
    const answered: number[] = [];
    rig.transport.onSend = (message) => {
      rig.transport.onSend = () => undefined;
      rig.receive({ ...rig.connection.codec.decode(message), type: 'pong' });
    };
    rig.connection.control.ping((ms) => answered.push(ms));
    expect(answered).toHaveLength(1);
  });

  it('Session accepts a goaway within the write of its own goaway', () => {
    const rig = new Rig();
    const stream = rig.open({ end: true });
    answering(rig, { type: 'goaway', code: NO_ERROR, last_stream: 0 });
    rig.connection.drain(1000, NO_ERROR, '');
    expect(stream.ends).toMatchObject([{ how: 'reset', code: ResetCode.REFUSED }]);
    expect(rig.transport.closes).toEqual([{ code: 1000, reason: '' }]);
  });

  it.each<[string, (rig: Rig, stream: Holder) => void]>([
    ['an open', (rig) => rig.open()],
    ['an end', (rig, stream) => rig.send(stream, { end: true })],
    ['a reset', (_rig, stream) => stream.live.reset('user', CANCEL, '')],
    ['a goaway', (rig) => rig.connection.drain(1000, NO_ERROR, '')],
    ['a pong', (rig) => rig.receive({ type: 'ping', nonce: 'n' })],
    ['a close', (rig) => rig.connection.fail(ConnectionFault.tooMuch('enough'))],
  ])('Session ends each stream once and releases everything when the socket ends within the write of %s', (_what, act) => {
    const rig = new Rig();
    const stream = rig.remote(1, { end: true });
    rig.transport.onSend = () => rig.transport.end();
    act(rig, stream);
    expect(stream.ends).toHaveLength(1);
    expect(rig.isEmpty).toBe(true);
    expect(rig.reasons).toHaveLength(1);
  });
});

describe('sinks that throw', () => {
  const fail = (): never => {
    throw new Error('a bug');
  };
  const open = (rig: Rig): Holder => rig.remote(1);

  it.each<[string, (rig: Rig) => void]>([
    ['the owner throws when it receives a stream', (rig) => (rig.onOpened = fail)],
    ['the sink throws when it receives a payload', (rig) => (rig.onOpened = (holder) => (holder.onReceive = fail))],
  ])('Session resets only the stream whose callback throws: %s', (_what, prepare) => {
    const rig = new Rig();
    prepare(rig);
    const stream = open(rig);
    rig.receive({ type: 'data', stream: 1, payload: 1 });
    expect(stream.ends).toMatchObject([{ how: 'reset', by: 'library', code: INTERNAL_ERROR }]);
    expect(rig.news).toEqual([{ type: 'reset', stream: 1, code: INTERNAL_ERROR, reason: 'internal error' }]);
    expect(logs.errors).toEqual(['rxmux: stream 1: internal error']);
    rig.onOpened = () => undefined;
    expect(rig.remote(3).ends).toEqual([]);
  });

  it.each<[string, (rig: Rig) => void]>([
    ['a reset', (rig) => rig.receive({ type: 'reset', stream: 1 })],
    ['an end', (rig) => rig.receive({ type: 'data', stream: 1, end: true })],
    ['the loss of the socket', (rig) => rig.transport.end()],
  ])('Session logs a sink that throws at %s, and ends the other streams', (_what, act) => {
    const rig = new Rig();
    const [stream, other] = [open(rig), rig.remote(3)];
    stream.onGone = fail;
    rig.send(stream, { end: true });
    act(rig);
    expect(stream.ends).toHaveLength(1);
    expect(logs.errors).toEqual(['rxmux: a subscriber of a stream failed']);
    rig.transport.end();
    expect(other.ends).toHaveLength(1);
    expect(rig.isEmpty).toBe(true);
  });
});
