import { runInNewContext } from 'node:vm';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import type { Codec } from '../../src/wire/codec.js';
import { CloseCode } from '../../src/wire/codes.js';
import { ConnectionFault, StreamFault } from '../../src/wire/errors.js';
import { ABSENT, completeFrame } from '../../src/wire/frame.js';
import type { CompleteFrame, Frame } from '../../src/wire/frame.js';
import { HeldBytes, MIN_CHARGE_BYTES } from '../../src/wire/reassembly.js';
import { resolveLimits } from '../../src/wire/limits.js';
import type { Limits } from '../../src/wire/limits.js';
import { Reassembly } from '../../src/wire/reassembly.js';
import { ResetCode } from '../../src/wire/codes.js';
import { disguised } from '../support/codec/foreign.js';

const json = new JsonCodec();

let held: HeldBytes;
let reassembly: Reassembly;

function start(limits: Partial<Limits> = {}, heldLimit = 1_000_000): void {
  held = new HeldBytes({ maxHeldBytes: heldLimit });
  reassembly = new Reassembly(json, resolveLimits(limits), held);
}

beforeEach(() => {
  start();
});

const frame = (fields: Partial<Frame>): CompleteFrame => completeFrame({ type: 'data', stream: 1, ...fields });
const more = (fragment: string, fields: Partial<Frame> = {}): CompleteFrame => frame({ fragment, more: true, ...fields });
const last = (fragment: string, fields: Partial<Frame> = {}): CompleteFrame => frame({ fragment, ...fields });
const accept = (...frames: readonly CompleteFrame[]): unknown => frames.map((each) => reassembly.accept(each)).at(-1);
const NOTHING = { held: 0, unfinished: [] };
const kept = (): object => ({ held: held.used, unfinished: reassembly.unfinished });

describe('headers of a first fragment', () => {
  it('Reassembly holds the headers of a first fragment', () => {
    const headers = { h: 'x'.repeat(1_000) };
    expect(accept(more('"a', { headers }))).toBeNull();
    expect(held.used).toBeGreaterThanOrEqual(1_000);
    expect(accept(more('b', { headers }))).toBeNull();
    expect(held.used).toBeLessThan(1_100 + MIN_CHARGE_BYTES);
    expect(accept(last('"'))).toMatchObject({ payload: 'ab', headers });
    expect(kept()).toEqual(NOTHING);
  });

  it('Reassembly refuses headers without room', () => {
    start({}, 1_500);
    accept(more('"a', { headers: { h: 'x'.repeat(1_000) } }));
    const refused = accept(more('"a', { stream: 3, headers: { h: 'x'.repeat(1_000) } }));
    expect(refused).toMatchObject({ stream: 3, code: ResetCode.ENHANCE_YOUR_CALM, reason: expect.stringContaining('maxHeldBytes') });
    expect(reassembly.unfinished).toEqual([1]);
  });
});

describe('unmeasurable headers', () => {
  it('Reassembly ends a stream whose headers the codec reads but cannot write, and so cannot measure', () => {
    const refused = accept(more('"a', { headers: { h: Infinity } }));
    expect(refused).toEqual(new StreamFault(1, ResetCode.PROTOCOL_ERROR, 'headers that cannot be measured'));
    expect(kept()).toEqual(NOTHING);
  });
});

describe('whole frames', () => {
  it.each<[string, Partial<Frame>]>([
    ['a payload', { payload: 1 }],
    ['a bare end', { end: true }],
    ['a frame of the connection', { type: 'ping', stream: null, nonce: 'n' }],
    ['a frame of the connection with more', { type: 'ping', stream: null, more: true }],
    ['a reset', { type: 'reset', code: 8 }],
  ])('Reassembly returns %s as it is', (_what, fields) => {
    const whole = frame(fields);
    expect(accept(whole)).toBe(whole);
    expect(kept()).toEqual(NOTHING);
  });

  it('Reassembly returns a whole frame of one stream amid the fragments of another', () => {
    const whole = frame({ stream: 3, payload: 1 });
    expect(accept(more('"a'), whole)).toBe(whole);
    expect(reassembly.unfinished).toEqual([1]);
  });
});

