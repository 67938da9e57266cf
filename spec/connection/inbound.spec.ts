import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { REFUSED_OPENS, REST_MS } from '../../src/connection/inbound.js';
import { resetFrame } from '../../src/connection/replies.js';
import { hashOf, StreamMap } from '../../src/connection/stream-map.js';
import { logger } from '../../src/logger.js';
import type { Message } from '../../src/wire/codec.js';
import { ResetCode } from '../../src/wire/codes.js';
import { ConnectionFault, StreamIdsExhaustedError } from '../../src/wire/errors.js';
import { slicerToSend } from '../../src/wire/fragment.js';
import type { Frame } from '../../src/wire/frame.js';
import { OutgoingFrame } from '../../src/wire/outgoing.js';
import fc from '../support/fast-check.js';
import { collectLogs } from '../support/peer/logs.js';
import { otherPlatform } from '../support/platform/globals.js';
import { Rig, typesOf } from '../support/session/rig.js';
import type { Envelope, RigOptions } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';

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

describe('stream errors', () => {
  const { PROTOCOL_ERROR, STREAM_CLOSED, CANCEL } = ResetCode;

  /** Frames of a remote that is the dialer, so that its ids are odd, and the code and reason of this side's reset. */
  interface Row {
    readonly what: string;
    readonly before?: readonly Frame[];
    readonly frame: Frame;
    readonly code: number;
    readonly reason: string;
  }

  /** A stream whose next payload is cut. */
  const MID_PAYLOAD: readonly Frame[] = [
    { type: 'open', stream: 1 },
    { type: 'data', stream: 1, fragment: '"a', more: true },
  ];

  const STREAM_ERRORS: readonly Row[] = [
    {
      what: 'a fragment of an open that was already complete',
      before: [{ type: 'open', stream: 1 }],
      frame: { type: 'open', stream: 1, fragment: '1' },
      code: PROTOCOL_ERROR,
      reason: 'expected no fragment of an open that is complete',
    },
    {
      what: "data after the remote's end",
      before: [{ type: 'open', stream: 1, end: true }],
      frame: { type: 'data', stream: 1, payload: 1 },
      code: STREAM_CLOSED,
      reason: "expected nothing after 'end', got data",
    },
    {
      what: "data after the remote's end on a data frame",
      before: [
        { type: 'open', stream: 1 },
        { type: 'data', stream: 1, end: true },
      ],
      frame: { type: 'data', stream: 1, payload: 1 },
      code: STREAM_CLOSED,
      reason: "expected nothing after 'end', got data",
    },
    {
      what: "the first fragment of data after the remote's end",
      before: [{ type: 'open', stream: 1, end: true }],
      frame: { type: 'data', stream: 1, fragment: '"', more: true },
      code: STREAM_CLOSED,
      reason: "expected nothing after 'end', got data",
    },
    {
      what: 'a whole payload in the middle of a fragment sequence',
      before: MID_PAYLOAD,
      frame: { type: 'data', stream: 1, payload: 1 },
      code: PROTOCOL_ERROR,
      reason: 'expected the next fragment of the data, got a data without one',
    },
    {
      what: 'fragments that do not decode',
      before: MID_PAYLOAD,
      frame: { type: 'data', stream: 1, fragment: 'b' },
      code: PROTOCOL_ERROR,
      reason: "codec 'json': expected JSON, got 3 characters that are not",
    },
    {
      what: 'an open whose fragments do not decode',
      before: [{ type: 'open', stream: 1, fragment: '"a', more: true }],
      frame: { type: 'open', stream: 1, fragment: 'b' },
      code: PROTOCOL_ERROR,
      reason: "codec 'json': expected JSON, got 3 characters that are not",
    },
    {
      what: '`more` with a payload',
      before: [{ type: 'open', stream: 1 }],
      frame: { type: 'data', stream: 1, payload: 1, more: true },
      code: PROTOCOL_ERROR,
      reason: "expected a fragment beside 'more', got a payload",
    },
    {
      what: '`more` with a payload on an open',
      frame: { type: 'open', stream: 1, payload: 1, more: true },
      code: PROTOCOL_ERROR,
      reason: "expected a fragment beside 'more', got a payload",
    },
    {
      what: '`more` with neither payload nor fragment',
      before: [{ type: 'open', stream: 1 }],
      frame: { type: 'data', stream: 1, more: true },
      code: PROTOCOL_ERROR,
      reason: "expected a fragment beside 'more', got none",
    },
    {
      what: '`end` on a fragment with `more`',
      before: [{ type: 'open', stream: 1 }],
      frame: { type: 'data', stream: 1, fragment: '"', more: true, end: true },
      code: PROTOCOL_ERROR,
      reason: "expected 'end' and 'trailers' on the last fragment only",
    },
    {
      what: 'trailers on a fragment with `more`',
      before: [{ type: 'open', stream: 1 }],
      frame: { type: 'data', stream: 1, fragment: '"', more: true, trailers: { a: 1 } },
      code: PROTOCOL_ERROR,
      reason: "expected 'end' and 'trailers' on the last fragment only",
    },
    {
      what: 'a bare end in the middle of a fragment sequence',
      before: MID_PAYLOAD,
      frame: { type: 'data', stream: 1, end: true },
      code: PROTOCOL_ERROR,
      reason: 'expected the next fragment of the data, got a data without one',
    },
    {
      what: "data in the middle of an open's fragments",
      before: [{ type: 'open', stream: 1, fragment: '"a', more: true }],
      frame: { type: 'data', stream: 1, payload: 1 },
      code: PROTOCOL_ERROR,
      reason: 'expected the next fragment of the open, got data',
    },
    {
      what: "a fragment of data in the middle of an open's fragments",
      before: [{ type: 'open', stream: 1, fragment: '"a', more: true }],
      frame: { type: 'data', stream: 1, fragment: 'b"' },
      code: PROTOCOL_ERROR,
      reason: 'expected the next fragment of the open, got data',
    },
  ];

  describe('stream errors', () => {
    it.each(STREAM_ERRORS)('Session resets the stream and keeps the connection: $what', ({ before = [], frame, code, reason }) => {
      const rig = new Rig({ limits: { junk: { burst: 0, perSecond: 0 } } });
      rig.receive(...before, frame);
      expect(rig.news).toEqual([{ type: 'reset', stream: 1, code, reason }]);
      for (const { ends } of rig.remotes) expect(ends).toEqual([{ how: 'reset', by: 'library', code, reason, payload: null }]);
      expect(rig.connection.streams.size).toBe(0);
      rig.receive({ type: 'data', stream: 1, payload: 'late' });
      expect(rig.news).toEqual([]);
      expect(rig.remote(3).cause).toBeNull();
      expect(rig.transport.closes).toEqual([]);
    });
  });

  describe('resets of the remote', () => {
    const cause = (code: number | null, reason = '', payload: unknown = null) => ({ how: 'reset', by: 'remote', code, reason, payload });

    it('A reset of the remote ends a stream in the middle of a fragment sequence', () => {
      const rig = new Rig();
      const stream = rig.remote(1);
      rig.receive({ type: 'data', stream: 1, fragment: '"a', more: true }, { type: 'reset', stream: 1, code: CANCEL });
      expect(stream.ends).toEqual([cause(CANCEL)]);
      expect(rig.connection.budget.held.used).toBe(0);
      expect(rig.news).toEqual([]);
    });

    it('A fragmented reset of the remote takes effect with its last fragment', () => {
      const rig = new Rig();
      const stream = rig.remote(1);
      rig.receive({ type: 'reset', stream: 1, code: 16, reason: 'no', fragment: '{"na', more: true });
      expect(stream.cause).toBeNull();
      rig.receive({ type: 'reset', stream: 1, code: 16, reason: 'no', fragment: 'me":1}' });
      expect(stream.ends).toEqual([cause(16, 'no', { name: 1 })]);
    });

    it.each<[string, readonly Partial<Frame>[]]>([
      ['the payload does not decode', [{ fragment: '{', more: true }, { fragment: '{' }]],
      ['the payload exceeds maxPayloadBytes', [{ fragment: '123456', more: true }, { fragment: '123456' }]],
      ['`more` comes without a fragment', [{ more: true }]],
      ['`end` comes with `more`', [{ fragment: '1', more: true, end: true }]],
    ])('A malformed reset of the remote ends its stream without payload and without an answer: %s', (_what, frames) => {
      const rig = new Rig({ limits: { maxPayloadBytes: 10, provokedResets: { burst: 0, perSecond: 0 } } });
      const stream = rig.remote(1);
      rig.receive(...frames.map((fields) => ({ type: 'reset', stream: 1, code: 300, reason: 'why', ...fields })));
      expect(stream.ends).toEqual([cause(300, 'why')]);
      expect(rig.news).toEqual([]);
      expect(rig.transport.closes).toEqual([]);
    });

    it('Session answers a malformed frame of another stream after a reset of the remote', () => {
      const rig = new Rig();
      rig.remote(1);
      const other = rig.remote(3);
      rig.receive({ type: 'reset', stream: 1, code: CANCEL }, { type: 'data', stream: 3, more: true });
      expect(rig.news).toMatchObject([{ type: 'reset', stream: 3, code: PROTOCOL_ERROR }]);
      expect(other.ends).toMatchObject([{ by: 'library', code: PROTOCOL_ERROR }]);
    });

    it('A reset without a code ends its stream with code null', () => {
      const rig = new Rig();
      const stream = rig.remote(1);
      rig.receive({ type: 'reset', stream: 1 });
      expect(stream.ends).toEqual([cause(null)]);
    });
  });
});

