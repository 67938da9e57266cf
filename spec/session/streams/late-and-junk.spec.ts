import { describe, expect, it, jest } from '@jest/globals';
import { logger } from '../../../src/logger.js';
import type { Frame } from '../../../src/wire/frame.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { Rig } from '../../support/session/rig.js';
import type { Envelope } from '../../support/session/rig.js';

const { PROTOCOL_ERROR, CANCEL, REFUSED, APPLICATION_ERROR } = ResetCode;
const CLOSED_BY_RESET: readonly Frame[] = [
  { type: 'open', stream: 1 },
  { type: 'reset', stream: 1, code: CANCEL },
];

/** Frames of a remote that is the dialer, so that its ids are odd, and this side's answer. */
interface Row {
  readonly what: string;
  readonly before?: readonly Frame[];
  readonly frame: Frame;
  /** Type, stream and code of each frame sent. */
  readonly answer?: readonly (readonly [string, number | undefined, number | undefined])[];
}

interface Junk extends Row {
  /** The text of its log line at debug. */
  readonly told: string;
}

const DROPPED: readonly Row[] = [
  { what: 'data of a stream that was reset', before: CLOSED_BY_RESET, frame: { type: 'data', stream: 1, payload: 1 } },
  { what: 'a reset of a stream that was already reset', before: CLOSED_BY_RESET, frame: { type: 'reset', stream: 1 } },
  { what: 'data of a skipped id', before: [{ type: 'open', stream: 5 }], frame: { type: 'data', stream: 3, payload: 1 } },
  { what: 'a reset of a skipped id', before: [{ type: 'open', stream: 5 }], frame: { type: 'reset', stream: 3 } },
  {
    what: 'a late slice of an open whose stream was reset',
    before: [
      { type: 'open', stream: 1, fragment: '"a', more: true },
      { type: 'reset', stream: 1, code: CANCEL },
    ],
    frame: { type: 'open', stream: 1, fragment: 'b"' },
  },
  {
    what: 'a fragment of an open with a skipped id',
    before: [{ type: 'open', stream: 5 }],
    frame: { type: 'open', stream: 3, fragment: '1' },
  },
  { what: 'a frame of an unknown type', frame: { type: 'window_update', stream: 1 } },
  { what: 'a fragment of an unknown type', frame: { type: 'window_update', stream: 1, fragment: 'x', more: true } },
  {
    what: 'headers on a later frame',
    before: [{ type: 'open', stream: 1 }],
    frame: { type: 'data', stream: 1, headers: { late: true } },
  },
  {
    what: 'trailers without an end',
    before: [{ type: 'open', stream: 1 }],
    frame: { type: 'data', stream: 1, payload: 1, trailers: { rows: 1 } },
  },
];

const JUNK: readonly Junk[] = [
  {
    what: 'data of an id that was never opened',
    frame: { type: 'data', stream: 7, payload: 1 },
    answer: [['reset', 7, PROTOCOL_ERROR]],
    told: 'data of stream 7, which was never opened',
  },
  {
    what: 'data of an id of this side that was never opened',
    frame: { type: 'data', stream: 2 },
    answer: [['reset', 2, PROTOCOL_ERROR]],
    told: 'data of stream 2, which was never opened',
  },
  {
    what: 'a reset of an id that was never opened',
    frame: { type: 'reset', stream: 7 },
    told: 'reset of stream 7, which was never opened',
  },
  {
    what: 'a reset of an id of this side that was never opened',
    frame: { type: 'reset', stream: 2 },
    told: 'reset of stream 2, which was never opened',
  },
  { what: 'data without a stream id', frame: { type: 'data', payload: 1 }, told: 'data without a stream id' },
  { what: 'data of stream 0', frame: { type: 'data', stream: 0, payload: 1 }, told: 'data without a stream id' },
  { what: 'a reset without a stream id', frame: { type: 'reset', code: CANCEL }, told: 'reset without a stream id' },
  {
    what: 'data without any content',
    before: [{ type: 'open', stream: 1 }],
    frame: { type: 'data', stream: 1 },
    told: 'data of stream 1 without payload, fragment, end or headers',
  },
  {
    what: 'data with trailers alone',
    before: [{ type: 'open', stream: 1 }],
    frame: { type: 'data', stream: 1, trailers: { a: 1 } },
    told: 'data of stream 1 without payload, fragment, end or headers',
  },
  {
    what: 'a ping whose pong would exceed the limit of a message',
    frame: { type: 'ping', nonce: 'n'.repeat(65_520) },
    told: 'a ping whose pong would not fit a message',
  },
  {
    what: 'a ping whose pong would exceed that limit because of escapes',
    frame: { type: 'ping', nonce: '\u0001'.repeat(10_920) },
    told: 'a ping whose pong would not fit a message',
  },
  { what: 'a pong that answers no ping', frame: { type: 'pong', nonce: 'n' }, told: 'a pong that answers no ping' },
  { what: 'a pong without a nonce', frame: { type: 'pong' }, told: 'a pong that answers no ping' },
  {
    what: 'a repeated goaway',
    before: [{ type: 'goaway', last_stream: 2 }],
    frame: { type: 'goaway', last_stream: 2 },
    told: 'a goaway that says nothing new',
  },
];

