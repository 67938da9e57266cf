import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isNearer } from '../../wire/codec.js';
import type { Codec, Message } from '../../wire/codec.js';
import { encodedLength } from '../../wire/length.js';
import { OutgoingFrame, frameEncoder } from '../../wire/outgoing.js';
import { SplitMessage } from '../../wire/shared.js';
import type { EncodedFrame, FrameEncoder, SharedPart } from '../../wire/shared.js';
import { ReadyState } from '../transport.js';
import type { SocketLike } from '../transport.js';
import { BINARY, KEY_BYTES, TEXT, flipMask, headerSizeFor, putHeader, textHeader, viewOf } from './websocket-frame.js';

/** Unused masking keys, made in bulk: making each key by itself would cost more than masking with it. */
const KEYS = new Int32Array(1024);
let keysLeft = 0;

/** Masks the content in `view` from `from` up to `to`. Writes an unpredictable key before it (RFC 6455 §5.3). */
function maskAnew(view: DataView, from: number, to: number): void {
  if (keysLeft === 0) {
    randomFillSync(KEYS);
    keysLeft = KEYS.length;
  }
  view.setInt32(from - KEY_BYTES, KEYS[--keysLeft] ?? 0);
  flipMask(view, from, to);
}

/** Node takes a Buffer of this size from its pool. An ArrayBuffer would cost more than the encoding of a small message. */
const POOLED_BYTES = 2048;

/** Returns an encoder that makes small messages of bytes in the pool of Buffers, if the codec can. */
export function pooledEncoder(codec: Codec): FrameEncoder {
  const encode = frameEncoder(codec);
  if (!lends(codec)) return encode;
  return (frame) => {
    const payload = OutgoingFrame.encodedPayload(frame, codec);
    const lent = payload === null || encodedLength(payload) > POOLED_BYTES ? null : codec.lend(frame, payload);
    return lent === null ? encode(frame) : Buffer.from(lent);
  };
}

