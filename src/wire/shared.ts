import { getOrMake } from '../util/collections.js';
import { checkedMessage, isNearer, unpacked } from './codec.js';
import type { Codec, Message, PackedPayload } from './codec.js';
import { Slicer, slicerToSend } from './fragment.js';
import type { FragmentCut, SliceCache } from './fragment.js';
import { hasOnlyContent } from './frame.js';
import type { Frame } from './frame.js';
import { encodedLength } from './length.js';
import { OutgoingFrame, frameEncoder } from './outgoing.js';

/** A part that many messages contain unchanged: an encoded payload, or an encoded fragment. */
export class SharedPart {
  /** The last message that has nothing beside this part and an envelope, and the fields of its frame. */
  last: (Pick<Frame, 'type' | 'stream' | 'end'> & { readonly message: SplitMessage }) | null = null;
  #byteLength: number | null = null;

  constructor(readonly encoded: Message) {}

  /** The length in bytes. */
  get byteLength(): number {
    return (this.#byteLength ??= encodedLength(this.encoded));
  }
}

/** One slice of a shared payload. */
export class SharedSlice implements FragmentCut {
  #part: SharedPart | null = null;

  constructor(
    /** The slice, before it is encoded as a fragment. */
    readonly fragment: Message,
    readonly end: number,
    readonly plain: boolean,
    private readonly codec: Codec,
  ) {}

  /** The slice as a message contains it. */
  get part(): SharedPart {
    return (this.#part ??= new SharedPart(checkedMessage(this.codec, this.codec.encodePayload(this.fragment))));
  }

  /** Records that a fragment frame has this slice. */
  mark(frame: Frame): void {
    SLICES.set(frame, this);
  }
}

/** One payload as one codec has encoded it, and its slices. The frames of many streams share them. */
export class SharedEncoding implements SliceCache {
  readonly part: SharedPart;
  /** Slices by the position at which they begin, then by the most bytes that they may take. */
  readonly #slices = new Map<number, Map<number, SharedSlice>>();

  constructor(
    readonly encoded: Message,
    private readonly codec: Codec,
  ) {
    this.part = new SharedPart(encoded);
  }

  slice(from: number, budget: number, cut: () => FragmentCut): SharedSlice {
    const slices = getOrMake(this.#slices, from, () => new Map<number, SharedSlice>());
    return slices.get(budget) ?? this.#keep(slices, budget, this.#made(from, cut()));
  }

  #made(from: number, { end, plain }: FragmentCut): SharedSlice {
    return new SharedSlice(this.encoded.slice(from, end), end, plain, this.codec);
  }

  #keep(slices: Map<number, SharedSlice>, budget: number, slice: SharedSlice): SharedSlice {
    if (slices.size < MOST_SLICES) slices.set(budget, slice);
    return slice;
  }
}

/** Returns the shared form of a frame's payload; `null` for a payload of one frame, and for one that another codec has encoded. */
export function sharedEncodingOf(frame: Frame, codec: Codec): SharedEncoding | null {
  const source = frame instanceof OutgoingFrame ? frame.source : null;
  if (source === frame.payload || typeof source !== 'object' || source === null) return null;
  const encoded = OutgoingFrame.encodedPayload(frame, codec);
  return encoded === null ? null : encodingOf(source, encoded, codec);
}

function encodingOf(source: object, encoded: PackedPayload, codec: Codec): SharedEncoding {
  const byCodec = getOrMake(ENCODINGS, source, () => new Map<Codec, SharedEncoding>());
  return getOrMake(byCodec, codec, () => new SharedEncoding(unpacked(encoded), codec));
}

/** {@link slicerToSend} for a socket that shares slices with others. */
export function sharedSlicer(frame: Frame, cap: number, codec: Codec): Slicer | null {
  const shared = sharedEncodingOf(frame, codec);
  const slicer = slicerToSend(frame, cap, codec);
  return shared === null || slicer === null ? slicer : new Slicer(frame, shared.encoded, cap, codec, shared);
}

/** Returns the shared slice of a fragment frame, or `null` for any other frame. */
export function sharedSliceOf(frame: Frame): SharedSlice | null {
  return SLICES.get(frame) ?? null;
}

/** The most slices that one position keeps. Envelopes differ in length by the digits of their ids, and by headers. */
const MOST_SLICES = 8;
/** Keyed by the object that the frames share, so they end with it. */
const ENCODINGS = new WeakMap<object, Map<Codec, SharedEncoding>>();
const SLICES = new WeakMap<Frame, SharedSlice>();

/** A message around a part that other messages contain too. The socket may write the parts one after the other. */
export class SplitMessage {
  /** The length of the whole message in bytes. */
  readonly byteLength: number;

