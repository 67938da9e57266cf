import { isNearer } from './codec.js';
import type { Codec, Message } from './codec.js';
import { hasOnlyPayload } from './frame.js';
import type { Frame } from './frame.js';
import { encodedLength } from './length.js';
import { frameEncoder } from './outgoing.js';
import { sharedEncodingOf, sharedSliceOf } from './shared.js';
import type { SharedPart } from './shared.js';

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

/** Encodes one frame. Only a transport with a {@link Transport.encoder} takes split messages. */
export type FrameEncoder = (frame: Frame) => Message | SplitMessage;

/** Returns an encoder that splits the messages of shared payloads, if the codec can. Small messages stay whole: copying them is faster. */
export function splitEncoder(codec: Codec): FrameEncoder {
  const encode = frameEncoder(codec);
  if (!splits(codec)) return encode;
  return (frame) => {
    const part = partOf(frame, codec);
    if (part === null || part.byteLength < SPLIT_BYTES) return encode(frame);
    const isPlain = hasOnlyPayload(frame) && frame.headers == null;
    return isPlain ? plainMessage(frame, part, codec) : splitMessage(frame, part, codec);
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
