import { asyncScheduler, Observable } from 'rxjs';
import type { FrameEvent } from '../peer/peer.js';
import type { Frame } from '../wire/frame.js';

/** A gap longer than this is printed as a time. */
const LONGEST_DASHES = 10;

const LETTERS: ReadonlyMap<string, string> = new Map([
  ['open', 'o'],
  ['data', 'd'],
  ['reset', 'r'],
  ['ping', 'p'],
  ['pong', 'q'],
  ['goaway', 'g'],
]);

interface Mark {
  readonly row: string;
  readonly letter: string;
  readonly at: number;
}

/**
 * Draws the frames of a session as a marble diagram in plain text, when the session has ended: a row per stream and
 * direction, a column per ms, the letters of `frameMarbles`. Where a column holds several frames they stand in brackets; a
 * long gap is written as its time.
 *
 * @example
 * ```ts
 * peer.frames$.pipe(printMarbles()).subscribe(console.log);
 * // stream 1 tx  o----
 * // stream 1 rx  --d-e
 * ```
 */
export function printMarbles(): (frames$: Observable<FrameEvent>) => Observable<string> {
  return (frames$) =>
    new Observable((subscriber) => {
      const marks: Mark[] = [];
      return frames$.subscribe({
        next({ direction, frame }) {
          const of = frame.stream == null ? 'connection' : `stream ${frame.stream}`;
          marks.push({ row: `${of} ${direction}`, letter: letterOf(frame), at: asyncScheduler.now() });
        },
        error(error) {
          subscriber.error(error);
        },
        complete() {
          subscriber.next(draw(marks));
          subscriber.complete();
        },
      });
    });
}

function letterOf(frame: Frame): string {
  if (frame.type === 'data' && frame.end === true) return 'e';
  return LETTERS.get(frame.type) ?? '?';
}

function draw(marks: readonly Mark[]): string {
  const rows = new Map([...new Set(marks.map(({ row }) => row))].map((row) => [row, '']));
  const widest = Math.max(0, ...[...rows.keys()].map(({ length }) => length));
  let previous: number | null = null;
  for (const at of new Set(marks.map((mark) => mark.at))) {
    const gap = previous === null ? '' : filler(at - previous - 1);
    const cells = new Map([...rows.keys()].map((row) => [row, cell(marks.filter((mark) => mark.row === row && mark.at === at))]));
    const width = Math.max(...[...cells.values()].map(({ length }) => length));
    for (const [row, text] of rows) rows.set(row, text + gap + (cells.get(row) ?? '').padEnd(width, '-'));
    previous = at;
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
