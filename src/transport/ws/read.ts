import { Buffer, isUtf8 } from 'node:buffer';
import type { EventEmitter } from 'node:events';
import type { Duplex, Readable } from 'node:stream';
import { noop } from 'rxjs';
import { steadyNow } from '../../util/time.js';
import type { Message } from '../../wire/codec.js';
import type { SocketLike } from '../transport.js';
import { laterTurn } from '../w3c.js';
import {
  BINARY,
  COMPRESSED,
  CONTINUATION,
  FINAL,
  Header,
  MAX_HEADER_BYTES,
  ONE_BYTE_LENGTH,
  OPCODE,
  PING,
  PONG,
  TEXT,
  flipMask,
  viewOf,
} from './websocket-frame.js';
import { WriteBatch } from './write.js';

/** How long one read may go on before other sockets and timers have a turn, in ms. */
const SHARE_MS = 10;
/**
 * The most messages between two readings of the clock. The first reading follows the first message; then the distance doubles up to
 * this.
 */
const MOST_BETWEEN_LOOKS = 8;

/**
 * The time that one read may spend on its messages in a turn of the event loop. The first message is not timed, since most reads bring
 * only one. All sockets have the same share, because they read one after the other.
 */
class ReadShare {
  /** Starts as `-0`, which V8 stores as a double, as it stores times. */
  #startedAt = -0;
  #count = 0;
  #nextLook = 1;
  #isSpent = false;

  /** Begins a read. */
  begin(): void {
    this.#count = 0;
    this.#nextLook = 1;
    this.#isSpent = false;
  }

  /**
   * Counts a message that other messages of this read follow. Returns whether the share is spent, so that they must wait for another
   * turn.
   */
  count(): boolean {
    if (++this.#count === this.#nextLook) this.#look();
    return this.#isSpent;
  }

  #look(): void {
    const now = steadyNow();
    if (this.#count === 1) this.#startedAt = now;
    this.#nextLook += Math.min(this.#count, MOST_BETWEEN_LOOKS);
    this.#isSpent ||= now - this.#startedAt >= SHARE_MS;
  }
}

/** A `data` listener of a stream. */
type Reader = (this: Readable, chunk: Buffer) => void;
/** Receives a message and its length in bytes. */
type Receive = (message: Message, bytes: number) => void;

/** The socket of `ws` on top of the stream. */
export interface PausableSocket extends EventEmitter {
  readonly readyState: SocketLike['readyState'];
  readonly isPaused: boolean;
}

const NOTHING = Buffer.alloc(0);
const PLAIN_TEXT = FINAL | TEXT;
const PLAIN_BINARY = FINAL | BINARY;
const PLAIN_PING = FINAL | PING;
const PLAIN_PONG = FINAL | PONG;
const REPLACEMENT = '\ufffd';
/** The most bytes of a short text. A longer text is decoded by itself, because a substring keeps the whole text in memory. */
const SHORT_BYTES = 1024;

const share = new ReadShare();
/** The frame that a socket looks at. While a message is received, another socket may use it. */
const header = new Header();

/**
 * The stream below a WebSocket. It writes as a {@link WriteBatch}. It takes plain frames out of the bytes that it reads, before `ws` sees
 * them. A plain frame is a whole message in one frame that has arrived completely. `ws` makes half a dozen views and as many calls for each
 * such frame, which cost more than all other work for a small message.
 *
 * All other frames go to `ws`: frames that arrive in pieces, pings, pongs, closes, compressed and malformed frames. `ws` receives either
 * all bytes of a frame, unchanged, or none. Once `ws` has stopped reading, the bypass stops too.
 *
 * `ws` inflates in another thread. Until it has emitted the message, the frames behind it wait in the stream. So no message overtakes
 * another. A pause takes effect after that message, though the read may hold a thousand more.
 *
 * A read that takes long continues in a later turn of the event loop. Until then the unread rest is back in the stream, where `ws`
 * finds it when the stream closes.
 */
export class NodeSocket extends WriteBatch {
  /** The `data` listener of `ws`. */
  #reader: Reader = noop;
  #receive: Receive = noop;
  #maxPayload = 0;
  /** Header bytes split by a read and already passed to `ws`. */
  #cutHeader = NOTHING;
  /** Bytes that `ws` has not received yet of a frame of which it has the beginning. */
  #left = 0;
  /** Whether that frame ends a message. */
  #endsMessage = false;
  /** Whether `ws` has received some frames of a message, but not the last one. */
  #isFragmented = false;
  /** Whether the two ends have agreed on compression. */
  #mayInflate = false;
  /** Whether that frame belongs to a compressed message. */
  #isCompressed = false;
  /** Whether `ws` inflates a message now. */
  #isInflating = false;

