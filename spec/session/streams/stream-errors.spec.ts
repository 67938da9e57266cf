import { describe, expect, it } from '@jest/globals';
import type { Frame } from '../../../src/wire/frame.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { Rig } from '../../support/session/rig.js';

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