  constructor(
    readonly before: Message,
    readonly part: SharedPart,
    readonly behind: Message,
  ) {
    this.byteLength = encodedLength(before) + part.byteLength + encodedLength(behind);
  }
}

type Splitting = Codec & Required<Pick<Codec, 'encodeAround'>>;

/** An encoded frame. Only a transport with a {@link Transport.encoder} takes a view or a split message. The bytes of a view do not change. */
export type EncodedFrame = Message | Uint8Array | SplitMessage;

/** Encodes one frame. */
export type FrameEncoder = (frame: Frame) => EncodedFrame;

/**
 * Returns an encoder that splits the messages of shared payloads, if the codec can. Small messages stay whole: copying them is faster.
 *
 * @param encode encodes all other frames
 */
export function splitEncoder(codec: Codec, encode: FrameEncoder = frameEncoder(codec)): FrameEncoder {
  if (!splits(codec)) return encode;
  return (frame) => {
    const part = partOf(frame, codec);
    if (part === null || part.byteLength < SPLIT_BYTES) return encode(frame);
    const isPlain = frame.fragment == null && frame.headers == null && hasOnlyContent(frame);
    return isPlain ? plainMessage(frame, part, codec) : splitMessage(frame, part, codec);
  };
}

/**
 * Encodes a `data` frame that has nothing but a shared payload. Returns `null` if {@link splitEncoder} would not split it.
 *
 * @param source the object that the frames share
 */
export type DataEncoder = (source: object, encoded: Message, stream: number) => SplitMessage | null;

/** Returns an encoder of shared payloads, which makes no frame for each stream. */
export function splitDataEncoder(codec: Codec): DataEncoder {
  if (!splits(codec)) return () => null;
  return (source, encoded, stream) => {
    const { part } = encodingOf(source, encoded, codec);
    return part.byteLength < SPLIT_BYTES ? null : plainMessage({ type: 'data', stream, end: false }, part, codec);
  };
}

function splitMessage(frame: Frame, part: SharedPart, codec: Splitting): SplitMessage {
  const [before, behind] = codec.encodeAround(frame);
  return new SplitMessage(before, part, behind);
}

/** Returns the last message of the part if it suits the frame. Connections that count their ids alike send the same message. */
function plainMessage(frame: Frame, part: SharedPart, codec: Splitting): SplitMessage {
  const { type, stream, end } = frame;
  const known = part.last;
  if (known !== null && known.stream === stream && known.type === type && known.end === end) return known.message;
  const message = splitMessage(frame, part, codec);
  part.last = { type, stream, end, message };
  return message;
}

function partOf(frame: Frame, codec: Codec): SharedPart | null {
  const shared = frame.fragment == null ? sharedEncodingOf(frame, codec) : sharedSliceOf(frame);
  return shared?.part ?? null;
}

function splits(codec: Codec): codec is Splitting {
  return codec.encodeAround !== undefined && ENCODERS.every((encoder) => isNearer(codec, 'encodeAround', encoder));
}

const ENCODERS: readonly (keyof Codec)[] = ['encode', 'encodeWith', 'encodePayload'];
const SPLIT_BYTES = 512;
