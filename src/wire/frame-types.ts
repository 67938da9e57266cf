import type { CompleteFrame } from './frame.js';

/** The frame types that a v1 peer sends. */
export type FrameType = 'open' | 'data' | 'reset' | 'ping' | 'pong' | 'goaway';

/** What the frames of a type have in common. */
interface FrameTraits {
  /** Who takes them: the stream with their id, or the connection. */
  readonly scope: 'stream' | 'connection';
  /** How they leave: ahead of all data, in turn with other streams as their payload may be large, or as their code says. */
  readonly lane: 'control' | 'turn' | 'by code';
  /** Whether their code and reason mean something. */
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

/** A frame that its stream takes: the compiler sees a taker that misses a type. */
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

/** A frame's type for messages. An unknown type is the remote's own text, of any length, so it is not quoted. */
export function typeName(type: string): string {
  return isFrameType(type) ? type : UNKNOWN_TYPE;
}

/** {@link typeName} of a frame that is called one: `'data' frame`. */
export function frameName(type: string): string {
  return isFrameType(type) ? `'${type}' frame` : UNKNOWN_TYPE;
}

const UNKNOWN_TYPE = 'frame of an unknown type';