describe('fragments', () => {
  it('Reassembly returns null until the last fragment, then headers of the first, end and trailers of the last', () => {
    expect(accept(more('"a', { headers: { op: 'x' } }))).toBeNull();
    expect(accept(more('b'))).toBeNull();
    expect(kept()).toEqual({ held: 2 * MIN_CHARGE_BYTES, unfinished: [1] });
    expect(accept(last('c"', { end: true, trailers: { n: 3 } }))).toStrictEqual(
      frame({ payload: 'abc', headers: { op: 'x' }, end: true, trailers: { n: 3 } }),
    );
    expect(kept()).toEqual(NOTHING);
  });

  it('Reassembly accepts a sequence of one fragment', () => {
    expect(accept(last('1'))).toStrictEqual(frame({ payload: 1 }));
  });

  it('Reassembly keeps streams apart', () => {
    accept(more('"a'), more('"x', { stream: 3 }), more('b'), more('y', { stream: 3 }));
    expect(accept(last('"'))).toMatchObject({ stream: 1, payload: 'ab' });
    expect(accept(last('"', { stream: 3 }))).toMatchObject({ stream: 3, payload: 'xy' });
  });

  it('Reassembly reports the encoded size of the payload it has just joined, and 0 for a whole frame', () => {
    accept(more('"é'), last('b"'));
    expect(reassembly.assembledBytes).toBe(5);
    accept(frame({ payload: 1 }));
    expect(reassembly.assembledBytes).toBe(0);
  });

  it('Reassembly charges at least 64 bytes for each fragment, and releases them on release', () => {
    accept(more('"'), more('x'.repeat(100)));
    expect(held.used).toBe(MIN_CHARGE_BYTES + 100);
    reassembly.release(1);
    reassembly.release(1);
    expect(kept()).toEqual(NOTHING);
  });

  it('Reassembly has its own count of held bytes without a shared one', () => {
    const alone = new Reassembly(json, resolveLimits({ maxHeldBytes: 100 }));
    expect(alone.accept(more('a'))).toBeNull();
    expect(alone.accept(more('b'))).toMatchObject({ code: ResetCode.ENHANCE_YOUR_CALM });
  });
});

describe('Connection table: faults of one stream', () => {
  const fault = (code: number, reason: string): StreamFault => new StreamFault(1, code, reason);

  it.each<[string, readonly CompleteFrame[], string]>([
    ['more beside a payload', [frame({ payload: 1, more: true })], "expected a fragment beside 'more', got a payload"],
    ['more beside nothing', [frame({ more: true })], "expected a fragment beside 'more', got none"],
    ['end on a fragment with more', [more('a', { end: true })], "expected 'end' and 'trailers' on the last fragment only"],
    ['trailers on a fragment with more', [more('a', { trailers: {} })], "expected 'end' and 'trailers' on the last fragment only"],
    [
      'a payload in the middle of a sequence',
      [more('a'), frame({ payload: 1 })],
      'expected the next fragment of the data, got a data without one',
    ],
    [
      'a bare end in the middle of a sequence',
      [more('a'), frame({ end: true })],
      'expected the next fragment of the data, got a data without one',
    ],
    [
      'a data in the middle of an open',
      [more('a', { type: 'open' }), last('b')],
      'expected the next fragment of the open, got one of a data',
    ],
    [
      'an unknown type in the middle of an open',
      [more('a', { type: 'open' }), last('b', { type: 'x'.repeat(1_000) })],
      'expected the next fragment of the open, got one of a frame of an unknown type',
    ],
    [
      'a payload in the middle of an unknown type',
      [more('a', { type: 'x'.repeat(1_000) }), frame({ payload: 1 })],
      'expected the next fragment of the frame of an unknown type, got a data without one',
    ],
    [
      'an unknown type without a fragment',
      [more('a'), frame({ type: 'x'.repeat(1_000) })],
      'expected the next fragment of the data, got a frame of an unknown type without one',
    ],
  ])('Reassembly answers %s with PROTOCOL_ERROR', (_what, frames, reason) => {
    expect(accept(...frames)).toEqual(fault(ResetCode.PROTOCOL_ERROR, reason));
    expect(kept()).toEqual(NOTHING);
  });

  it('Reassembly answers fragments that do not decode with PROTOCOL_ERROR', () => {
    expect(accept(more('{'), last(''))).toMatchObject({ stream: 1, code: ResetCode.PROTOCOL_ERROR });
    expect(kept()).toEqual(NOTHING);
  });

  it('Reassembly answers a codec that throws no Error with PROTOCOL_ERROR', () => {
    const odd: Codec = { ...disguised(json), decodePayload: () => raise('text') };
    const strange = new Reassembly(odd, resolveLimits());
    expect(strange.accept(last('1'))).toEqual(fault(ResetCode.PROTOCOL_ERROR, 'fragments do not reassemble'));
  });

  it('Reassembly answers with the message of an error of another realm', () => {
    const odd: Codec = { ...disguised(json), decodePayload: () => raise(runInNewContext(`new TypeError('odd')`)) };
    const strange = new Reassembly(odd, resolveLimits());
    expect(strange.accept(last('1'))).toEqual(fault(ResetCode.PROTOCOL_ERROR, 'odd'));
  });
});

