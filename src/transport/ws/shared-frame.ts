import { Buffer } from 'node:buffer';
import type { Message } from '../../wire/codec.js';
import type { SharedPart } from '../../wire/shared-encoding.js';
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
  behind: Buffer;
  tail: Buffer;
  /** The last message and its frame, which several sockets may send. */
  message: SplitMessage;
  frame: SharedFrame;
}

const MADE = new WeakMap<SharedPart, Made>();
/** A write of two chunks costs more than copying up to so many bytes. */
const COPIED_BYTES = 4 * 1024;

/** Returns the frame of a message. The same message, again and again, has the same frame. */
export function sharedFrame(message: SplitMessage): SharedFrame {
  const made = MADE.get(message.part);
  if (made?.message === message) return made.frame;
  const behind = bytesOf(message.behind);
  const tail = made?.behind.equals(behind) === true ? made.tail : Buffer.concat([bytesOf(message.part.encoded), behind]);
  const frame = frameOf(typeof message.before === 'string' ? TEXT : BINARY, bytesOf(message.before), tail);
  if (made === undefined) MADE.set(message.part, { behind, tail, message, frame });
  else Object.assign(made, { behind, tail, message, frame });
  return frame;
}

function frameOf(kind: number, before: Buffer, tail: Buffer): SharedFrame {
  const length = before.length + tail.length;
  const headerBytes = headerSizeFor(length, false);
  const isCopied = tail.length <= COPIED_BYTES;
  const head = Buffer.allocUnsafe(headerBytes + before.length + (isCopied ? tail.length : 0));
  putHeader(viewOf(head), 0, kind, length, false);
  head.set(before, headerBytes);
  if (isCopied) head.set(tail, headerBytes + before.length);
  return new SharedFrame(isCopied ? [head] : [head, tail], length, headerBytes);
}

function bytesOf(message: Message): Buffer {
  return typeof message === 'string' ? Buffer.from(message) : Buffer.from(message);
}
