import { asyncScheduler, map, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import type { FrameEvent } from '../peer/events.js';
import type { Frame } from '../wire/frame.js';
import { frameMarbles } from './frames.js';

/** A longer gap is printed as a time. */
const LONGEST_DASHES = 10;

const { e: END, ...WHOLE } = frameMarbles();
const LETTERS: ReadonlyMap<string, string> = new Map(Object.entries(WHOLE).map(([letter, { type }]) => [type, letter]));

interface Mark {
  readonly row: string;
  readonly letter: string;
  readonly at: number;
}

/**
 * Draws the frames of a session as a marble diagram in plain text, when the session has ended. The diagram has a row per stream and
 * direction, a character per ms from the first frame on, and the letters of `frameMarbles`.
 *
 * Frames of the same ms stand in brackets, and a long gap is written as its time. You can paste a row into a test. If frames follow a
 * bracket before its width has passed, the row moves them apart.
 *
 * @example
 * ```ts
 * peer.frames$.pipe(printMarbles()).subscribe(console.log);
 * // stream 1 tx  o----
 * // stream 1 rx  --d-e
 * ```
 */
export function printMarbles(): (frames$: Observable<FrameEvent>) => Observable<string> {
  return (frames$) => frames$.pipe(map(markOf), toArray(), map(draw));
}

function markOf({ direction, frame }: FrameEvent): Mark {
  const of = frame.stream == null ? 'connection' : `stream ${frame.stream}`;
  return { row: `${of} ${direction}`, letter: letterOf(frame), at: asyncScheduler.now() };
}

function letterOf(frame: Frame): string {
  if (frame.type === END.type && frame.end === true) return 'e';
  return LETTERS.get(frame.type) ?? '?';
}

function draw(marks: readonly Mark[]): string {
  const rows = new Map([...new Set(marks.map(({ row }) => row))].map((row) => [row, '']));
  const widest = Math.max(0, ...[...rows.keys()].map(({ length }) => length));
  let free = marks[0]?.at ?? 0;
  for (const at of new Set(marks.map((mark) => mark.at))) {
    const gap = filler(at - free);
    const cells = new Map([...rows.keys()].map((row) => [row, cell(marks.filter((mark) => mark.row === row && mark.at === at))]));
    const width = Math.max(...[...cells.values()].map(({ length }) => length));
    for (const [row, text] of rows) rows.set(row, text + gap + (cells.get(row) ?? '').padEnd(width, '-'));
    free = Math.max(at, free) + width;
  }
  return [...rows].map(([row, text]) => `${row.padEnd(widest)}  ${text}`).join('\n');
}

function cell(marks: readonly Mark[]): string {
  const letters = marks.map(({ letter }) => letter).join('');
  return letters.length > 1 ? `(${letters})` : letters;
}

function filler(gap: number): string {
  return gap > LONGEST_DASHES ? ` ${gap}ms ` : '-'.repeat(Math.max(0, gap));
}
