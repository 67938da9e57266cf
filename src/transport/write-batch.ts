import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { Message } from '../wire/codec.js';
import type { Transport } from './transport.js';
import { BINARY, FINAL, IN_EIGHT_BYTES, IN_TWO_BYTES, KEY_BYTES, mask, MASKED, ONE_BYTE_LENGTH, TEXT } from './websocket-frame.js';

// Taken before fake timers of a test runner can be in its place.
const nextTick = process.nextTick.bind(process);

/**
 * The messages of one turn that make the first write; each further write takes twice as many as the one before, so that the remote
 * begins on a long burst while the rest of it is still being made, …
 */
const FIRST_WRITE_MESSAGES = 8;
/** … up to these: more save no system call worth the name, and what waits for the write has left the processor's cache by then. */
const MOST_WRITE_MESSAGES = 128;
/** A write is not made to wait for more once it has so many bytes. */
const ENOUGH_WRITE_BYTES = 64 * 1024;

/**
 * Writes the messages of one turn to the stream below a WebSocket, in few writes of one buffer each. Sent one by one by `ws`, each takes
 * two objects, a header and a chunk of the stream, which cost more than all that a small message costs here.
 */
export class WriteBatch {
  readonly #messages: (string | Uint8Array)[] = [];
  readonly #sizes: number[] = [];
  #bytes = 0;
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
    return this.#bytes;
  }

  /**
   * Adds a message, which is written at once or at the end of this turn at the latest; tells how many bytes it is.
   *
   * @throws TypeError for what a faulty codec has made; the rest is written all the same
   */
  add(message: Message): number {
    // A copy: bytes are somebody's who may change them, or give them away, before they are written.
    const content = typeof message === 'string' ? message : Buffer.from(Buffer.from(message));
    const size = typeof content === 'string' ? Buffer.byteLength(content) : content.length;
    if (++this.#turnMessages === 1) {
      this.#writeMessages = this.#isLone ? 1 : FIRST_WRITE_MESSAGES;
      // It runs once after all the messages of one read; `setImmediate` would put the two ends in lockstep.
      nextTick(this.#endTurn);
    }
    this.#messages.push(content);
    this.#sizes.push(size);
    this.#bytes += headerBytes(size, this.masked) + size;
    if (this.#messages.length >= this.#writeMessages || this.#bytes >= ENOUGH_WRITE_BYTES) {
      this.#writeMessages = Math.min(Math.max(2 * this.#writeMessages, FIRST_WRITE_MESSAGES), MOST_WRITE_MESSAGES);
      this.flush();
    }
    return size;
  }

  /** Writes what there is. */
  flush(): void {
    if (this.#bytes === 0) return;
    const frames = new FrameWriter(this.#bytes, this.masked);
    let n = 0;
    for (const message of this.#messages) frames.put(message, this.#sizes[n++] ?? 0);
    this.#messages.length = this.#sizes.length = this.#bytes = 0;
    if (this.socket.writable) this.stream.write(frames.written, this.written);
  }

  readonly #endTurn = (): void => {
    this.#isLone = this.#turnMessages === 1;
    this.#turnMessages = 0;
    this.flush();
  };
}

/** Lays messages out one after the other as a WebSocket does, each as one frame (RFC 6455 §5.2). */
class FrameWriter {
  readonly written: Buffer;
  /** Where there are masks to put. */
  readonly #view: DataView | null;
  #at = 0;

  constructor(bytes: number, masked: boolean) {
    this.written = Buffer.allocUnsafe(bytes);
    this.#view = masked ? new DataView(this.written.buffer, this.written.byteOffset) : null;
  }

  put(message: string | Uint8Array, size: number): void {
    const { written } = this;
    const isText = typeof message === 'string';
    this.#putHeader(isText ? TEXT : BINARY, size);
    const start = this.#at;
    this.#at += size;
    if (!isText) written.set(message, start);
    // Text that is all ASCII is copied faster than it is encoded.
    else written.write(message, start, size, size === message.length ? 'latin1' : 'utf8');
    if (this.#view !== null) this.#mask(this.#view, start);
  }

  #putHeader(kind: number, size: number): void {
    const { written } = this;
    const maskBit = this.#view === null ? 0 : MASKED;
    written[this.#at++] = FINAL | kind;
    if (size <= ONE_BYTE_LENGTH) written[this.#at++] = maskBit | size;
    else if (size < 2 ** 16) {
      written[this.#at++] = maskBit | IN_TWO_BYTES;
      written[this.#at++] = size >> 8;
      written[this.#at++] = size;
    } else {
      written[this.#at++] = maskBit | IN_EIGHT_BYTES;
      this.#at = written.writeBigUInt64BE(BigInt(size), this.#at);
    }
    if (this.#view !== null) this.#at += KEY_BYTES;
  }

  /** Masks what was written from `start` on with a new key, and puts that before it. */
  #mask(view: DataView, start: number): void {
    const key = newKey();
    view.setInt32(start - KEY_BYTES, key);
    mask(view, start, this.#at, key);
  }
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

/** Bytes of the header of a frame. */
function headerBytes(size: number, masked: boolean): number {
  const unmasked = size <= ONE_BYTE_LENGTH ? 2 : size < 2 ** 16 ? 2 + 2 : 2 + 8;
  return masked ? unmasked + KEY_BYTES : unmasked;
}