  constructor(
    stream: Duplex,
    protected override readonly ws: PausableSocket,
    masked: boolean,
  ) {
    super(stream, ws, masked);
  }

  /**
   * Begins to read past `ws`, if `ws` is the only listener of the stream.
   *
   * @param maxPayload bytes of one message at most, as in `ws`
   * @param receive takes messages that bypass `ws`
   * @param mayInflate whether both ends compress
   */
  readPast(maxPayload: number, receive: Receive, mayInflate = false): void {
    const [reader, ...others] = this.stream.listeners('data') as Reader[];
    if (reader === undefined || others.length > 0) return;
    this.#reader = reader;
    this.#receive = receive;
    this.#maxPayload = maxPayload;
    this.#mayInflate = mayInflate;
    this.stream.on('data', this.#read).off('data', reader);
  }

  /** `ws` reads no more. */
  stopReading(): void {
    this.stream.off('data', this.#read);
  }

  // Each step returns the offset of the next frame, or the end of the chunk when `ws` has stopped reading.
  readonly #read = (chunk: Buffer): void => {
    if (this.#isInflating) {
      // Other code has resumed the stream.
      this.#holdBack(chunk);
      return;
    }
    this.beginTurn();
    share.begin();
    const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
    let at = this.#left > 0 || this.#cutHeader.length > 0 ? this.#goOn(chunk) : 0;
    while (at < chunk.length) {
      at = this.#readFrame(chunk, view, at);
      if (at < chunk.length && share.count()) {
        this.#putBack(chunk.subarray(at));
        return;
      }
    }
  };

  /** Reads the rest in a later turn. If other code has paused the socket meanwhile, reads it when that code resumes the socket. */
  #putBack(rest: Buffer): void {
    this.#holdBack(rest);
    laterTurn(() => {
      this.#resume();
    });
  }

  #holdBack(rest: Buffer): void {
    // Pause first: a flowing stream would read unshifted bytes at once.
    this.stream.pause();
    if (rest.length > 0) this.stream.unshift(rest);
  }