describe('Limits: checked before a fragment is kept', () => {
  it('Reassembly answers a payload over maxPayloadBytes with PAYLOAD_TOO_LARGE, naming limit and size', () => {
    start({ maxPayloadBytes: 5 });
    expect(accept(more('"abc'), more('d'))).toBeNull();
    expect(accept(last('"'))).toEqual(
      new StreamFault(1, ResetCode.PAYLOAD_TOO_LARGE, 'payload of at least 6 bytes is over the limit of 5 (maxPayloadBytes)'),
    );
    expect(kept()).toEqual(NOTHING);
  });

  it('Reassembly answers more than maxFragments with PROTOCOL_ERROR', () => {
    start({ maxFragments: 2 });
    expect(accept(more('1'), more('2'))).toBeNull();
    expect(accept(last('3'))).toEqual(new StreamFault(1, ResetCode.PROTOCOL_ERROR, 'payload of more than 2 fragments (maxFragments)'));
    expect(kept()).toEqual(NOTHING);
  });

  it('Reassembly answers the stream that exceeds maxHeldBytes with ENHANCE_YOUR_CALM, and keeps the others', () => {
    start({}, 2 * MIN_CHARGE_BYTES);
    accept(more('"a'), more('"b', { stream: 3 }));
    expect(accept(more('c'))).toEqual(
      new StreamFault(1, ResetCode.ENHANCE_YOUR_CALM, '192 bytes held by this connection are over the limit of 128 (maxHeldBytes)'),
    );
    expect(accept(last('"', { stream: 3 }))).toMatchObject({ payload: 'b' });
    expect(kept()).toEqual(NOTHING);
  });

  it('Reassembly ends the connection over maxEmptyFragments of all streams; an empty last fragment is free', () => {
    start({ maxEmptyFragments: 2 });
    accept(more(''), last('1'), more('2', { stream: 3 }), last('', { stream: 3 }), more('', { stream: 5 }));
    const tooMany = thrownBy(() => accept(more('', { stream: 7 })));
    expect(tooMany).toBeInstanceOf(ConnectionFault);
    expect(tooMany).toMatchObject({ resetCode: ResetCode.ENHANCE_YOUR_CALM, closeCode: CloseCode.POLICY });
    expect(tooMany).toMatchObject({ message: 'more than 2 empty fragments (maxEmptyFragments)' });
  });
});

describe('Connection table: a reset in the middle of a fragment sequence', () => {
  it('A reset in the middle of a fragment sequence ends the sequence', () => {
    const reset = frame({ type: 'reset', code: 8 });
    expect(accept(more('"a'), reset)).toBe(reset);
    expect(kept()).toEqual(NOTHING);
  });

  it('A reset drops the fragments of its stream, and may come in fragments itself', () => {
    const fields = { type: 'reset', code: 16, reason: 'r' };
    expect(accept(more('"a'), more('{"name"', fields))).toBeNull();
    expect(held.used).toBe(MIN_CHARGE_BYTES);
    expect(accept(last(':"E"}', fields))).toStrictEqual(frame({ ...fields, payload: { name: 'E' } }));
    expect(kept()).toEqual(NOTHING);
  });

  it('A whole reset drops the fragments of a fragmented one', () => {
    accept(more('"a', { type: 'reset' }), frame({ type: 'reset', code: ResetCode.CANCEL }));
    expect(kept()).toEqual(NOTHING);
  });

  it('A reset whose payload does not decode ends its stream', () => {
    const fields = { type: 'reset', code: 16, reason: 'r' };
    expect(accept(more('{', fields), last('', fields))).toStrictEqual(frame({ ...fields, payload: ABSENT }));
    expect(kept()).toEqual(NOTHING);
  });
});

describe('a reset of two kinds of fragments', () => {
  it('A reset whose fragments are of two kinds ends its stream as a whole frame, despite its more', () => {
    const fields = { type: 'reset', code: 16, reason: 'r' };
    const bytes = frame({ ...fields, fragment: Uint8Array.of(1).buffer, more: true });
    expect(accept(more('{', fields), bytes)).toStrictEqual(frame({ ...fields, payload: ABSENT }));
    expect(kept()).toEqual(NOTHING);
  });
});

describe('ConnectionFault', () => {
  it('A ConnectionFault is a protocol error that closes with 1002 by default', () => {
    const cause = new Error('inner');
    expect(new ConnectionFault('odd')).toMatchObject({ code: 'PROTOCOL', resetCode: ResetCode.PROTOCOL_ERROR, closeCode: 1002 });
    expect(new ConnectionFault('odd', ResetCode.INTERNAL_ERROR, 1011, { cause })).toMatchObject({ resetCode: 2, closeCode: 1011, cause });
  });
});

function raise(value: unknown): never {
  throw value;
}

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return null;
}
