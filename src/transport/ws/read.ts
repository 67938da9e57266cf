import { Buffer, isUtf8 } from 'node:buffer';
import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { steadyNow } from '../../util/time.js';
import type { Message } from '../../wire/codec.js';
import { laterTurn } from '../w3c.js';
import {
  BINARY,
  FINAL,
  MASKED,
  MAX_HEADER_BYTES,
  ONE_BYTE_LENGTH,
  PING,
  PONG,
  TEXT,
  contentSize,
  flipMask,
  headerAt,
  headerSize,
  viewOf,
} from './websocket-frame.js';
import type { Header } from './websocket-frame.js';

/** A `data` listener of a stream. */
export type Reader = (this: Readable, chunk: Buffer) => void;

/** A frame of which `ws` has received the beginning. */
interface PassedFrame {
  /** Bytes that `ws` has not received yet. */
  left: number;
  readonly endsMessage: boolean;
}

/**
 * Passes frames to `ws`, which receives all bytes of a frame, unchanged. Each method that passes bytes returns the offset of the next frame.
 * It returns the end of the chunk once `ws` has stopped reading.
 */
export class FramesForWs {
  /** Header bytes split by a read and already passed to `ws`. */
  #cutHeader = NOTHING;
  #passed: PassedFrame | null = null;
  #isFragmented = false;
  /** Whether `ws` has emitted a message since it last received bytes. */
  #isHeard = false;