const brief = (frames: readonly Envelope[]) => frames.map(({ type, stream, code }) => [type, stream, code]);

function play({ before = [], frame }: Row): Rig {
  const rig = new Rig({ limits: { junk: { burst: 1, perSecond: 0 } } });
  rig.receive(...before);
  expect(rig.news).toEqual([]);
  rig.receive(frame);
  return rig;
}

/** Whether the bucket of one junk frame is empty, so that one more ends the connection. */
function isSpent(rig: Rig): boolean {
  rig.receive({ type: 'pong', nonce: 'probe' });
  return rig.transport.closes.length > 0;
}

/** Returns the lines that `act` logs at debug. */
function debugLines(act: () => void): readonly string[] {
  const lines: string[] = [];
  const spy = jest.spyOn(logger, 'debug').mockImplementation((line) => lines.push(line));
  act();
  spy.mockRestore();
  return lines;
}

describe('late and junk frames', () => {
  it.each(DROPPED)('Session drops $what without an answer and without counting junk', (row) => {
    const rig = play(row);
    expect(rig.news).toEqual([]);
    expect(isSpent(rig)).toBe(false);
  });

  it.each(JUNK)('Session counts $what as junk', (row) => {
    const rig = play(row);
    expect(brief(rig.news)).toEqual(row.answer ?? []);
    expect(rig.transport.closes).toEqual([]);
    expect(isSpent(rig)).toBe(true);
  });

  it('Session counts frames of an unsent stream of this side as junk, and still sends its open', () => {
    const rig = new Rig();
    rig.transport.bufferedAmount = 1024 * 1024;
    const stream = rig.open({ payload: 'mine' });
    rig.receive({ type: 'data', stream: 2, payload: 'too early', end: true }, { type: 'reset', stream: 2 });
    expect([stream.received, stream.ends]).toEqual([[], []]);
    rig.transport.drainTo(0);
    expect(brief(rig.news)).toEqual([
      ['reset', 2, PROTOCOL_ERROR],
      ['open', 2, undefined],
    ]);
  });

  it('Session counts a reset of a never opened id as junk, even after frames on higher ids of the remote', () => {
    const rig = new Rig({ limits: { junk: { burst: 0, perSecond: 0 } } });
    rig.send(rig.remote(7), { payload: 1 });
    rig.receive({ type: 'reset', stream: 6 });
    expect(rig.transport.closes).toMatchObject([{ code: 1008 }]);
  });

  it('Session counts each reset of a never opened id as provoked by the remote', () => {
    const rig = new Rig({ limits: { provokedResets: { burst: 2, perSecond: 0 } } });
    rig.receive({ type: 'data', stream: 7 }, { type: 'data', stream: 7 });
    expect(brief(rig.news)).toEqual([
      ['reset', 7, PROTOCOL_ERROR],
      ['reset', 7, PROTOCOL_ERROR],
    ]);
    rig.receive({ type: 'data', stream: 7 });
    expect(rig.transport.closes).toMatchObject([{ code: 1008 }]);
  });

  it.each(JUNK)('Session logs $what at debug', ({ told, ...row }) => {
    expect(debugLines(() => play(row))).toContain(`rxmux: ignored ${told}`);
  });

  it('Session logs a refused open at debug', () => {
    expect(debugLines(() => new Rig().remote(1).live.refuse('no handler'))).toContain('rxmux: ignored an open of stream 1: no handler');
  });

  it('Session resets data of a never opened id with a reason', () => {
    const rig = new Rig();
    rig.receive({ type: 'data', stream: 7 });
    expect(rig.news).toEqual([{ type: 'reset', stream: 7, code: PROTOCOL_ERROR, reason: 'the stream was never opened' }]);
  });

  it('Session logs ignored frames and fields at debug', () => {
    const lines = debugLines(() => {
      for (const row of DROPPED.slice(-4)) play(row);
    });
    expect(lines).toEqual([
      'rxmux: ignored a frame of an unknown type',
      'rxmux: ignored a frame of an unknown type',
      'rxmux: stream 1: ignored headers on a later frame',
      'rxmux: stream 1: ignored trailers without an end',
    ]);
  });
});

