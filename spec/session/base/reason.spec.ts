import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../../src/codec/json.js';
import { fittingReason } from '../../../src/connection/replies.js';
import type { Message } from '../../../src/wire/codec.js';
import { encodedLength } from '../../../src/wire/length.js';
import { CODECS } from '../../support/codec/shipped.js';

const RESET = { type: 'reset', stream: 1, code: 8 };
const TEXTS = [
  ['plain', 'x'],
  ['of two bytes each', 'é'],
  ['of four bytes each', '😀'],
  ['escaped', '\u0001'],
] as const;
const ALL = CODECS.flatMap(([name, codec]) => TEXTS.map(([kind, character]) => [name, kind, codec, character] as const));

describe('fittingReason', () => {
  it.each([
    ['short text', 'gone', 'gone'],
    ['exactly 1024 bytes', 'x'.repeat(1024), 'x'.repeat(1024)],
    ['one byte too long', 'x'.repeat(1025), 'x'.repeat(1024)],
    ['a code point across the edge', `${'x'.repeat(1023)}é`, 'x'.repeat(1023)],
    ['a surrogate pair across the edge', `${'x'.repeat(1022)}😀`, 'x'.repeat(1022)],
  ])('`fittingReason` cuts a reason to 1 024 bytes at a code point: %s', (_, reason, fitting) => {
    expect(fittingReason(reason, RESET, null, 65_536, new JsonCodec())).toBe(fitting);
  });

  it.each([65_536, 100])('`fittingReason` returns null for an empty reason, under a cap of %i', (cap) => {
    expect(fittingReason('', RESET, null, cap, new JsonCodec())).toBeNull();
  });

  it.each(ALL)('`fittingReason` fills a small cap as far as possible: %s, text %s', (_, __, codec, character) => {
    for (const cap of [60, 61, 62, 63, 64, 200, 1100]) {
      const text = character.repeat(2000);
      const fitting = fittingReason(text, RESET, null, cap, codec) ?? '';
      const bytes = (reason: string): number => encodedLength(codec.encode({ ...RESET, reason }));
      expect(text.startsWith(fitting)).toBe(true);
      expect(fitting.replaceAll(character, '') === '').toBe(true);
      expect(bytes(fitting)).toBeLessThanOrEqual(cap);
      expect(encodedLength(fitting)).toBeLessThanOrEqual(1024);
      const more = fitting + character;
      expect(bytes(more) > cap || encodedLength(more) > 1024).toBe(true);
    }
  });

  it('`fittingReason` keeps a short reason that fits a small cap', () => {
    expect(fittingReason('gone', RESET, null, 100, new JsonCodec())).toBe('gone');
  });

  it('`fittingReason` returns null when the cap holds the frame but no character of the reason', () => {
    const codec = new JsonCodec();
    const cap = encodedLength(codec.encode({ ...RESET, reason: '' }));
    expect(fittingReason('x', RESET, null, cap, codec)).toBeNull();
    expect(fittingReason('x', RESET, null, cap + 1, codec)).toBe('x');
  });

  it.each(CODECS)('`fittingReason` leaves half of the room for the slices of a payload: %s', (_, codec) => {
    const cap = 200;
    const payload = codec.encodePayload('p'.repeat(1000));
    const fitting = fittingReason('x'.repeat(1000), RESET, payload, cap, codec) ?? '';
    const slice = { ...RESET, fragment: emptyOf(payload), more: true };
    const bare = encodedLength(codec.encode(slice));
    const used = encodedLength(codec.encode({ ...slice, reason: fitting })) - bare;
    expect(used).toBeLessThanOrEqual((cap - bare) / 2);
    expect(used).toBeGreaterThan((cap - bare) / 2 - 2);
    expect(fitting).not.toBe('');
  });
});

function emptyOf(message: Message): Message {
  return typeof message === 'string' ? '' : new ArrayBuffer(0);
}