  /**
   * @param reader the `data` listener of `ws`
   * @param maskBit the expected mask bit of a frame's second byte.
   * @param stopped called when `ws` reads no more
   */
  constructor(
    private readonly ws: EventEmitter,
    private readonly stream: Readable,
    private readonly reader: Reader,
    private readonly maskBit: number,
    private readonly stopped: () => void,
  ) {
    ws.on('message', this.#hear);
  }

  /** Whether `ws` has received some frames of a message, but not the last one. */
  get isFragmented(): boolean {
    return this.#isFragmented;
  }

  /** Passes the rest of a frame of which `ws` has the beginning. */
  goOn(chunk: Buffer): number {
    const { length } = this.#cutHeader;
    if (length === 0) return this.#passed === null ? 0 : this.#pass(chunk, 0, this.#passed);
    const header = Buffer.concat([this.#cutHeader, chunk.subarray(0, MAX_HEADER_BYTES)]);
    const view = viewOf(header);
    if (headerSize(view, 0) > header.length) return this.passCutHeader(chunk, 0, header);
    this.#cutHeader = NOTHING;
    return this.#passFrame(chunk, 0, headerAt(view, 0), length);
  }

  /** Passes the bytes of the frame at `at` that have arrived. */
  pass(chunk: Buffer, view: DataView, at: number): number {
    return this.#passFrame(chunk, at, headerAt(view, at), 0);
  }

  /** Passes the part of a header at the end of a read. */
  passCutHeader(chunk: Buffer, at: number, header: Buffer): number {
    this.#cutHeader = Buffer.from(header);
    this.reader.call(this.stream, chunk.subarray(at));
    return chunk.length;
  }

  /** Listens to `ws` no more. */
  stop(): void {
    this.ws.off('message', this.#hear);
  }

  readonly #hear = (): void => {
    this.#isHeard = true;
  };

  /** @param passed bytes of the frame that `ws` has already */
  #passFrame(chunk: Buffer, at: number, { first, second, frameSize }: Header, passed: number): number {
    const isInBetween =
      (first === PLAIN_PING || first === PLAIN_PONG) && (second & MASKED) === this.maskBit && (second & ~MASKED) <= ONE_BYTE_LENGTH;
    const endsMessage = !isInBetween && (first & FINAL) !== 0;
    if (!isInBetween) this.#isFragmented = !endsMessage;
    return this.#pass(chunk, at, { left: frameSize - passed, endsMessage });
  }

  #pass(chunk: Buffer, from: number, frame: PassedFrame): number {
    const to = Math.min(from + frame.left, chunk.length);
    frame.left -= to - from;
    this.#passed = frame.left > 0 ? frame : null;
    this.#isHeard = false;
    this.reader.call(this.stream, chunk.subarray(from, to));
    // The frame ended without a message: `ws` has met a close frame or an error, which it reports in a later turn.
    if (this.#passed !== null || !frame.endsMessage || this.#isHeard) return to;
    this.stopped();
    return chunk.length;
  }
}

const NOTHING = Buffer.alloc(0);
const PLAIN_PING = FINAL | PING;
const PLAIN_PONG = FINAL | PONG;

/** How long one read may go on before other sockets and timers have a turn, in ms. */
const SHARE_MS = 10;
/**
 * The most messages between two readings of the clock. The first reading follows the first message; then the distance doubles up to
 * this.
 */
const MOST_BETWEEN_LOOKS = 8;

/**
 * The time that one read may spend on its messages in a turn of the event loop. The first message is not timed, since most reads bring
 * only one.
 */
export class ReadShare {
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

/** The socket of `ws` on top of the stream. */
export interface PausableSocket extends EventEmitter {
  readonly isPaused: boolean;
}

/** Receives a message and its length in bytes. */
type Receive = (message: Message, bytes: number) => void;

/**
 * Takes plain frames out of the bytes that a stream reads, before `ws` sees them. A plain frame is a whole message in one frame that
 * has arrived completely. `ws` makes half a dozen views and as many calls for each such frame, which cost more than all other work for
 * a small message.
 *
 * All other frames go to `ws`: frames that arrive in pieces, pings, pongs, closes and malformed frames. `ws` receives either all bytes
 * of a frame, unchanged, or none. Once `ws` has stopped reading, the bypass stops too.
 *
 * A read that takes long continues in a later turn of the event loop. Until then the unread rest is back in the stream, where `ws`
 * finds it when the stream closes.
 */
class ReadBypass {
  readonly #forWs: FramesForWs;
  /** The expected mask bit of a frame's second byte. */
  readonly #maskBit: number;
  readonly #share = new ReadShare();

  /** @param reader the `data` listener of `ws` */
  constructor(
    private readonly ws: PausableSocket,
    private readonly stream: Readable,
    reader: Reader,
    masked: boolean,
    private readonly maxPayload: number,
    private readonly begin: () => void,
    private readonly receive: Receive,
  ) {
    this.#maskBit = masked ? MASKED : 0;
    this.#forWs = new FramesForWs(ws, stream, reader, this.#maskBit, this.#end);
    ws.on('error', this.#end);
    stream.on('data', this.#read).off('data', reader);
  }

  // Each step returns the offset of the next frame, or the end of the chunk when `ws` has stopped reading.
  readonly #read = (chunk: Buffer): void => {
    const view = viewOf(chunk);
    this.#share.begin();
    this.begin();
    let at = this.#forWs.goOn(chunk);
    while (at < chunk.length) {
      const content = at + headerSize(view, at);
      if (content > chunk.length) at = this.#forWs.passCutHeader(chunk, at, chunk.subarray(at));
      else {
        const end = content + contentSize(view, at);
        if (!this.#isPlain(view, at, content, end)) at = this.#forWs.pass(chunk, view, at);
        else if (isShortText(view, at, content, end)) at = this.#takeShortTexts(chunk, view, at);
        else at = this.#take(chunk, view, at, content, end);
      }
      if (at < chunk.length && this.#share.count()) {
        this.#putBack(chunk.subarray(at));
        return;
      }
    }
  };

  /** Reads the rest in a later turn. If other code has paused the socket meanwhile, reads it when that code resumes the socket. */
  #putBack(rest: Buffer): void {
    // Pause first: a flowing stream would read unshifted bytes at once.
    this.stream.pause();
    this.stream.unshift(rest);
    laterTurn(this.#resume);
  }

  readonly #resume = (): void => {
    if (!this.ws.isPaused) this.stream.resume();
  };

  #isPlain(view: DataView, at: number, content: number, end: number): boolean {
    const first = view.getUint8(at);
    return (
      (first === PLAIN_TEXT || first === PLAIN_BINARY) &&
      (view.getUint8(at + 1) & MASKED) === this.#maskBit &&
      end <= view.byteLength &&
      end - content <= this.maxPayload &&
      !this.#forWs.isFragmented
    );
  }

  /** Receives the plain frame at `at`. */
  #take(chunk: Buffer, view: DataView, at: number, content: number, end: number): number {
    this.#flipMask(view, content, end);
    if (view.getUint8(at) === PLAIN_TEXT) return this.#takeText(chunk, view, at, content, end);
    this.receive(chunk.buffer.slice(chunk.byteOffset + content, chunk.byteOffset + end) as ArrayBuffer, end - content);
    return end;
  }

  /** Receives the text of an unmasked frame. */
  #takeText(chunk: Buffer, view: DataView, at: number, content: number, end: number): number {
    const text = chunk.toString('utf8', content, end);
    // Invalid UTF-8 decodes to this character, which real text seldom contains.
    if (text.includes(REPLACEMENT) && !isUtf8(chunk.subarray(content, end))) {
      this.#flipMask(view, content, end);
      return this.#forWs.pass(chunk, view, at);
    }
    this.receive(text, end - content);
    return end;
  }

  /**
   * Receives the short text at `from` and the short texts that follow it. If all of them are ASCII, they are cut out of one decoded
   * text. Decoding and checking each text by itself would take a fifth of the reading time. Texts beyond the share stay as they
   * arrived.
   */
  #takeShortTexts(chunk: Buffer, view: DataView, from: number): number {
    const { to, highBytes } = this.#unmaskShortTexts(view, from);
    const all = chunk.toString('latin1', from, to);
    const isAscii = Buffer.byteLength(all) === all.length + highBytes;
    for (let at = from; at < to;) {
      const content = at + headerSize(view, at);
      const end = content + contentSize(view, at);
      if (isAscii) this.receive(all.slice(content - from, end - from), end - content);
      else if (this.#takeText(chunk, view, at, content, end) > end) return chunk.length;
      at = end;
      if (at < to && this.#share.count()) {
        this.#remaskShortTexts(view, at, to);
        return at;
      }
    }
    return to;
  }

  /** Unmasks short texts from `from` on. Returns where they end, and how many bytes of their headers are not ASCII. */
  #unmaskShortTexts(view: DataView, from: number): { readonly to: number; readonly highBytes: number } {
    let highBytes = 0;
    let at = from;
    for (;;) {
      const content = at + headerSize(view, at);
      if (content > view.byteLength) break;
      const end = content + contentSize(view, at);
      if (!isShortText(view, at, content, end) || !this.#isPlain(view, at, content, end)) break;
      this.#flipMask(view, content, end);
      for (let n = at; n < content; n++) highBytes += view.getUint8(n) >> 7;
      at = end;
    }
    return { to: at, highBytes };
  }

  #remaskShortTexts(view: DataView, from: number, to: number): void {
    for (let at = from; at < to;) {
      const content = at + headerSize(view, at);
      at = content + contentSize(view, at);
      this.#flipMask(view, content, at);
    }
  }

