import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { Message } from '../../wire/codec.js';
import { MOST_BYTES_PER_UNIT } from '../../wire/length.js';
import type { Transport } from '../transport.js';
import { BINARY, headerSizeFor, maskWith, MAX_HEADER_BYTES, putHeader, TEXT } from './websocket-frame.js';

/** A message that nobody else can change. */
type Content = string | Uint8Array;

// Taken before fake timers of a test runner can be in its place.
const nextTick = process.nextTick.bind(process);

/**
 * The messages of one turn that make the first write; each further write takes twice as many as the one before, so that the remote
 * begins on a long burst while the rest of it is still being made, …
 */
const FIRST_WRITE_MESSAGES = 8;
/** … up to these: more save no system call worth the name, and what waits for the write has left the processor's cache by then. */
const MOST_WRITE_MESSAGES = 128;
/** A write is not made to wait for more once it has so many UTF-16 units or bytes. */
const ENOUGH_WRITE_LENGTH = 64 * 1024;

/**
 * Writes the messages of one turn to the stream below a WebSocket, in few writes of one buffer each. Sent one by one by `ws`, each takes
 * two objects, a header and a chunk of the stream, which cost more than all that a small message costs here.
 */
export class WriteBatch {
  readonly #messages: Content[] = [];
  /** Of these, in UTF-16 units and bytes. */
  #length = 0;
  /** How many of these have been measured, and what that gave. */
  #measured = 0;
  #bytes = 0;
  #writtenBytes = 0;
  /** How many messages the write under way takes. */
  #writeMessages = 0;
  /** How many messages this turn has had. */
  #turnMessages = 0;
  /** Whether the turn before had one, as where a request follows the answer to the last: then the next is not kept waiting for more. */
  #isLone = false;

  /**
   * @param socket tells whether it may still send: nothing follows a close frame
   * @param masked whether it dialed (RFC 6455 §5.3)
   * @param written called when the stream has passed a write on
   */
  constructor(
    private readonly stream: Writable,
    private readonly socket: Pick<Transport, 'writable'>,
    private readonly masked: boolean,
    private readonly written: () => void,
  ) {}

  /** What the stream has not been given yet, in bytes. */
  get bytes(): number {
    for (const message of this.#messages.slice(this.#measured)) this.#bytes += framedSize(sizeOf(message), this.masked);
    this.#measured = this.#messages.length;
    return this.#bytes;
  }

  /** No less than that, and known without measuring text. */
  get mostBytes(): number {
    return this.#length * MOST_BYTES_PER_UNIT + this.#messages.length * MAX_HEADER_BYTES;
  }

  /** All that was added so far, in bytes. */
  get addedBytes(): number {
    return this.#writtenBytes + this.bytes;
  }

  /**
   * Adds a message, which is written at once or at the end of this turn at the latest.
   *
   * @throws TypeError for what a faulty codec has made; the rest is written all the same
   */
  add(message: Message): void {
    // A copy: bytes are somebody's who may change them, or give them away, before they are written.
    const content = typeof message === 'string' ? message : Buffer.from(Buffer.from(message));
    if (++this.#turnMessages === 1) {
      this.#writeMessages = this.#isLone ? 1 : FIRST_WRITE_MESSAGES;
      // It runs once after all the messages of one read; `setImmediate` would put the two ends in lockstep.
      nextTick(this.#endTurn);
      WAITING.add(this);
    }
    this.#messages.push(content);
    this.#length += content.length;
    if (this.#messages.length >= this.#writeMessages || this.#length >= ENOUGH_WRITE_LENGTH) {
      this.#writeMessages = Math.min(Math.max(2 * this.#writeMessages, FIRST_WRITE_MESSAGES), MOST_WRITE_MESSAGES);
      this.flush();
    }
  }

  /** Writes what there is. */
  flush(): void {
    if (this.#messages.length === 0) return;
    const bytes = framed(this.#messages, this.masked);
    this.#messages.length = this.#length = this.#measured = this.#bytes = 0;
    this.#writtenBytes += bytes.length;
    if (this.socket.writable) this.stream.write(bytes, this.written);
  }

  readonly #endTurn = (): void => {
    this.#isLone = this.#turnMessages === 1;
    this.#turnMessages = 0;
    WAITING.delete(this);
    this.flush();
  };
}

/** Those whose turn has not ended. */
const WAITING = new Set<WriteBatch>();

// No turn follows when the process exits, but a write still reaches the kernel at once where that has room.
process.on('exit', () => {
  for (const batch of WAITING) guardedFlush(batch);
});

function guardedFlush(batch: WriteBatch): void {
  try {
    batch.flush();
  } catch {
    // What a faulty codec has made must not keep the other sockets from writing.
  }
}

/** Lays messages out one after the other as a WebSocket does, each as one frame (RFC 6455 §5.2). */
function framed(messages: readonly Content[], masked: boolean): Buffer {
  const text = asciiOf(messages, masked);
  const sizes = messages.map(text === null ? sizeOf : lengthOf);
  const bytes = text === null ? bytesOf(messages, sizes, masked) : Buffer.from(text, 'latin1');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  let at = 0;
  let n = 0;
  for (const message of messages) {
    const size = sizes[n++] ?? 0;
    const content = putHeader(view, at, typeof message === 'string' ? TEXT : BINARY, size, masked);
    at = content + size;
    if (masked) maskWith(newKey(), view, content, at);
  }
  return bytes;
}

/**
 * Messages that are all ASCII, with room before each for its header; `null` where they are not. They are measured and copied as one text,
 * which takes half as long as one by one.
 */
function asciiOf(messages: readonly Content[], masked: boolean): string | null {
  let text = '';
  for (const message of messages) {
    if (typeof message !== 'string') return null;
    text += `${ROOM[headerSizeFor(message.length, masked)] ?? ''}${message}`;
  }
  return sizeOf(text) === text.length ? text : null;
}

/** Messages of any kind as bytes, with the same room. */
function bytesOf(messages: readonly Content[], sizes: readonly number[], masked: boolean): Buffer {
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

/** A text for the room of a header, by its bytes. */
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

/** Keys that have not been used: asking for each by itself would cost more than masking with it. */
const KEYS = new Int32Array(1024);
let keysLeft = 0;

function newKey(): number {
  if (keysLeft === 0) {
    randomFillSync(KEYS);
    keysLeft = KEYS.length;
  }
  return KEYS[--keysLeft] ?? 0;
}