describe('refused opens', () => {
  collectLogs();

  /** A session with no free place, and a remote that opens streams nevertheless. */
  function fullRig() {
    const rig = new Rig({ limits: { maxStreams: 0 } });
    let id = -1;
    const open = (count: number): void => {
      for (let n = 0; n < count; n++) {
        rig.receive({ type: 'open', stream: (id += 2), end: true });
        // The refusals leave in several turns.
        if (n % 100 === 0) rig.transport.nextTurn();
      }
    };
    return { rig, open };
  }

  it(
    'Session reads without a rest up to the burst of refused opens',
    inTime(() => {
      const { rig, open } = fullRig();
      open(REFUSED_OPENS.burst);
      expect([rig.transport.paused, rig.refused.length]).toEqual([false, REFUSED_OPENS.burst]);
    }),
  );

  it(
    'Session stops reading after a burst of refused opens, refuses opens already read, and resumes after the rest',
    inTime((time) => {
      const { rig, open } = fullRig();
      open(REFUSED_OPENS.burst + 1);
      expect(rig.transport.paused).toBe(true);
      open(1_000);
      time.advance(REST_MS - 1);
      expect(rig.transport.paused).toBe(true);
      time.advance(1);
      expect([rig.transport.paused, rig.transport.closes, rig.refused.length]).toEqual([false, [], REFUSED_OPENS.burst + 1_001]);
      open((REFUSED_OPENS.perSecond * REST_MS) / 1_000);
      expect(rig.transport.paused).toBe(false);
      open(1);
      expect(rig.transport.paused).toBe(true);
    }),
  );

  it(
    'Session leaves no timer behind when it ends during the rest',
    inTime((time) => {
      const { rig, open } = fullRig();
      open(REFUSED_OPENS.burst + 1);
      rig.transport.end();
      expect([rig.transport.paused, time.isOver]).toEqual([false, true]);
    }),
  );

  it(
    'Session counts no open that arrives while it goes away',
    inTime(() => {
      const { rig, open } = fullRig();
      rig.connection.drain(1_000, 0, '');
      open(100);
      expect([rig.transport.paused, rig.refused]).toEqual([false, []]);
    }),
  );
});