  #flipMask(view: DataView, from: number, to: number): void {
    if (this.#maskBit !== 0) flipMask(view, from, to);
  }

  readonly #end = (): void => {
    this.stream.off('data', this.#read);
    this.ws.off('error', this.#end);
    this.#forWs.stop();
  };
}

/**
 * Begins to read past `ws`, if `ws` is the only listener of the stream.
 *
 * @param masked whether the remote dialed
 * @param maxPayload bytes of one message at most, as in `ws`
 * @param begin called before each read.
 * @param receive takes each message that bypasses `ws`
 */
export function bypass(
  ws: PausableSocket,
  stream: Readable,
  masked: boolean,
  maxPayload: number,
  begin: () => void,
  receive: Receive,
): void {
  const [reader, ...others] = stream.listeners('data') as Reader[];
  if (reader !== undefined && others.length === 0) new ReadBypass(ws, stream, reader, masked, maxPayload, begin, receive);
}

const PLAIN_TEXT = FINAL | TEXT;
const PLAIN_BINARY = FINAL | BINARY;
const REPLACEMENT = '\ufffd';
/** The most bytes of a short text. A longer text is decoded by itself, because a substring keeps the whole text in memory. */
const SHORT_BYTES = 1024;

function isShortText(view: DataView, at: number, content: number, end: number): boolean {
  return view.getUint8(at) === PLAIN_TEXT && end - content <= SHORT_BYTES;
}
