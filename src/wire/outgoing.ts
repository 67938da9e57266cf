import { checkedMessage, isNearer } from './codec.js';
import type { Codec, Message } from './codec.js';
import { ABSENT } from './frame.js';
import type { CompleteFrame, Frame, Metadata } from './frame.js';
import type { DecodeLimits } from './limits.js';

/**
 * A frame whose payload was encoded when the caller passed it. So the frame carries the value as it was at the call. The payload is
 * encoded once, however often the frame is measured or cut. Observers see an ordinary frame.
 *
 * Each frame has one, which travels all the way to the socket. `stream` is set when a socket takes its stream.
 */
export class OutgoingFrame implements CompleteFrame {
  readonly type: string;
  stream: number | null;
  readonly payload: unknown;
  readonly fragment = null;
  readonly more = false;
  readonly headers: Readonly<Metadata> | null;
  readonly end: boolean;
  readonly trailers: Readonly<Metadata> | null;
  readonly code: number | null;
  readonly reason: string | null;
  readonly nonce: string | null;
  readonly last_stream: number | null;
  readonly #encodedPayload: Message | null;
  readonly #codec: Codec | null;
  readonly #source: unknown;
  readonly #isSmall: boolean;

  constructor(frame: Frame, encodedPayload: null);
  /**
   * @param codec the codec that encoded the payload
   * @param source the value that was encoded, or the object around it that several frames share
   */
  constructor(frame: Frame, encodedPayload: Message | null, codec: Codec, source?: unknown, isSmall?: boolean);
  constructor(frame: Frame, encodedPayload: Message | null, codec: Codec | null = null, source: unknown = null, isSmall = false) {
    this.type = frame.type;
    this.stream = frame.stream ?? null;
    this.payload = encodedPayload === null ? ABSENT : frame.payload;
    this.headers = frame.headers ?? null;
    this.end = frame.end ?? false;
    this.trailers = frame.trailers ?? null;
    this.code = frame.code ?? null;
    this.reason = frame.reason ?? null;
    this.nonce = frame.nonce ?? null;
    this.last_stream = frame.last_stream ?? null;
    this.#encodedPayload = encodedPayload;
    this.#codec = codec;
    this.#source = source;
    this.#isSmall = isSmall;
  }

  /** Whether its sender found that it fits a message under any id. */
  get isSmall(): boolean {
    return this.#isSmall;
  }

  /** A rough length of the encoded payload, exact enough for sharing turns. It does not measure text. */
  get roughBytes(): number {
    const encoded = this.#encodedPayload ?? '';
    return typeof encoded === 'string' ? encoded.length : encoded.byteLength;
  }

  /** The value that was encoded, or the object around it that several frames share. */
  get source(): unknown {
    return this.#source;
  }

  /** Returns the payload's encoded form; `null` for a frame without payload, or that was not prepared here. */
  static encodedPayload(frame: Frame): Message | null {
    return #encodedPayload in frame ? frame.#encodedPayload : null;
  }

  /** Like {@link encodedPayload}, but only if `codec` encoded it: an operator of a user may have another codec. */
  static encodedBy(codec: Codec, frame: Frame): Message | null {
    return #encodedPayload in frame && frame.#codec === codec ? frame.#encodedPayload : null;
  }
}

/** Returns the encoded payload or the fragment of a frame; `null` if it is nothing but its envelope. */
export function encodedPartOf(frame: Frame): Message | null {
  return frame.fragment ?? OutgoingFrame.encodedPayload(frame);
}

// No limit: this side had the value in memory when it encoded the value.
const OWN: DecodeLimits = { maxPayloadItems: Infinity };

/** Encodes one frame to one message, and reuses the payload that this codec has encoded. */
export function encodeFrame(frame: Frame, codec: Codec): Message {
  return frameEncoder(codec)(frame);
}

/** {@link encodeFrame} for many frames of one codec, which is inspected once. */
export function frameEncoder(codec: Codec): (frame: Frame) => Message {
  const joining = joins(codec) ? codec : null;
  return (frame) => {
    const encoded = OutgoingFrame.encodedBy(codec, frame);
    if (encoded === null) return checkedMessage(codec, codec.encode(frame));
    if (joining !== null) return checkedMessage(codec, joining.encodeWith(frame, encoded));
    return checkedMessage(codec, codec.encode({ ...frame, payload: codec.decodePayload(encoded, OWN) }));
  };
}

/** Whether `encodeWith` may replace `encode`. Not if a subclass or a wrapper overrides only `encode`, which would be bypassed. */
function joins(codec: Codec): codec is Codec & Required<Pick<Codec, 'encodeWith'>> {
  return codec.encodeWith !== undefined && isNearer(codec, 'encodeWith', 'encode');
}
