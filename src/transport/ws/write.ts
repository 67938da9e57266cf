import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { Message } from '../../wire/codec.js';
import { MOST_BYTES_PER_UNIT } from '../../wire/length.js';
import { SplitMessage } from '../../wire/shared.js';
import type { SharedPart } from '../../wire/shared.js';
import type { Transport } from '../transport.js';
import { BINARY, MAX_HEADER_BYTES, TEXT, headerSizeFor, maskWith, putHeader, textHeader, viewOf } from './websocket-frame.js';

/** Unused masking keys, made in bulk: making each key by itself would cost more than masking with it. */
const KEYS = new Int32Array(1024);
let keysLeft = 0;

/** Returns an unpredictable key for the mask of one frame (RFC 6455 §5.3). */
export function newMaskingKey(): number {
  if (keysLeft === 0) {
    randomFillSync(KEYS);
    keysLeft = KEYS.length;
  }
  return KEYS[--keysLeft] ?? 0;
}

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

/** Writes messages in few writes for each turn. */
export interface TurnWriter {
  /** Writes the waiting messages. */
  flush(): void;
  /** Called after all messages of the turn. Writes those that wait. */
  endTurn(): void;
}

/**
 * So many sockets write one after the other. Between two writes of one broadcast, the code of all other work would push the kernel's code
 * out of the processor's cache. With more sockets, the first remote would wait too long.
 */
export const GROUP = 32;

// Captured before a test runner can install fake timers.
const nextTick = process.nextTick.bind(process);

/** Writers whose turn has not ended. */
let waiting: TurnWriter[] = [];

/**
 * Calls `endTurn` of a writer once, after all messages of one read. One tick serves the writers of all sockets. Each full {@link GROUP} of
 * writers writes before that.
 *
 * @returns whether the writer is the first of its turn
 */
export function joinTurn(writer: TurnWriter): boolean {
  const { length } = waiting;
  // `setImmediate` would put the two ends in lockstep.
  if (length === 0) nextTick(endTurns);
  else if (length % GROUP === 0) for (const before of waiting.slice(-GROUP)) guarded(before, 'flush');
  waiting.push(writer);
  return length === 0;
}

function endTurns(): void {
  const ending = waiting;
  waiting = [];
  for (const writer of ending) guarded(writer, 'endTurn');
}

/** A stream that throws must not keep the other sockets from writing. */
function guarded(writer: TurnWriter, act: keyof TurnWriter): void {
  try {
    writer[act]();
  } catch (error) {
    nextTick(rethrow, error);
  }
}

function rethrow(error: unknown): never {
  throw error;
}

// No turn follows when the process exits. But a write still reaches the kernel at once if the kernel has room.
process.on('exit', endTurns);

/** A message that no other code can change. */
type Content = WholeContent | SharedFrame;
type WholeContent = string | Uint8Array;

/**
 * The number of messages in the first write of a turn. Each further write takes twice as many. The remote can then begin on a long
 * burst while this side still makes the rest.
 */
const FIRST_WRITE_MESSAGES = 8;
/** The most messages in one write. More would hardly save system calls, and the waiting messages would leave the processor's cache. */
const MOST_WRITE_MESSAGES = 128;
/** A write of this many UTF-16 units or bytes does not wait for more messages. */
const ENOUGH_WRITE_LENGTH = 64 * 1024;

/**
 * Writes the messages of one turn to the stream below a WebSocket, in few writes of one buffer each. If `ws` sends them one by one,
 * each takes two objects, a header and a chunk of the stream. These cost more than all other work for a small message.
 */
