import { Buffer } from 'node:buffer';
import type { Message } from '../../wire/codec.js';
import type { SharedPart } from '../../wire/shared.js';
import type { SplitMessage } from '../../wire/split-message.js';
import { BINARY, headerSizeFor, putHeader, TEXT, viewOf } from './websocket-frame.js';

/** An unmasked WebSocket frame (RFC 6455 §5.2). Frames of several sockets share its chunks, or the last one. */
export class SharedFrame {
  constructor(
    readonly chunks: readonly Buffer[],
    /** Bytes of the content. */
    readonly length: number,
    readonly headerBytes: number,
  ) {}
}

/** The bytes of a part. */
interface Made {
  /** The end of the last message, behind the part. {@link tail} is the part with this end. */
  readonly behind: Buffer;
  readonly tail: Buffer;
  /** The last message and its frame, which several sockets may send. */
  message: SplitMessage;
  frame: SharedFrame;
}

const MADE = new WeakMap<SharedPart, Made>();
/** A write of two chunks costs more than copying up to so many bytes. */
const COPIED_BYTES = 4 * 1024;
const NOTHING = Buffer.alloc(0);

/** Returns the frame of a message. The same message, again and again, has the same frame. */
export function sharedFrame(message: SplitMessage): SharedFrame {
  const made = MADE.get(message.part);
  if (made?.message === message) return made.frame;
  const behind = bytesOf(message.behind);
  if (made?.behind.equals(behind) !== true) return firstFrame(message, behind);
  const isCopied = made.tail.length <= COPIED_BYTES;
  const head = headOf(message, isCopied ? made.tail : NOTHING);
  made.message = message;
  made.frame = frameOf(message, isCopied ? [head] : [head, made.tail]);
  return made.frame;
}

/** Lays out the first frame in one chunk, so that sockets with the same message write no other. The tail of later frames is a part of it. */
function firstFrame(message: SplitMessage, behind: Buffer): SharedFrame {
  const part = Buffer.concat([bytesOf(message.part.encoded), behind]);
  const whole = headOf(message, part);
  const frame = frameOf(message, [whole]);
  MADE.set(message.part, { behind, tail: whole.subarray(-part.length), message, frame });
  return frame;
}

function frameOf({ byteLength }: SplitMessage, chunks: readonly Buffer[]): SharedFrame {
  return new SharedFrame(chunks, byteLength, headerSizeFor(byteLength, false));
}

/** Returns the header of a message's frame, and the bytes before the part. Appends `tail`. */
function headOf({ before, byteLength }: SplitMessage, tail: Buffer): Buffer {
  const bytes = bytesOf(before);
  const head = Buffer.allocUnsafe(headerSizeFor(byteLength, false) + bytes.length + tail.length);
  const at = putHeader(viewOf(head), 0, typeof before === 'string' ? TEXT : BINARY, byteLength, false);
  head.set(bytes, at);
  head.set(tail, at + bytes.length);
  return head;
}

function bytesOf(message: Message): Buffer {
  return typeof message === 'string' ? Buffer.from(message) : Buffer.from(message);
}
