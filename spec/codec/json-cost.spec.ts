import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { quotedLength } from '../../src/codec/json.js';
import { encodedLength } from '../../src/wire/length.js';
import { awkwardText } from '../support/wire/arbitraries.js';

const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };

describe('quotedLength', () => {
  const expectQuoted = (json: string): void => {
    expect(quotedLength(json)).toBe(encodedLength(JSON.stringify(json)) - 2);
  };

  it('`quotedLength` measures random JSON text as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(awkwardText(20), fc.nat(2_100), (value, spread) => {
        expectQuoted(JSON.stringify(`${value}${'x'.repeat(spread)}`.repeat(4)));
      }),
      { ...SEED, numRuns: 500 },
    );
  });

  it.each(['"', '\\', 'é', '€', '😀', '!', '#', '[', ']', '\u0022\u0023', '\u00a2', '\u00dc'])(
    '`quotedLength` measures a text of many %j as JSON.stringify writes it, at each length around a piece and a word',
    (character) => {
      for (const units of [0, 1, 2, 3, 4, 5, 1_022, 1_023, 1_024, 1_025, 1_026, 3_000]) {
        for (const around of ['', '"', 'x"', '\\xx']) expectQuoted(around + character.repeat(units) + around);
      }
    },
  );

  it('`quotedLength` counts no quote that the text before it left behind', () => {
    quotedLength('"'.repeat(1_024));
    expect(quotedLength('"xx')).toBe(4);
  });
});
