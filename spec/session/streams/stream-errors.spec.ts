import { describe, expect, it } from '@jest/globals';
import type { Frame } from '../../../src/wire/frame.js';
import { ResetCode } from '../../../src/wire/reset-code.js';
import { Rig } from '../../support/session/rig.js';

const { PROTOCOL_ERROR, STREAM_CLOSED, CANCEL } = ResetCode;

/** Frames of a remote that is the dialer, so that its ids are odd, and the code and reason of the reset that answers. */
interface Row {
  readonly what: string;
  readonly before?: readonly Frame[];
  readonly frame: Frame;
  readonly code: number;
  readonly reason: string;
}

const STREAM_ERRORS: readonly Row[] = [
  {
    what: 'a fragment of an open for a live stream whose open was complete',
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
    what: "data after the remote's end, which came with data",
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
    before: [
      { type: 'open', stream: 1 },
      { type: 'data', stream: 1, fragment: '"a', more: true },
    ],
    frame: { type: 'data', stream: 1, payload: 1 },
    code: PROTOCOL_ERROR,
    reason: 'expected the next fragment of the data, got a data without one',
  },
  {
    what: 'fragments that do not decode',
    before: [
      { type: 'open', stream: 1 },
      { type: 'data', stream: 1, fragment: '"a', more: true },
    ],
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
    before: [
      { type: 'open', stream: 1 },
      { type: 'data', stream: 1, fragment: '"a', more: true },
    ],
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

describe('a frame that breaks the rules of its stream', () => {
  it.each(STREAM_ERRORS)('ends the stream and not the connection: $what', ({ before = [], frame, code, reason }) => {
    const rig = new Rig({ limits: { junk: { burst: 0, perSecond: 0 } } });
    rig.receive(...before, frame);
    expect(rig.news).toEqual([{ type: 'reset', stream: 1, code, reason }]);
    for (const { ends } of rig.remotes) expect(ends).toEqual([{ how: 'reset', by: 'library', code, reason, payload: null }]);
    expect(rig.session.streams.size).toBe(0);
    rig.receive({ type: 'data', stream: 1, payload: 'late' });
    expect(rig.news).toEqual([]);
    expect(rig.remote(3).cause).toBeNull();
    expect(rig.transport.closes).toEqual([]);
  });
});

describe('a reset of the remote', () => {
  const cause = (code: number | null, reason = '', payload: unknown = null) => ({ how: 'reset', by: 'remote', code, reason, payload });

  it('ends a stream in the middle of a fragment sequence', () => {
    const rig = new Rig();
    const stream = rig.remote(1);
    rig.receive({ type: 'data', stream: 1, fragment: '"a', more: true }, { type: 'reset', stream: 1, code: CANCEL });
    expect(stream.ends).toEqual([cause(CANCEL)]);
    expect(rig.session.receiveBudget.held.used).toBe(0);
    expect(rig.news).toEqual([]);
  });

  it('takes effect on the last of its fragments, with the payload', () => {
    const rig = new Rig();
    const stream = rig.remote(1);
    rig.receive({ type: 'reset', stream: 1, code: 16, reason: 'no', fragment: '{"na', more: true });
    expect(stream.cause).toBeNull();
    rig.receive({ type: 'reset', stream: 1, code: 16, reason: 'no', fragment: 'me":1}' });
    expect(stream.ends).toEqual([cause(16, 'no', { name: 1 })]);
  });

  it.each<[string, readonly Partial<Frame>[]]>([
    ['does not decode', [{ fragment: '{', more: true }, { fragment: '{' }]],
    ['is over the payload limit', [{ fragment: '123456', more: true }, { fragment: '123456' }]],
    ['says more without a fragment', [{ more: true }]],
    ['says end on a fragment with more', [{ fragment: '1', more: true, end: true }]],
  ])('ends the stream without payload, and is not answered, where it %s', (_what, frames) => {
    const rig = new Rig({ limits: { maxPayloadBytes: 10, provokedResets: { burst: 0, perSecond: 0 } } });
    const stream = rig.remote(1);
    rig.receive(...frames.map((fields) => ({ type: 'reset', stream: 1, code: 300, reason: 'why', ...fields })));
    expect(stream.ends).toEqual([cause(300, 'why')]);
    expect(rig.news).toEqual([]);
    expect(rig.transport.closes).toEqual([]);
  });

  it('says nothing for what comes after it: a malformed frame of another stream is answered', () => {
    const rig = new Rig();
    rig.remote(1);
    const other = rig.remote(3);
    rig.receive({ type: 'reset', stream: 1, code: CANCEL }, { type: 'data', stream: 3, more: true });
    expect(rig.news).toMatchObject([{ type: 'reset', stream: 3, code: PROTOCOL_ERROR }]);
    expect(other.ends).toMatchObject([{ by: 'library', code: PROTOCOL_ERROR }]);
  });

  it('without a code is a failure with code null', () => {
    const rig = new Rig();
    const stream = rig.remote(1);
    rig.receive({ type: 'reset', stream: 1 });
    expect(stream.ends).toEqual([cause(null)]);
  });
});
