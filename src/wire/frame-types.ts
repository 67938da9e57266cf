/** The frame types that a v1 peer sends. */
export type FrameType = 'open' | 'data' | 'reset' | 'ping' | 'pong' | 'goaway';

/**
 * The frame types that a v1 peer sends. A receiver ignores a frame of any other type; that is not an error.
 *
 * @example
 * ```ts
 * [...V1_FRAME_TYPES];                     // ['open', 'data', 'reset', 'ping', 'pong', 'goaway']
 * V1_FRAME_TYPES.has('window_update');     // false: reserved, no peer of v1 sends it
 * ```
 */
export const V1_FRAME_TYPES: ReadonlySet<string> = new Set<FrameType>(['open', 'data', 'reset', 'ping', 'pong', 'goaway']);

/** A frame's type for messages. One that is unknown is the remote's own text, of any length, and is not quoted. */
export function typeName(type: string): string {
  return V1_FRAME_TYPES.has(type) ? type : UNKNOWN_TYPE;
}

/** {@link typeName} of a frame that is called one: `'data' frame`. */
export function frameName(type: string): string {
  return V1_FRAME_TYPES.has(type) ? `'${type}' frame` : UNKNOWN_TYPE;
}

const UNKNOWN_TYPE = 'frame of an unknown type';
