import { expect, it } from '@jest/globals';
import { Buffer } from 'node:buffer';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Fragments } from '../../src/wire/fragments.js';
import { encodedLength } from '../../src/wire/length.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const PIECE_BYTES = 32 * 1024;
const PIECES = 256;
const LENGTH = PIECES * PIECE_BYTES;

const ascii = (): string => Buffer.alloc(PIECE_BYTES, 'x').toString('latin1');
const beyond = (): string => `${ascii().slice(1)}→`;

/** V8 releases what an earlier file of tests has left in several collections. */
const STEADY_COLLECTIONS = 3;

/** The live bytes of objects that the collector never moves, once further collections release nothing. */
function unmovedBytes(): number {
  let bytes = Infinity;
  for (let steady = 0; steady < STEADY_COLLECTIONS; steady++) {
    collectGarbage();
    const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => name.includes('large_object'));
    const used = spaces.reduce((sum, space) => sum + space.space_used_size, 0);
    if (used < bytes) steady = 0;
    bytes = used;
  }
  return bytes;
}

function filled(piece: (nth: number) => string): Fragments {
  const fragments = new Fragments();
  for (let nth = 0; nth < PIECES; nth++) {
    const text = piece(nth);
    fragments.add(1, text, encodedLength(text));
  }
  return fragments;
}

it('Fragments keeps a long ASCII text where the collector of V8 never moves it', () => {
  const before = unmovedBytes();
  const fragments = filled(ascii);
  expect(unmovedBytes() - before).toBeGreaterThan(LENGTH / 2);
  expect(fragments.count).toBe(PIECES);
});

it('Fragments joins no ASCII slice with text beyond ASCII before the end, since the limits count half the memory of such a group', () => {
  const before = unmovedBytes();
  const fragments = filled((nth) => (nth % 8 === 7 ? beyond() : ascii()));
  expect(unmovedBytes() - before).toBeLessThan(LENGTH / 2);
  expect(fragments.count).toBe(PIECES);
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
