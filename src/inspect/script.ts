import { optionError } from '../util/check.js';
import { hasContent } from './recording.js';
import type { Line, RecordedFrame } from './recording.js';

/** A line whose message decodes. */
export interface FrameLine extends Line {
  readonly f: RecordedFrame;
}

/** One connection of a recording, as a player reads it. */
export interface Script {
  /** The lines of the played side. */
  readonly played: readonly FrameLine[];
  /** The lines of the other side. */
  readonly heard: readonly FrameLine[];
  /** How many lines are in neither: of streams whose open was not recorded, and of messages that do not decode. */
  readonly skipped: number;
}

/** A side of a recording. */
export type RecordedSide = 'dialer' | 'acceptor';

/** The sign of each side in a line. */
const SIGNS: Readonly<Record<RecordedSide, Line['d']>> = { dialer: '>', acceptor: '<' };

/**
 * Reads one connection of a recording.
 *
 * @throws TypeError for an unknown side, for a connection without lines, and for a played line whose content was left out
 */
export function scriptOf(lines: readonly Line[], side: RecordedSide, connection: number): Script {
  if (!Object.hasOwn(SIGNS, side)) throw optionError('side', "'dialer' or 'acceptor'", side);
  const all = lines.filter(({ c }) => c === connection);
  if (all.length === 0) throw new TypeError(`expected frames of connection ${connection} in the recording, got none`);
  const frames = all.filter((line): line is FrameLine => line.f !== null);
  const opened = new Set(frames.filter(isOpen).map(streamOf));
  const known = frames.filter((line) => streamOf(line) === null || opened.has(streamOf(line)));
  const played = known.filter(({ d }) => d === SIGNS[side]);
  const bare = played.find((line) => !hasContent(line));
  if (bare !== undefined) throw new TypeError(`expected a recording with payloads, got only sizes at ${bare.t} ms`);
  return { played, heard: known.filter(({ d }) => d !== SIGNS[side]), skipped: all.length - known.length };
}

/** Whether a line opens a stream. */
export function isOpen({ f }: FrameLine): boolean {
  return f['type'] === 'open';
}

/** The stream of a line; `null` for a frame of the connection. */
export function streamOf({ f }: FrameLine): unknown {
  return f['stream'] ?? null;
}