export class WriteBatch implements TurnWriter {
  #messages: Content[] = [];
  /** Length of all waiting messages, in UTF-16 units and bytes. */
  #length = 0;
  /** How many messages are measured, and their total size. */
  #measured = 0;
  #bytes = 0;
  #writtenBytes = 0;
  /** Bytes of the headers in {@link #writtenBytes}. */
  #writtenHeaderBytes = 0;
  /** How many messages the current write takes. */
  #writeMessages = 0;
  /** How many messages were added in this turn. */
  #turnMessages = 0;
  /**
   * Whether the previous turn had exactly one message, as in a dialog of requests and answers. The next message then does not wait for
   * more, unless other sockets write in the same turn, as in a broadcast.
   */
  #isLone = false;
  /** Whether ASCII messages may be written as text, a character for each byte. A stream of another class may ignore the encoding. */
  readonly #writesText: boolean;

  /**
   * @param socket says whether it may still send
   * @param masked whether this side dialed (RFC 6455 §5.3)
   * @param written called after each write
   */
  constructor(
    private readonly stream: Writable,
    private readonly socket: Pick<Transport, 'writable'>,
    private readonly masked: boolean,
    private readonly written: () => void,
  ) {
    this.#writesText = !masked && stream instanceof Socket;
  }

  /** Bytes of the messages that are not written to the stream yet. */
  get bytes(): number {
    for (const message of this.#messages.slice(this.#measured)) this.#bytes += framedSize(sizeOf(message), this.masked);
    this.#measured = this.#messages.length;
    return this.#bytes;
  }

  /** An upper bound of {@link WriteBatch.bytes}, known without measuring text. */
  get mostBytes(): number {
    return this.#length * MOST_BYTES_PER_UNIT + this.#messages.length * MAX_HEADER_BYTES;
  }

  /** Bytes of all messages added so far. */
  get addedBytes(): number {
    return this.#writtenBytes + this.bytes;
  }

  /** Bytes of the headers of all messages added so far. */
  get headerBytes(): number {
    return this.#messages.reduce((bytes, message) => bytes + headerSizeFor(sizeOf(message), this.masked), this.#writtenHeaderBytes);
  }

  /**
   * Adds a message. It is written at once, or at the end of this turn at the latest.
   *
   * @throws TypeError for a message that is neither text nor bytes, from a faulty codec; the other messages are still written
   */
  add(message: Message | SplitMessage): void {
    const content = contentOf(message);
    if (++this.#turnMessages === 1) {
      const isFirst = joinTurn(this);
      this.#writeMessages = this.#isLone && isFirst ? 1 : FIRST_WRITE_MESSAGES;
    }
    this.#messages.push(content);
    this.#length += content.length;
    if (this.#messages.length >= this.#writeMessages || this.#length >= ENOUGH_WRITE_LENGTH) {
      this.#writeMessages = Math.min(Math.max(2 * this.#writeMessages, FIRST_WRITE_MESSAGES), MOST_WRITE_MESSAGES);
      this.flush();
    }
  }

  endTurn(): void {
    this.#isLone = this.#turnMessages === 1;
    this.#turnMessages = 0;
    this.flush();
  }

  /** Writes all waiting messages. */
  flush(): void {
    if (this.#messages.length === 0) return;
    const text = this.#writesText && this.#length <= MOST_TEXT_LENGTH ? textOf(this.#messages) : null;
    if (text !== null) this.#writtenHeaderBytes += text.length - this.#length;
    const chunks = text === null ? this.#chunks() : [text];
    // A new array: setting `length` to 0 drops the elements too, by a slow call into the engine.
    this.#messages = [];
    this.#length = this.#measured = this.#bytes = 0;
    for (const chunk of chunks) this.#writtenBytes += chunk.length;
    if (!this.socket.writable) return;
    if (chunks.length > 1) this.stream.cork();
    const last = chunks.length - 1;
    for (let n = 0; n < last; n++) this.stream.write(chunks[n]);
    this.stream.write(chunks[last], 'latin1', this.written);
    if (chunks.length > 1) this.stream.uncork();
  }

  /** Returns the bytes of all messages, in order. The bytes of shared messages are not copied. */
  #chunks(): readonly Buffer[] {
    const [first] = this.#messages;
    // A broadcast adds one shared frame to each socket: make no list for each of them.
    if (first instanceof SharedFrame && this.#messages.length === 1) {
      this.#writtenHeaderBytes += first.headerBytes;
      return first.chunks;
    }
    const chunks: Buffer[] = [];
    let whole: WholeContent[] = [];
    for (const message of this.#messages) {
      if (message instanceof SharedFrame) {
        if (whole.length > 0) chunks.push(this.#framed(whole));
        whole = [];
        chunks.push(...message.chunks);
        this.#writtenHeaderBytes += message.headerBytes;
      } else whole.push(message);
    }
    if (whole.length > 0) chunks.push(this.#framed(whole));
    return chunks;
  }

  /** Encodes messages one after the other as WebSocket frames, one frame each (RFC 6455 §5.2). */
  #framed(messages: readonly WholeContent[]): Buffer {
    const { masked } = this;
    const text = asciiOf(messages, masked);
    const sizes = messages.map(text === null ? sizeOf : lengthOf);
    const bytes = text === null ? bytesOfOfWrite(messages, sizes, masked) : Buffer.from(text, 'latin1');
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    let at = 0;
    let n = 0;
    for (const message of messages) {
      const size = sizes[n++] ?? 0;
      const content = putHeader(view, at, typeof message === 'string' ? TEXT : BINARY, size, masked);
      this.#writtenHeaderBytes += content - at;
      at = content + size;
      if (masked) maskWith(newMaskingKey(), view, content, at);
    }
    return bytes;
  }
}

/** Node copies a text of up to 16 KiB to its stack and writes it from there. A Buffer would be allocated and collected for each write. */
const MOST_TEXT_LENGTH = 15 * 1024;

function contentOf(message: Message | SplitMessage): Content {
  if (typeof message === 'string') return message;
  if (message instanceof SplitMessage) return sharedFrame(message);
  // Copy bytes that wait: their owner may change or transfer them before the write.
  const bytes = Buffer.from(message);
  return bytes.length < ENOUGH_WRITE_LENGTH ? Buffer.from(bytes) : bytes;
}

/** Concatenates messages, each after its header without a mask. Returns `null` unless all of them are ASCII. */
function textOf(messages: readonly Content[]): string | null {
  let text = '';
  let bytesBeyondAscii = 0;
  for (const message of messages) {
    if (typeof message !== 'string') return null;
    const header = textHeader(message.length);
    text += header + message;
    bytesBeyondAscii += sizeOf(header) - header.length;
  }
  return sizeOf(text) - bytesBeyondAscii === text.length ? text : null;
}

/**
 * Concatenates messages, with room for a header before each. Returns `null` unless all of them are ASCII. Measuring and copying one
 * text takes half as long as one by one.
 */
function asciiOf(messages: readonly WholeContent[], masked: boolean): string | null {
  let text = '';
  for (const message of messages) {
    if (typeof message !== 'string') return null;
    text += `${ROOM[headerSizeFor(message.length, masked)] ?? ''}${message}`;
  }
  return sizeOf(text) === text.length ? text : null;
}

/** Concatenates messages of any kind as bytes, with the same room. */
function bytesOfOfWrite(messages: readonly WholeContent[], sizes: readonly number[], masked: boolean): Buffer {
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + framedSize(size, masked), 0));
  let at = 0;
  let n = 0;
  for (const message of messages) {
    const size = sizes[n++] ?? 0;
    at += headerSizeFor(size, masked);
    if (typeof message === 'string') bytes.write(message, at);
    else bytes.set(message, at);
    at += size;
  }
  return bytes;
}

/** Placeholder texts for headers, by their size in bytes. */
const ROOM = Array.from({ length: MAX_HEADER_BYTES + 1 }, (_, bytes) => '\0'.repeat(bytes));

function lengthOf({ length }: Content): number {
  return length;
}

function sizeOf(content: Content): number {
  return typeof content === 'string' ? Buffer.byteLength(content) : content.length;
}

function framedSize(size: number, masked: boolean): number {
  return headerSizeFor(size, masked) + size;
}