function lends(codec: Codec): codec is Codec & Required<Pick<Codec, 'lend'>> {
  return codec.lend !== undefined && isNearer(codec, 'lend', 'encode') && isNearer(codec, 'lend', 'encodeWith');
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
/** Up to this size, copying costs less than a write of two chunks. */
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

/**
 * The number of sockets that write one after the other. Between two writes of one broadcast, the code of all other work would push the kernel's code
 * out of the processor's cache. With more sockets, the first remote would wait too long.
 */
export const GROUP = 32;

/** Writes the waiting messages when told, and at the end of its turn. */
type TurnWriter = Pick<WriteBatch, 'flush' | 'endTurn'>;

// Captured before a test runner can install fake timers.
const nextTick = process.nextTick.bind(process);

/** Writers whose turn has not ended. */
let waiting: TurnWriter[] = [];
/** Counts the reads of all sockets. Each read begins a turn. */
let reads = 0;

/**
 * Calls `endTurn` of a writer once, after all messages of one read. One tick serves the writers of all sockets. Each full {@link GROUP} of
 * writers writes before that.
 */
export function joinTurn(writer: TurnWriter): void {
  const { length } = waiting;
  // `setImmediate` would put the two ends in lockstep.
  if (length === 0) nextTick(endTurns);
  else if (length % GROUP === 0) for (const before of waiting.slice(-GROUP)) guarded(before, 'flush');
  waiting.push(writer);
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
export class WriteBatch {
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
  /** Whether a tick ends this turn. */
  #hasJoined = false;
  /** The read that began this turn, counted among {@link reads}; -1 before the first one. */
  #read = -1;

  /** @param masked whether this side dialed (RFC 6455 §5.3) */
  constructor(
    protected readonly stream: Duplex,
    protected readonly ws: Pick<SocketLike, 'readyState'>,
    protected readonly masked: boolean,
  ) {}

  /** Bytes of the messages that are not written to the stream yet. */
  get bytes(): number {
    for (const message of this.#messages.slice(this.#measured)) this.#bytes += framedSize(sizeOf(message), this.masked);
    this.#measured = this.#messages.length;
    return this.#bytes;
  }

  /** Bytes of all messages added so far. */
  get addedBytes(): number {
    return this.#writtenBytes + this.bytes;
  }

  /** Bytes of the headers of all messages added so far. */
  get headerBytes(): number {
    return this.#messages.reduce((bytes, message) => bytes + headerSizeFor(sizeOf(message), this.masked), this.#writtenHeaderBytes);
  }

  /** A read begins, and with it a turn. The next read ends that turn, so a lone message in between needs no tick behind it. */
  beginTurn(): void {
    this.#read = ++reads;
    if (!this.#hasJoined) this.#turnMessages = 0;
  }

  /** Calls `task` once the stream has taken all messages added so far. */
  whenTaken(task: () => void): void {
    this.flush();
    // An empty write waits for the writes before it. A callback for each of those would take a tick each.
    this.stream.write('', task);
  }

  /**
   * Adds a message. It is written at once, or at the end of this turn at the latest.
   *
   * @throws TypeError for a message that is neither text nor bytes, from a faulty codec; the other messages are still written
   */
  add(message: EncodedFrame): void {
    const content = typeof message === 'string' ? message : contentOf(message);
    const isLone = ++this.#turnMessages === 1 && this.#isLone && waiting.length === 0;
    if (!this.#hasJoined && !(isLone && this.#read === reads)) {
      this.#hasJoined = true;
      this.#writeMessages = FIRST_WRITE_MESSAGES;
      joinTurn(this);
    }
    if (isLone) {
      this.#write([content], content.length);
      return;
    }
    this.#messages.push(content);
    this.#length += content.length;
    if (this.#messages.length >= this.#writeMessages || this.#length >= ENOUGH_WRITE_LENGTH) {
      this.#writeMessages = Math.min(2 * this.#writeMessages, MOST_WRITE_MESSAGES);
      this.flush();
    }
  }

  endTurn(): void {
    this.#isLone = this.#turnMessages === 1;
    this.#turnMessages = 0;
    this.#hasJoined = false;
    this.flush();
  }

  /** Writes all waiting messages. */
  flush(): void {
    const [messages, length] = [this.#messages, this.#length];
    if (messages.length === 0) return;
    // A new array: setting `length` to 0 drops the elements too, by a slow call into the engine.
    this.#messages = [];
    this.#length = this.#measured = this.#bytes = 0;
    this.#write(messages, length);
  }

  #write(messages: readonly Content[], length: number): void {
    const [first] = messages;
    // A broadcast adds one shared frame to each socket: make no list for each of them.
    if (first instanceof SharedFrame && messages.length === 1) {
      this.#writtenHeaderBytes += first.headerBytes;
      this.#writeChunks(first.chunks);
      return;
    }
    const text = textOf(messages, this.masked);
    if (text === null) this.#writeChunks(this.#chunks(messages));
    else {
      this.#writtenBytes += text.length;
      this.#writtenHeaderBytes += text.length - length;
      // A stream of another class may ignore the encoding.
      const isWritten = !this.masked && text.length <= MOST_TEXT_LENGTH && this.stream instanceof Socket;
      if (this.ws.readyState === ReadyState.OPEN) this.stream.write(isWritten ? text : bytesOfText(text, messages, this.masked), 'latin1');
    }
  }

  #writeChunks(chunks: readonly Buffer[]): void {
    for (const chunk of chunks) this.#writtenBytes += chunk.length;
    if (this.ws.readyState !== ReadyState.OPEN) return;
    if (chunks.length > 1) this.stream.cork();
    for (const chunk of chunks) this.stream.write(chunk);
    if (chunks.length > 1) this.stream.uncork();
  }

  /** Returns the bytes of all messages, in order. The bytes of shared messages are not copied. */
  #chunks(messages: readonly Content[]): readonly Buffer[] {
    const chunks: Buffer[] = [];
    let whole: WholeContent[] = [];
    for (const message of messages) {
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

  /** Encodes messages of any kind one after the other as WebSocket frames, one frame each (RFC 6455 §5.2). */
  #framed(messages: readonly WholeContent[]): Buffer {
    const { masked } = this;
    const sizes = messages.map(sizeOf);
    const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + framedSize(size, masked), 0));
    const view = viewOf(bytes);
    let at = 0;
    let n = 0;
    for (const message of messages) {
      const size = sizes[n++] ?? 0;
      const content = putHeader(view, at, typeof message === 'string' ? TEXT : BINARY, size, masked);
      this.#writtenHeaderBytes += content - at;
      at = content + size;
      if (typeof message === 'string') bytes.write(message, content);
      else bytes.set(message, content);
      if (masked) maskAnew(view, content, at);
    }
    return bytes;
  }
}

/** Node copies a text of up to 16 KiB to its stack and writes it from there. A Buffer would be allocated and collected for each write. */
const MOST_TEXT_LENGTH = 15 * 1024;

function contentOf(message: EncodedFrame): Content {
  if (typeof message === 'string') return message;
  if (message instanceof SplitMessage) return sharedFrame(message);
  if (message instanceof Uint8Array) return message;
  // Copy bytes that wait: their owner may change or transfer them before the write.
  const bytes = Buffer.from(message);
  return bytes.length < ENOUGH_WRITE_LENGTH ? Buffer.from(bytes) : bytes;
}

/**
 * Concatenates messages, each after its header, a character for each byte. Returns `null` unless all of them are ASCII. Measuring and
 * copying one text takes half as long as one by one.
 */
function textOf(messages: readonly Content[], masked: boolean): string | null {
  let text = '';
  let bytesBeyondAscii = 0;
  for (const message of messages) {
    if (typeof message !== 'string') return null;
    const { length } = message;
    text += textHeader(length, masked) + message;
    // The first byte of each header is not ASCII. The second one is not if it has the mask bit, and some bytes of a longer length are not.
    bytesBeyondAscii += (masked ? 2 : 1) + ((length >> 7) & 1) + ((length >> 15) & 1) + ((length >> 23) & 1);
  }
  return Buffer.byteLength(text) - bytesBeyondAscii === text.length ? text : null;
}

/** Returns the bytes of ASCII messages that {@link textOf} has concatenated. */
function bytesOfText(text: string, messages: readonly Content[], masked: boolean): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (!masked) return bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  let at = 0;
  for (const { length } of messages) {
    const content = at + headerSizeFor(length, true);
    at = content + length;
    maskAnew(view, content, at);
  }
  return bytes;
}

function sizeOf(content: Content): number {
  return typeof content === 'string' ? Buffer.byteLength(content) : content.length;
}

function framedSize(size: number, masked: boolean): number {
  return headerSizeFor(size, masked) + size;
}
