import type { FrameType } from '../wire/frame.js';
import type { Frame } from '../wire/frame.js';
import { ResetCode } from '../wire/codes.js';

/** The letters of a frame diagram: open, data, end, reset, ping, pong (`q`), goaway. */
export type FrameLetters = Record<'o' | 'd' | 'e' | 'r' | 'p' | 'q' | 'g', Frame>;

/**
 * Returns frames of one stream for a marble diagram, by letter. A second argument adds letters of your own: their `type` defaults to
 * `data`, and their `stream` to this stream.
 *
 * @param stream the stream's id; default 1
 *
 * @example
 * ```ts
 * const frames = frameMarbles(1, { x: { payload: 42 } });
 * const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
 * scheduler.run(({ cold }) => cold('--o-x-e|', frames).subscribe(({ type }) => console.log(type))); // open, data, data
 * ```
 */
export function frameMarbles(stream?: number): FrameLetters;
export function frameMarbles<K extends string>(stream: number, more: Record<K, Partial<Frame>>): FrameLetters & Record<K, Frame>;
export function frameMarbles(stream = 1, more: Record<string, Partial<Frame>> = {}): Record<string, Frame> {
  const frames: Readonly<Record<FrameType, Frame>> = {
    open: { type: 'open', stream },
    data: { type: 'data', stream, payload: 'd' },
    reset: { type: 'reset', stream, code: ResetCode.CANCEL },
    ping: { type: 'ping', nonce: 'n' },
    pong: { type: 'pong', nonce: 'n' },
    goaway: { type: 'goaway', code: ResetCode.NO_ERROR, last_stream: 0 },
  };
  const { open: o, data: d, reset: r, ping: p, pong: q, goaway: g } = frames;
  const letters: FrameLetters = { o, d, e: { type: 'data', stream, end: true }, r, p, q, g };
  const own = Object.entries(more).map(([letter, frame]) => [letter, { type: 'data', stream, ...frame }] as const);
  return { ...letters, ...Object.fromEntries(own) };
}