describe('streams with an unwritten reset', () => {
  const MIB = 1024 * 1024;

  it.each<[string, Frame, readonly unknown[]]>([
    ['late data', { type: 'data', stream: 1, payload: 1 }, [['reset', 1, APPLICATION_ERROR]]],
    ['a reset', { type: 'reset', stream: 1 }, []],
  ])('A reset of the remote drops the unwritten reset of this side, and late data does not: %s', (_what, frame, sent) => {
    const rig = new Rig();
    const stream = rig.remote(1);
    rig.transport.bufferedAmount = MIB;
    stream.live.reset('user', APPLICATION_ERROR, '');
    rig.receive(frame);
    rig.transport.drainTo(0);
    expect(brief(rig.news)).toEqual(sent);
  });
});

describe('refused opens', () => {
  it('Session reports an open over maxStreams to its owner, with the reason of the refusal', () => {
    const rig = new Rig({ limits: { maxStreams: 0 } });
    rig.receive({ type: 'open', stream: 1 });
    const [{ reason } = {}] = rig.news;
    expect(reason).toBe('more than 0 streams (maxStreams)');
    expect(rig.refused).toEqual([[ResetCode.REFUSED, reason]]);
  });
});

describe('accepted frames', () => {
  it('`arrivedBytes` is the size of the message or of the reassembled payload during the delivery', () => {
    const rig = new Rig();
    const stream = rig.remote(1);
    const sizes: number[] = [];
    stream.onReceive = () => sizes.push(rig.connection.arrivedBytes);
    rig.receive({ type: 'data', stream: 1, payload: 'é' });
    rig.receive({ type: 'data', stream: 1, fragment: `"${'x'.repeat(1_000)}`, more: true }, { type: 'data', stream: 1, fragment: '"' });
    expect(sizes).toEqual(['{"type":"data","stream":1,"payload":"é"}'.length + 1, 1_002]);
  });

  it('Session reports incoming and outgoing frames to its observers', () => {
    const rig = new Rig();
    rig.send(rig.remote(1), { payload: 'b' });
    expect(rig.observed).toEqual([
      ['rx', { type: 'open', stream: 1 }],
      ['tx', { type: 'data', stream: 1, payload: 'b' }],
    ]);
  });

  it('A stream receives frames after the end of this side', () => {
    const rig = new Rig();
    const stream = rig.remote(1);
    rig.send(stream, { end: true });
    expect(stream.cause).toBeNull();
    rig.receive({ type: 'data', stream: 1, payload: 'more' });
    expect([stream.payloads, stream.cause]).toEqual([['more'], null]);
  });

  it('Session accepts an open that skips ids', () => {
    const rig = new Rig();
    expect(rig.remote(1).cause).toBeNull();
    expect(rig.remote(101).cause).toBeNull();
    expect(rig.news).toEqual([]);
  });

  it('A stream receives the headers of the first frame of an answer, and Session logs later headers at debug', () => {
    const rig = new Rig();
    const stream = rig.open();
    const first = debugLines(() => {
      rig.receive({ type: 'data', stream: 2, headers: { a: 1 } });
    });
    const later = debugLines(() => {
      rig.receive({ type: 'data', stream: 2, payload: 1, headers: { b: 1 } });
    });
    expect(stream.received).toMatchObject([{ headers: { a: 1 } }, { payload: 1 }]);
    expect([first, later]).toEqual([[], ['rxmux: stream 2: ignored headers on a later frame']]);
  });

  it.each<[string, (rig: Rig) => unknown, unknown]>([
    [
      'Session answers a ping',
      (rig) => {
        rig.receive({ type: 'ping', stream: 9, nonce: 'n' });
        return rig.news;
      },
      [{ type: 'pong', nonce: 'n' }],
    ],
    [
      'Session pairs a pong with its ping',
      (rig) => {
        const told: string[] = [];
        rig.connection.control.ping(
          () => told.push('answered'),
          () => told.push('lost'),
        );
        rig.receive({ type: 'pong', stream: 9, nonce: rig.news[0]?.nonce });
        return told;
      },
      ['answered'],
    ],
    [
      'A goaway refuses the streams above its last_stream',
      (rig) => {
        const stream = rig.open();
        rig.receive({ type: 'goaway', stream: 9, last_stream: 0 });
        return [stream.cause, rig.goaways];
      },
      [expect.objectContaining({ how: 'reset', by: 'library', code: REFUSED }), [0]],
    ],
  ])('%s even if the frame has a stream field', (_what, outcomeIn, outcome) => {
    const rig = new Rig();
    expect(outcomeIn(rig)).toEqual(outcome);
    expect(rig.transport.closes).toEqual([]);
  });
});
