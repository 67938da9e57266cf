import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { laneOf } from './lanes.js';
import { PICTURES } from './pictures.js';
import type { Picture } from './pictures.js';
import type { MarbleRow } from './recorded.js';
import { draw } from './svg.js';
import type { NamedLane } from './svg.js';

export const FOLDER = join(__dirname, '../../../docs/pictures');

const FRAMES: Readonly<Record<string, string>> = {
  o: 'open',
  d: 'data',
  e: 'data with the end',
  r: 'reset',
  n: 'reset without an error',
  f: 'reset after a failure',
  x: 'refusal',
  t: 'reset at the deadline',
  p: 'ping',
  q: 'pong',
  g: 'goaway',
};

/** Explains the letters of a picture's frames, and its lines. */
function keyOf({ capitals, key }: Picture, lanes: readonly NamedLane[]): string[] {
  const letters = lanes.filter(({ shape }) => shape === 'frames').flatMap(({ moments }) => moments.flatMap((moment) => moment.letters));
  const used = Object.entries(FRAMES).filter(([letter]) => letters.some((each) => each.toLowerCase() === letter));
  const isSubscribed = lanes.some(({ subscriptions }) => subscriptions !== null);
  const hasCapitals = letters.some((letter) => letter !== letter.toLowerCase());
  return [
    [...used.map(([letter, meaning]) => `${letter} ${meaning}`), ...(isSubscribed ? ['blue line: subscribed'] : [])].join(' · '),
    capitals ?? (hasCapitals ? "Capital letters are the server's." : ''),
    key ?? '',
  ].filter((line) => line !== '');
}

function drawn(picture: Picture, rows: readonly MarbleRow[]): string {
  const lanes = picture.rows.map(([nth, name, shape = 'values', last]): NamedLane => {
    const row = rows[nth];
    if (row === undefined) throw new RangeError(`expected a row of the picture ${picture.name} below ${rows.length}, got ${nth}`);
    return { ...laneOf(row, last === 'taken'), name, shape };
  });
  return draw({
    id: picture.name,
    title: picture.title,
    description: picture.rows.map(([nth, name]) => `${name}: ${rows[nth]?.marbles.trim() ?? ''}`).join('\n'),
    lanes,
    key: keyOf(picture, lanes),
  });
}

/** The picture that the current test draws. */
export const currentPicture = (): Picture | undefined =>
  PICTURES.find(({ test }) => expect.getState().currentTestName?.endsWith(test) === true);

/** Compares a committed picture with the rows of its test, or writes it: `PICTURES=write npx jest marbles`. */
export function checkPicture(picture: Picture, rows: readonly MarbleRow[]): void {
  const path = join(FOLDER, `${picture.name}.svg`);
  const svg = drawn(picture, rows);
  if (process.env['PICTURES'] === 'write') writeFileSync(path, svg);
  expect(readFileSync(path, 'utf8')).toBe(svg);
}
