import { checkedMessage, isNearer } from './codec.js';
import type { Codec, Message } from './codec.js';
import { ABSENT } from './frame.js';
import type { CompleteFrame, Frame, Metadata } from './frame.js';
import type { DecodeLimits } from './limits.js';

/**
 * A frame whose payload was encoded when the caller handed it over: what is sent is the value as it was at the call, and
 * it is encoded once, however often the frame is measured or cut. Observers see an ordinary frame.
 *
 * One is made for each frame and goes all the way to the socket; `stream` is set when a socket takes its stream.
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
  #isSmall = false;

  constructor(frame: Frame, encodedPayload: null);
  /** @param codec what has encoded it */
  constructor(frame: Frame, encodedPayload: Message | null, codec: Codec);
  constructor(frame: Frame, encodedPayload: Message | null, codec: Codec | null = null) {
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
  }

  /** Whether its sender found that it fits a message under any id. */
  get isSmall(): boolean {
    return this.#isSmall;
  }

  foundSmall(): void {
    this.#isSmall = true;
  }

  /** The payload's encoded form, or `null` for a frame that has none or was not prepared here. */
  static encodedPayload(frame: Frame): Message | null {
    return #encodedPayload in frame ? frame.#encodedPayload : null;
  }

  /** The same where it was `codec` that has encoded it: an operator that users put on frames may have another. */
  static encodedBy(codec: Codec, frame: Frame): Message | null {
    return #encodedPayload in frame && frame.#codec === codec ? frame.#encodedPayload : null;
  }
}

/** What a frame carries of a payload, encoded; `null` when it is nothing but its envelope. */
export function encodedPartOf(frame: Frame): Message | null {
  return frame.fragment ?? OutgoingFrame.encodedPayload(frame);
}

// No limit: this side had the value in memory when it encoded it.
const OWN: DecodeLimits = { maxPayloadItems: Infinity };

/** Encodes one frame to one message, without encoding again what this codec has prepared. */
export function encodeFrame(frame: Frame, codec: Codec): Message {
  return frameEncoder(codec)(frame);
}

/** {@link encodeFrame} for many frames of one codec, which is looked at once. */
export function frameEncoder(codec: Codec): (frame: Frame) => Message {
  const encodeAround = joins(codec)
    ? (frame: Frame, encoded: Message) => codec.encodeWith(frame, encoded)
    : (frame: Frame, encoded: Message) => codec.encode({ ...frame, payload: codec.decodePayload(encoded, OWN) });
  return (frame) => {
    const encoded = OutgoingFrame.encodedBy(codec, frame);
    return checkedMessage(codec, encoded === null ? codec.encode(frame) : encodeAround(frame, encoded));
  };
}

/** Whether `encodeWith` may stand in for `encode`: not where a subclass or a wrapper has overridden the latter alone, which would be bypassed. */
function joins(codec: Codec): codec is Codec & Required<Pick<Codec, 'encodeWith'>> {
  return codec.encodeWith !== undefined && isNearer(codec, 'encodeWith', 'encode');
}
