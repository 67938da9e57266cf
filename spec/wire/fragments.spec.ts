import { expect, it } from '@jest/globals';
import { Buffer } from 'node:buffer';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Fragments } from '../../src/wire/reassembly.js';
import { encodedLength } from '../../src/wire/length.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const PIECE_BYTES = 32 * 1024;
const PIECES = 256;
const LENGTH = PIECES * PIECE_BYTES;
const MESSAGES = 5;

const ascii = (): string => Buffer.alloc(PIECE_BYTES, 'x').toString('latin1');
const beyond = (): string => `${ascii().slice(1)}→`;

/** The live bytes of objects that the collector never moves. */
function unmovedBytes(): number {
  collectGarbage();
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name.includes('large_object'))
    .reduce((sum, space) => sum + space.space_used_size, 0);
}

function filled(piece: (nth: number) => string): Fragments {
  const fragments = new Fragments();
  for (let nth = 0; nth < PIECES; nth++) {
    const text = piece(nth);
    fragments.add(1, text, encodedLength(text));
  }
  return fragments;
}

/**
 * The most bytes of such objects that a message's fragments took, among several. A collection may also release what earlier files of tests have
 * left, which makes the difference smaller.
 */
function unmovedBytesOf(piece: (nth: number) => string): number {
  const differences = Array.from({ length: MESSAGES }, () => {
    const before = unmovedBytes();
    const fragments = filled(piece);
    const bytes = unmovedBytes() - before;
    expect(fragments.count).toBe(PIECES);
    return bytes;
  });
  return Math.max(...differences);
}

it('Fragments keeps a long ASCII text where the collector of V8 never moves it', () => {
  expect(unmovedBytesOf(ascii)).toBeGreaterThan(LENGTH / 2);
});

it('Fragments joins no ASCII slice with text beyond ASCII before the end, since the limits count half the memory of such a group', () => {
  expect(unmovedBytesOf((nth) => (nth % 8 === 7 ? beyond() : ascii()))).toBeLessThan(LENGTH / 2);
});

it.each([
  ['ASCII', ascii],
  ['text beyond ASCII', beyond],
  ['both by turns', (nth: number) => (nth % 50 === 49 ? beyond() : ascii())],
])('Fragments joins slices in order, and starts anew afterwards: %s', (_what, piece) => {
  const numbered = (nth: number): string => `${nth}${piece(nth)}`;
  const fragments = filled(numbered);
  expect(fragments.join() === Array.from({ length: PIECES }, (_, nth) => numbered(nth)).join('')).toBe(true);
  expect([fragments.count, fragments.byteLength]).toEqual([0, 0]);
  for (const text of ['a', 'b']) fragments.add(1, text, 1);
  expect([fragments.count, fragments.join()]).toEqual([2, 'ab']);
});
