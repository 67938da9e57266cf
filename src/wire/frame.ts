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

/** Whether a frame has no field beside its type, stream, headers, payload and end. */
export function hasOnlyPayload({ fragment, more, trailers, code, reason, nonce, last_stream }: Frame): boolean {
  return fragment == null && more !== true && trailers == null && code == null && reason == null && nonce == null && last_stream == null;
}
