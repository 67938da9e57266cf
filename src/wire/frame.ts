import { isArrayBuffer, isPlainObject } from '../util/check.js';

/**
 * Stands for "no payload", which differs from a payload of `null`: an absent payload has no key on the wire.
 *
 * One instance per process; compare with `===`. `JSON.stringify` never emits it.
 *
 * @example
 * ```ts
 * String(ABSENT);                                  // 'Symbol(ABSENT)'
 * toMapping({ type: 'data', payload: ABSENT });    // { type: 'data' }
 * toMapping({ type: 'data', payload: null });      // { type: 'data', payload: null }
 * ```
 */
export const ABSENT: unique symbol = Symbol('ABSENT');

/** The type of {@link ABSENT}. */
export type Absent = typeof ABSENT;

/** Application metadata: string keys, any values the codec can carry. Headers and trailers are metadata. */
export type Metadata = Record<string, unknown>;

/** Metadata as a caller may pass it: an object typed by an interface has no index signature, hence `object`. */
export type MetadataInput = Readonly<Metadata> | object;

/** `tx`: this peer sends the frame; `rx`: it received the frame. */
export type FrameDirection = 'tx' | 'rx';

/**
 * One logical unit of the protocol, which is one WebSocket message. An object literal is a frame. Only `type` is required; a missing
 * field has its default.
 *
 * Field names are the names on the wire, so `last_stream` keeps its underscore. Compare frames with `framesEqual`.
 */
export interface Frame {
  /** The frame type. Types outside `V1_FRAME_TYPES` decode like any other type, but a peer ignores them. */
  readonly type: string;
  /** Stream id: odd for the dialer's streams, even for the acceptor's. Default `null`: the frame concerns the connection. */
  readonly stream?: number | null | undefined;
  /** The value of the application. Default {@link ABSENT}; `null` is a value. Never together with `fragment`. */
  readonly payload?: unknown;
  /** One slice of an encoded payload: text under a text codec, bytes under a binary one. Default `null`. */
  readonly fragment?: string | ArrayBuffer | null | undefined;
  /** `true` on every fragment except the last. Default `false`. */
  readonly more?: boolean | undefined;
  /** Metadata of the stream, sent once with this side's first frame, on its first fragment. Default `null`. */
  readonly headers?: Readonly<Metadata> | null | undefined;
  /** This side sends nothing more; carried on the last fragment. Default `false`. */
  readonly end?: boolean | undefined;
  /** Metadata that is known only after the payloads; carried with `end`, on the last fragment. Default `null`. */
  readonly trailers?: Readonly<Metadata> | null | undefined;
  /** A reset code, on `reset` and `goaway`. Any integer: an unknown code is preserved. Default `null`. */
  readonly code?: number | null | undefined;
  /** Human-readable text beside `code`; never parsed for meaning. Default `null`. */
  readonly reason?: string | null | undefined;
  /** Matches a pong with its ping; the pong repeats it verbatim. Default `null`. */
  readonly nonce?: string | null | undefined;
  /** On goaway: the highest stream id of the remote's parity that this peer has dispatched. Default `null`. */
  readonly last_stream?: number | null | undefined;
}

/** A frame with all twelve fields, each with its value or its default. */
export type CompleteFrame = { readonly [Field in keyof Frame]-?: Exclude<Frame[Field], undefined> };

/** Makes a frame with nothing but a payload, or headers and a payload. It has the same shape as every complete frame. */
export function payloadFrame(
  type: 'open' | 'data',
  stream: number,
  end: boolean,
  payload: unknown,
  headers: Readonly<Metadata> | null = null,
): CompleteFrame {
  return {
    type,
    stream,
    payload,
    fragment: null,
    more: false,
    headers,
    end,
    trailers: null,
    code: null,
    reason: null,
    nonce: null,
    last_stream: null,
  };
}

/**
 * Returns a frame with all twelve fields, so that every frame inside the library has one shape. Returns `frame` itself if it has them
 * all.
 */
export function completeFrame(frame: Frame): CompleteFrame {
  return isComplete(frame) ? frame : fillIn(frame);
}