describe('connection errors', () => {
  const { PROTOCOL_ERROR, CANCEL } = ResetCode;
  const CLOSED_BY_RESET: readonly Frame[] = [
    { type: 'open', stream: 1 },
    { type: 'reset', stream: 1, code: CANCEL },
  ];

  /** Messages that end the connection, each with the WebSocket close code and the reason. */
  const FATAL: readonly (readonly [
    what: string,
    dialer: boolean,
    before: readonly Frame[],
    message: Message,
    close: number,
    reason: string,
  ])[] = [
    ['a message that does not decode', false, [], '{', 1002, 'expected JSON'],
    [
      'an open of an odd id for a dialer',
      true,
      [],
      '{"type":"open","stream":1}',
      1002,
      'expected an open of an even id, got 1, which belongs to this side',
    ],
    [
      'an open of an even id for an acceptor',
      false,
      [],
      '{"type":"open","stream":2}',
      1002,
      'expected an open of an odd id, got 2, which belongs to this side',
    ],
    [
      'an open of a stream that is open',
      false,
      [{ type: 'open', stream: 1 }],
      '{"type":"open","stream":1}',
      1002,
      'expected an open above stream 1, got 1',
    ],
    [
      'an open of a stream that was closed',
      false,
      CLOSED_BY_RESET,
      '{"type":"open","stream":1}',
      1002,
      'expected an open above stream 1, got 1',
    ],
    [
      'an open below an earlier id',
      false,
      [{ type: 'open', stream: 5 }],
      '{"type":"open","stream":3}',
      1002,
      'expected an open above stream 5, got 3',
    ],
    [
      'a whole open in the middle of its own fragments',
      false,
      [{ type: 'open', stream: 1, fragment: '"', more: true }],
      '{"type":"open","stream":1}',
      1002,
      'expected an open above stream 1, got 1',
    ],
    ['an open without a stream id', false, [], '{"type":"open"}', 1002, 'expected a stream id on an open, got null'],
    ['an open of stream 0', false, [], '{"type":"open","stream":0}', 1002, 'expected a stream id on an open, got 0'],
    ['an id above 2^53 - 1', false, [], '{"type":"open","stream":9007199254740992}', 1002, 'stream'],
    ['a last_stream above 2^53 - 1', false, [], '{"type":"goaway","last_stream":9007199254740993}', 1002, 'last_stream'],
    [
      'a binary message under a text codec',
      false,
      [],
      new ArrayBuffer(2),
      1003,
      "expected a text message for codec 'json', got a binary one",
    ],
  ];

  it.each(FATAL)('Session ends the connection at %s', (_what, isDialer, before, message, code, reason) => {
    const rig = new Rig({ isDialer });
    rig.receive(...before);
    rig.transport.receive(message);
    expect(rig.news).toEqual([{ type: 'goaway', code: PROTOCOL_ERROR, last_stream: 0, reason: expect.stringContaining(reason) }]);
    expect(rig.transport.closes).toEqual([{ code, reason: expect.stringContaining(reason) }]);
    rig.receive({ type: 'ping', nonce: 'late' }, { type: 'open', stream: 101 });
    expect(rig.news).toEqual([]);
    expect(rig.remotes.every(({ live }) => live.id < 100)).toBe(true);
  });

  it('Session ends the connection at a text message under a binary codec', () => {
    const rig = new Rig({ codec: new MsgpackCodec() });
    rig.transport.receive(new JsonCodec().encode({ type: 'ping' }));
    expect(rig.transport.closes).toEqual([{ code: 1003, reason: "expected a binary message for codec 'msgpack', got a text one" }]);
  });

  it.each([
    [false, 1, 2],
    [true, 2, 1],
  ])('Session distinguishes its own ids from the ids of the remote (dialer: %s)', (isDialer, theirs, ours) => {
    const rig = new Rig({ isDialer });
    expect(rig.remote(theirs).live.local).toBe(false);
    expect(rig.open().live).toMatchObject({ id: ours, local: true });
  });
});