  #resume(): void {
    if (!this.ws.isPaused) this.stream.resume();
  }

  #readFrame(chunk: Buffer, view: DataView, at: number): number {
    if (!header.read(view, at)) return this.#passCutHeader(chunk, at, chunk.subarray(at));
    if (!this.#isPlain(view)) return this.#passFrame(chunk, at, 0);
    if (isShortText(header)) return this.#takeShortTexts(chunk, view, at);
    const { first, content, end } = header;
    if (!this.masked) flipMask(view, content, end);
    if (first === PLAIN_TEXT) return this.#takeText(chunk, view, at);
    this.#receive(chunk.buffer.slice(chunk.byteOffset + content, chunk.byteOffset + end) as ArrayBuffer, end - content);
    return end;
  }

  /** Whether `ws` may never see the frame of {@link header}. */
  #isPlain({ byteLength }: DataView): boolean {
    const { first, masked, content, end } = header;
    return (
      (first === PLAIN_TEXT || first === PLAIN_BINARY) &&
      masked !== this.masked &&
      end <= byteLength &&
      end - content <= this.#maxPayload &&
      !this.#isFragmented
    );
  }

  /** Receives the text of {@link header}, which is unmasked. */
  #takeText(chunk: Buffer, view: DataView, at: number): number {
    const { content, end } = header;
    const text = chunk.toString('utf8', content, end);
    // Invalid UTF-8 decodes to this character, which real text seldom contains.
    if (text.includes(REPLACEMENT) && !isUtf8(chunk.subarray(content, end))) {
      if (!this.masked) flipMask(view, content, end);
      return this.#passFrame(chunk, at, 0);
    }
    this.#receive(text, end - content);
    return end;
  }

  /**
   * Receives the short text at `from` and the short texts that follow it. If all of them are ASCII, they are cut out of one decoded
   * text. Decoding and checking each text by itself would take a fifth of the reading time. Texts beyond the share stay as they
   * arrived.
   */
  #takeShortTexts(chunk: Buffer, view: DataView, from: number): number {
    let to = from;
    // Bytes of headers that are not ASCII.
    let highBytes = 0;
    do {
      const { content, end } = header;
      if (!this.masked) flipMask(view, content, end);
      for (let n = to; n < content; n++) highBytes += view.getUint8(n) >> 7;
      to = end;
    } while (to < chunk.length && header.read(view, to) && isShortText(header) && this.#isPlain(view));
    const all = chunk.toString('latin1', from, to);
    const isAscii = Buffer.byteLength(all) === all.length + highBytes;
    for (let at = from; at < to;) {
      header.read(view, at);
      const { content, end } = header;
      if (isAscii) this.#receive(all.slice(content - from, end - from), end - content);
      else if (this.#takeText(chunk, view, at) > end) return chunk.length;
      at = end;
      if (at < to && share.count()) {
        this.#maskAgain(view, at, to);
        return at;
      }
    }
    return to;
  }

  #maskAgain(view: DataView, from: number, to: number): void {
    for (let at = from; at < to; at = header.end) {
      header.read(view, at);
      if (!this.masked) flipMask(view, header.content, header.end);
    }
  }

  /** Passes the rest of a frame of which `ws` has the beginning. */
  #goOn(chunk: Buffer): number {
    const { length } = this.#cutHeader;
    if (length === 0) return this.#pass(chunk, 0);
    const start = Buffer.concat([this.#cutHeader, chunk.subarray(0, MAX_HEADER_BYTES)]);
    if (!header.read(viewOf(start), 0)) return this.#passCutHeader(chunk, 0, start);
    this.#cutHeader = NOTHING;
    return this.#passFrame(chunk, 0, length);
  }

  /** Passes the part of a header at the end of a read. */
  #passCutHeader(chunk: Buffer, at: number, start: Buffer): number {
    this.#cutHeader = Buffer.from(start);
    this.#reader.call(this.stream, chunk.subarray(at));
    return chunk.length;
  }

  /**
   * Passes the bytes of the frame of {@link header} that have arrived.
   *
   * @param passed bytes of the frame that `ws` has already
   */
  #passFrame(chunk: Buffer, at: number, passed: number): number {
    const { first, masked, length, end } = header;
    const isInBetween = (first === PLAIN_PING || first === PLAIN_PONG) && masked !== this.masked && length <= ONE_BYTE_LENGTH;
    this.#endsMessage = !isInBetween && (first & FINAL) !== 0;
    if (!isInBetween) {
      this.#isFragmented = !this.#endsMessage;
      if ((first & OPCODE) !== CONTINUATION) this.#isCompressed = (first & COMPRESSED) !== 0;
    }
    this.#left = end - at - passed;
    return this.#pass(chunk, at);
  }

  #pass(chunk: Buffer, from: number): number {
    const to = Math.min(from + this.#left, chunk.length);
    this.#left -= to - from;
    const endsMessage = this.#left === 0 && this.#endsMessage;
    let isHeard = !endsMessage;
    const hear = (): void => {
      isHeard = true;
      if (!this.#isInflating) return;
      this.#isInflating = false;
      this.#resume();
    };
    if (endsMessage) this.ws.once('message', hear);
    this.#reader.call(this.stream, chunk.subarray(from, to));
    if (isHeard) return to;
    if (this.#mayInflate && this.#isCompressed) {
      this.#isInflating = true;
      this.#holdBack(chunk.subarray(to));
      return chunk.length;
    }
    // The frame ended without a message: `ws` has met a close frame or an error, which it reports in a later turn.
    this.ws.off('message', hear);
    this.stopReading();
    return chunk.length;
  }
}

function isShortText({ first, content, end }: Header): boolean {
  return first === PLAIN_TEXT && end - content <= SHORT_BYTES;
}