function isComplete(frame: Frame): frame is CompleteFrame {
  return (
    frame.stream !== undefined &&
    frame.payload !== undefined &&
    frame.fragment !== undefined &&
    frame.more !== undefined &&
    frame.headers !== undefined &&
    frame.end !== undefined &&
    frame.trailers !== undefined &&
    frame.code !== undefined &&
    frame.reason !== undefined &&
    frame.nonce !== undefined &&
    frame.last_stream !== undefined
  );
}

/** Returns a new frame with all twelve fields. */
function fillIn(frame: Frame): CompleteFrame {
  return {
    type: frame.type,
    stream: frame.stream ?? null,
    payload: frame.payload === undefined ? ABSENT : frame.payload,
    fragment: frame.fragment ?? null,
    more: frame.more ?? false,
    headers: frame.headers ?? null,
    end: frame.end ?? false,
    trailers: frame.trailers ?? null,
    code: frame.code ?? null,
    reason: frame.reason ?? null,
    nonce: frame.nonce ?? null,
    last_stream: frame.last_stream ?? null,
  };
}

/** Whether a frame has no field beside its type, stream, headers, payload or fragment, more and end. */
export function hasOnlyContent({ trailers, code, reason, nonce, last_stream }: Frame): boolean {
  return trailers == null && code == null && reason == null && nonce == null && last_stream == null;
}

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

/** A field of a frame on the wire. */
export interface Field<T> {
  readonly key: keyof Frame;
  readonly kind: 'type' | 'id' | 'code' | 'flag' | 'text' | 'slice' | 'metadata' | 'payload';
  readonly accepts: (value: unknown) => value is T;
  readonly expected: string;
  /** Assumed when the key is missing, never written. `type` has none. */
  readonly fallback: T;
}

const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isText = (value: unknown): value is string | null => typeof value === 'string' || value === null;
const isType = (value: unknown): value is string | undefined => typeof value === 'string';
const isCode = (value: unknown): value is number | null => Number.isInteger(value) || value === null;
/** Whether a value is a stream id, or `null`. */
export const isId = (value: unknown): value is number | null => (Number.isSafeInteger(value) && Number(value) >= 0) || value === null;
const isSlice = (value: unknown): value is string | ArrayBuffer | null => isText(value) || isArrayBuffer(value);
const isMetadata = (value: unknown): value is Metadata | null => value === null || isPlainObject(value);
const isAnything = (value: unknown): value is unknown => value !== undefined;

const FLAG = { kind: 'flag', accepts: isFlag, expected: 'a boolean', fallback: false } as const;
const ID = { kind: 'id', accepts: isId, expected: 'an integer from 0 to 2^53 - 1 or null', fallback: null } as const;
const TEXT = { kind: 'text', accepts: isText, expected: 'a string or null', fallback: null } as const;
const METADATA = { kind: 'metadata', accepts: isMetadata, expected: 'a map with string keys or null', fallback: null } as const;

/**
 * The fields of a frame, in the order of an envelope. Code that reads and writes mappings, compares frames or encodes msgpack uses this
 * table. Hot paths spell the fields out, and a spec compares them with the table.
 */
export const FIELDS = {
  type: field('type', { kind: 'type', accepts: isType, expected: 'a string', fallback: undefined }),
  stream: field('stream', ID),
  code: field('code', { kind: 'code', accepts: isCode, expected: 'an integer or null', fallback: null }),
  end: field('end', FLAG),
  fragment: field('fragment', { kind: 'slice', accepts: isSlice, expected: 'a string, an ArrayBuffer or null', fallback: null }),
  headers: field('headers', METADATA),
  last_stream: field('last_stream', ID),
  more: field('more', FLAG),
  nonce: field('nonce', TEXT),
  payload: field('payload', { kind: 'payload', accepts: isAnything, expected: 'any value', fallback: ABSENT }),
  reason: field('reason', TEXT),
  trailers: field('trailers', METADATA),
} satisfies Record<keyof Frame, unknown>;

/** The fields in the order of an envelope. */
export const IN_ENVELOPE_ORDER: readonly Field<unknown>[] = /* @__PURE__ */ Object.values(FIELDS);

function field<T>(key: keyof Frame, kind: Omit<Field<T>, 'key'>): Field<T> {
  return { key, ...kind };
}
