import type { CompleteFrame } from './frame.js';

/** The frame types that a v1 peer sends. */
export type FrameType = 'open' | 'data' | 'reset' | 'ping' | 'pong' | 'goaway';

/** The traits that all frames of a type share. */
interface FrameTraits {
  /** The receiver: the stream with the id of the frame, or the connection. */
  readonly scope: 'stream' | 'connection';
  /** How the frames leave: ahead of all data, or in turn with other streams since their payload may be large, or by their code. */
  readonly lane: 'control' | 'turn' | 'by code';
  /** Whether their code and reason have a meaning. */
  readonly isReasoned: boolean;
}

/** Each frame type of v1. */
export const FRAME_TYPES = {
  open: { scope: 'stream', lane: 'turn', isReasoned: false },
  data: { scope: 'stream', lane: 'turn', isReasoned: false },
  reset: { scope: 'stream', lane: 'by code', isReasoned: true },
  ping: { scope: 'connection', lane: 'control', isReasoned: false },
  pong: { scope: 'connection', lane: 'control', isReasoned: false },
  goaway: { scope: 'connection', lane: 'control', isReasoned: true },
} as const satisfies Readonly<Record<FrameType, FrameTraits>>;

type OfScope<S extends FrameTraits['scope']> = {
  [T in FrameType]: (typeof FRAME_TYPES)[T]['scope'] extends S ? FrameOf<T> : never;
}[FrameType];

/** A frame of one type. */
export type FrameOf<T extends FrameType> = CompleteFrame & { readonly type: T };

/** A frame that its stream takes. The compiler reports a `switch` that misses a type. */
export type StreamFrame = OfScope<'stream'>;

/** A frame that the connection takes. */
export type ConnectionFrame = OfScope<'connection'>;

/**
 * The frame types that a v1 peer sends. A receiver ignores a frame of any other type; that is not an error.
 *
 * @example
 * ```ts
 * [...V1_FRAME_TYPES];                     // ['open', 'data', 'reset', 'ping', 'pong', 'goaway']
 * V1_FRAME_TYPES.has('window_update');     // false: reserved, no peer of v1 sends it
 * ```
 */
export const V1_FRAME_TYPES: ReadonlySet<string> = new Set(Object.keys(FRAME_TYPES));

/** Whether a frame's type is one of v1. */
export function isFrameType(type: string): type is FrameType {
  return V1_FRAME_TYPES.has(type);
}

/** Returns a frame's type for messages. An unknown type is a text of the remote, of any length, so it is not quoted. */
export function typeName(type: string): string {
  return isFrameType(type) ? type : UNKNOWN_TYPE;
}

/** Returns {@link typeName} with the noun: `'data' frame`. */
export function frameName(type: string): string {
  return isFrameType(type) ? `'${type}' frame` : UNKNOWN_TYPE;
}

const UNKNOWN_TYPE = 'frame of an unknown type';