describe('stream map', () => {
  const platform = otherPlatform();

  /** Seeds under which sequential ids lie side by side, and seeds that spread them. */
  const SEEDS = [0, 1, -1, 0x5bd1e995];

  const id = fc.oneof(
    fc.nat(40),
    fc.nat(2 ** 31 - 1),
    fc.integer({ min: 2 ** 31, max: Number.MAX_SAFE_INTEGER }),
    fc.nat(40).map((n) => n * 2 ** 32 + 1),
  );

  describe('StreamMap', () => {
    it('StreamMap holds the same values as a Map after any steps and under any seed', () => {
      const step = fc.record({ id, takes: fc.boolean() });
      fc.assert(
        fc.property(fc.integer(), fc.array(step, { maxLength: 400 }), (seed, steps) => {
          const map = new StreamMap<string>(seed);
          const model = new Map<number, string>();
          for (const [nth, { id, takes }] of steps.entries()) {
            if (takes) {
              map.delete(id);
              model.delete(id);
            } else {
              map.set(id, `value ${nth}`);
              model.set(id, `value ${nth}`);
            }
            expect([map.size, map.get(id)]).toEqual([model.size, model.get(id)]);
          }
          for (const known of steps) expect(map.get(known.id)).toBe(model.get(known.id));
          expect(map.values()).toEqual([...model].sort(([one], [other]) => one - other).map(([, value]) => value));
        }),
      );
    });

    it('StreamMap counts an id once, however often it is set', () => {
      const map = new StreamMap<string>(7);
      map.set(1, 'first');
      map.set(1, 'second');
      expect([map.size, map.get(1), map.values()]).toEqual([1, 'second', ['second']]);
      for (let id = 0; id < 8; id++) map.set(3, 'again');
      expect([map.size, map.capacity]).toEqual([2, 4]);
    });

    it.each(SEEDS)('StreamMap stays correct while thousands of rising ids are set and deleted, with seed %p', (seed) => {
      const map = new StreamMap<number>(seed);
      for (let id = 1; id <= 20_000; id += 2) {
        map.set(id, id);
        if (id > 600) map.delete(id - 600);
      }
      expect(map.size).toBe(300);
      expect(map.values()).toEqual(Array.from({ length: 300 }, (_, nth) => 19_401 + 2 * nth));
      expect([map.get(19_399), map.get(19_401), map.get(19_400)]).toEqual([undefined, 19_401, undefined]);
    });

    it('StreamMap grows with its values and shrinks after a burst', () => {
      const map = new StreamMap<number>(7);
      expect(map.capacity).toBe(4);
      for (let id = 1; id <= 3; id++) map.set(id, id);
      expect(map.capacity).toBe(4);
      map.set(4, 4);
      expect(map.capacity).toBe(8);
      for (let id = 5; id <= 100_000; id++) map.set(id, id);
      expect(map.capacity).toBe(262_144);
      for (let id = 1; id <= 100_000 - 32_768; id++) map.delete(id);
      expect(map.capacity).toBe(262_144);
      map.delete(100_000);
      expect(map.capacity).toBe(131_072);
      for (let id = 1; id <= 100_000; id++) map.delete(id);
      expect([map.size, map.capacity, map.values()]).toEqual([0, 256, []]);
    });

    it('StreamMap does not take its seed from `Math.random`', () => {
      const random = jest.spyOn(Math, 'random');
      const seeds = Array.from({ length: 8 }, () => new StreamMap<number>().seed);
      expect([random.mock.calls.length, new Set(seeds).size > 1]).toEqual([0, true]);
      random.mockRestore();
    });

    it('StreamMap takes its seed from `Math.random` on a platform without `crypto`', () => {
      platform({ crypto: undefined });
      const random = jest.spyOn(Math, 'random').mockReturnValueOnce(0.25).mockReturnValueOnce(0.75);
      const seeds = [new StreamMap<number>().seed, new StreamMap<number>().seed];
      random.mockRestore();
      expect(seeds).toEqual([2 ** 30, -(2 ** 30)]);
    });
  });

  describe('hashOf', () => {
    // Each family would fill one slot of a table that used only the low bits of an id, or only the high ones.
    it.each([
      ['in sequence', (nth: number) => 2 * nth + 1],
      ['with equal low bits', (nth: number) => nth * 2 ** 20 + 1],
      ['that differ only above 2^32', (nth: number) => nth * 2 ** 32 + 1],
      ['at the end of the range', (nth: number) => Number.MAX_SAFE_INTEGER - 2 * nth],
    ])('`hashOf` spreads ids %s', (_, idOf) => {
      for (const seed of SEEDS) {
        const slots = new Map<number, number>();
        for (let nth = 0; nth < 1_000; nth++) {
          const slot = hashOf(idOf(nth), seed) & 2047;
          slots.set(slot, (slots.get(slot) ?? 0) + 1);
        }
        expect(Math.max(...slots.values())).toBeLessThan(10);
      }
    });

    it('`hashOf` returns another hash for each seed', () => {
      const hashes = Array.from({ length: 1_000 }, (_, seed) => hashOf(1, seed));
      expect(new Set(hashes).size).toBe(1_000);
    });
  });
});

