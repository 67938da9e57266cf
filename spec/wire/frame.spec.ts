import { describe, expect, it } from '@jest/globals';
import { V1_FRAME_TYPES } from '../../src/wire/frame.js';
import { ABSENT, completeFrame } from '../../src/wire/frame.js';
import { toMapping } from '../../src/wire/mapping.js';

describe('ABSENT', () => {
  it('ABSENT prints as Symbol(ABSENT)', () => {
    expect(String(ABSENT)).toBe('Symbol(ABSENT)');
  });

  it('ABSENT never appears in JSON', () => {
    expect(JSON.stringify({ payload: ABSENT })).toBe('{}');
    expect(toMapping({ type: 'data', payload: ABSENT })).not.toHaveProperty('payload');
  });

  it('ABSENT is not null', () => {
    expect(completeFrame({ type: 'data' }).payload).toBe(ABSENT);
    expect(completeFrame({ type: 'data', payload: undefined }).payload).toBe(ABSENT);
    expect(completeFrame({ type: 'data', payload: null }).payload).toBeNull();
  });
});

describe('V1_FRAME_TYPES', () => {
  it('V1_FRAME_TYPES holds the six types that a v1 peer sends, without the reserved window_update', () => {
    expect([...V1_FRAME_TYPES]).toEqual(['open', 'data', 'reset', 'ping', 'pong', 'goaway']);
  });
});

describe('Frame', () => {
  it('A complete frame has twelve fields, each with its default', () => {
    expect(completeFrame({ type: 'data' })).toStrictEqual({
      type: 'data',
      stream: null,
      payload: ABSENT,
      fragment: null,
      more: false,
      headers: null,
      end: false,
      trailers: null,
      code: null,
      reason: null,
      nonce: null,
      last_stream: null,
    });
  });

  const full = completeFrame({ type: 'data' });

  it('`completeFrame` returns a frame that has all twelve fields as it is', () => {
    expect(completeFrame(full)).toBe(full);
  });

  it.each(Object.keys(full).filter((field) => field !== 'type'))(
    '`completeFrame` sets %s to its default when only that field is missing',
    (field) => {
      expect(completeFrame({ ...full, [field]: undefined })).toStrictEqual(full);
    },
  );

  it('`completeFrame` keeps every value that is no default', () => {
    const frame = {
      type: 'reset',
      stream: 0,
      payload: '',
      fragment: '',
      more: true,
      headers: {},
      end: true,
      trailers: {},
      code: 0,
      reason: '',
      nonce: '',
      last_stream: 0,
    };
    expect(completeFrame(frame)).toStrictEqual(frame);
  });
});
