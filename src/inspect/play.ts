import { asyncScheduler, concatMap, defer, filter, from, isObservable, map, merge, mergeMap, of, take, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Line, RecordedFrame } from './recording.js';
import { checkOptions, optionError } from '../util/check.js';
import { LONGEST_TIMER_MS } from '../util/time.js';
import { isOpen, scriptOf, streamOf } from './script.js';
import type { FrameLine, RecordedSide, Script } from './script.js';

/** Options of {@link play}. */
export interface PlayOptions {
  /** The side whose frames are played. */
  readonly side: RecordedSide;
  /** Emits each frame that comes from the other side. */
  readonly heard$: Observable<RecordedFrame>;
  /** The connection of the recording. Default 1. */
  readonly connection?: number | undefined;
  /** The speed as a multiple of the recorded one; `Infinity` plays at once. Default 1. */
  readonly speed?: number | undefined;
}

/**
 * Plays one side of a recording. It emits the frames of that side in the recorded time, on the clock of rxjs, and completes after the
 * last one. A frame of a stream that the other side opens waits for its open, and keeps its distance to the open.
 *
 * It leaves out pongs, streams whose open is missing in the recording, and messages that do not decode.
 *
 * @throws TypeError for an unknown side, a `heard$` that is no Observable, and a speed that is not above 0; for a connection without
 *   lines, and a recording without payloads
 *
 * @example
 * ```ts
 * play(readLines(text), { side: 'dialer', heard$ }).subscribe((frame) => socket.send(JSON.stringify(frame)));
 * ```
 */
export function play(lines: readonly Line[], options: PlayOptions): Observable<RecordedFrame> {
  checkOptions(options, { side: true, heard$: true, connection: true, speed: true });
  const { side, heard$, connection = 1, speed = 1 } = options;
  if (!isObservable(heard$)) throw optionError('heard$', 'an Observable', heard$);
  return playScript(scriptOf(lines, side, connection), heard$, speed);
}

/**
 * Plays a script, as {@link play} does.
 *
 * @throws TypeError for a speed that is not above 0, which would never end
 */
export function playScript({ played, heard }: Script, heard$: Observable<RecordedFrame>, speed: number): Observable<RecordedFrame> {
  if (!(speed > 0)) throw optionError('speed', 'a number above 0', speed);
  const begin = Math.min(...[played, heard].flatMap(([line]) => line?.t ?? []));
  const opens = new Map(heard.filter(isOpen).map((line) => [streamOf(line), line]));
  const own = played.filter((line) => !opens.has(streamOf(line)) && line.f['type'] !== 'pong');
  const answers = new Map([...opens.keys()].map((stream): [unknown, FrameLine[]] => [stream, []]));
  for (const line of played) answers.get(streamOf(line))?.push(line);
  const answered$ = heard$.pipe(
    filter(({ type, stream }) => type === 'open' && opens.has(stream)),
    take(opens.size),
    mergeMap(({ stream }) => inTime(answers.get(stream) ?? [], opens.get(stream)?.t ?? 0, speed)),
  );
  return merge(answered$, inTime(own, begin, speed));
}

/** Emits the frames of lines in their time. At the subscription it is `begin` ms. */
function inTime(lines: readonly FrameLine[], begin: number, speed: number): Observable<RecordedFrame> {
  return defer(() => {
    const began = asyncScheduler.now();
    return from(lines).pipe(
      concatMap(({ t, f }) => {
        const delayMs = began + (t - begin) / speed - asyncScheduler.now();
        return delayMs > 0 ? timer(Math.min(delayMs, LONGEST_TIMER_MS)).pipe(map(() => f)) : of(f);
      }),
    );
  });
}