const MAX_ID = Number.MAX_SAFE_INTEGER;

describe('stream ids', () => {
  it.each([
    ['dialer', true, [1, 3, 5], [2, 4, 6]],
    ['acceptor', false, [2, 4, 6], [1, 3, 5]],
  ])('A connection assigns rising ids of its own parity: %s', (_who, isDialer, own, remote) => {
    const rig = new Rig({ isDialer });
    const opened = own.map((_, at) => {
      rig.remote(remote[at] ?? 0);
      return rig.open().live.id;
    });
    expect(opened).toEqual(own);
    const { connection } = rig;
    expect(own.map((id) => connection.owns(id))).toEqual([true, true, true]);
    expect(remote.map((id) => connection.owns(id))).toEqual([false, false, false]);
    expect(connection.owns(MAX_ID)).toBe(isDialer);
  });

  it('A connection never assigns an id again', () => {
    const rig = new Rig();
    rig.open().live.reset('user', null, '');
    rig.local().live.reset('user', null, '');
    expect(rig.local().live.id).toBe(6);
  });

  it.each([
    [true, MAX_ID],
    [false, MAX_ID - 1],
  ])('A connection runs out of ids above 2^53 - 1 and does not wrap (dialer: %s)', (isDialer, last) => {
    const rig = new Rig({ isDialer, firstId: last });
    expect([rig.connection.isExhausted, rig.open().live.id]).toEqual([false, last]);
    expect(rig.connection.isExhausted).toBe(true);
    expect(() => rig.local()).toThrow(StreamIdsExhaustedError);
    expect(() => rig.local()).toThrow('expected a free stream id, got none: this connection has used all of them');
    expect([rig.connection.streams.size, rig.news]).toEqual([1, [{ type: 'open', stream: last }]]);
  });

  it('The ids of a connection may begin at any number', () => {
    const { connection } = new Rig({ isDialer: true, firstId: 41 });
    expect([connection.nextId, connection.isExhausted, connection.streams.size, connection.places]).toEqual([41, false, 0, 0]);
  });
});

describe('live streams', () => {
  it('A connection holds the streams of both sides, and not stream 0 of the connection', () => {
    const rig = new Rig();
    const { streams } = rig.connection;
    const [theirs, ours] = [rig.remote(1).live, rig.open().live];
    expect([streams.size, streams.get(1), streams.get(2)]).toEqual([2, theirs, ours]);
    expect(streams.values()).toEqual([theirs, ours]);
    expect([streams.get(0), streams.get(3)]).toEqual([undefined, undefined]);
  });

  it('`values` returns a copy, so that a stream may be deleted during the iteration', () => {
    const rig = new Rig();
    const { streams } = rig.connection;
    for (const id of [1, 3, 5]) rig.remote(id);
    for (const stream of streams.values()) streams.delete(Number(stream.id));
    expect([streams.size, streams.values()]).toEqual([0, []]);
  });

  it('`hasOpened` is true once the open of a stream has left, and stays true', () => {
    const rig = new Rig();
    const { connection } = rig;
    const { live } = rig.local();
    expect(connection.hasOpened(2)).toBe(false);
    connection.opened(2);
    expect([connection.hasOpened(2), connection.hasOpened(4)]).toEqual([true, false]);
    connection.forget(live);
    connection.opened(6);
    connection.opened(4);
    expect([2, 4, 6, 8].map((id) => connection.hasOpened(id))).toEqual([true, true, true, false]);
  });
});

describe('unwritten resets', () => {
  it('A place is freed once, when the reset of its stream is written or the remote wants none', () => {
    const rig = new Rig();
    const { connection } = rig;
    const [one, three] = [rig.remote(1).live, rig.remote(3).live];
    rig.transport.bufferedAmount = 1024 * 1024;
    one.reset('user', ResetCode.CANCEL, '');
    three.reset('user', ResetCode.CANCEL, '');
    expect([connection.streams.size, connection.places]).toEqual([0, 2]);
    for (const stream of [1, 1, 7]) rig.receive({ type: 'reset', stream });
    expect(connection.places).toBe(1);
    rig.transport.drainTo(0);
    expect(connection.places).toBe(0);
  });
});

describe('departures', () => {
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
      const measured = jest.fn(slicerToSend);
      Object.assign(rig.transport, { cut: measured });
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
});

describe('deliveries within deliveries', () => {
  it('A payload reaches its stream although its codec causes another delivery while it reads the payload', () => {
    let inner = (): void => undefined;
    class Nesting extends JsonCodec {
      override decodePayload(...args: Parameters<JsonCodec['decodePayload']>): unknown {
        inner();
        return super.decodePayload(...args);
      }
    }
    const rig = new Rig({ codec: new Nesting() });
    const [one, other] = [rig.remote(1), rig.remote(3)];
    inner = () => {
      inner = () => undefined;
      rig.receive({ type: 'data', stream: 3, payload: 'inner' });
    };
    rig.receive({ type: 'data', stream: 1, fragment: '"ou', more: true }, { type: 'data', stream: 1, fragment: 'ter"' });
    expect([one.payloads, other.payloads]).toEqual([['outer'], ['inner']]);
  });
});
