import { Buffer, isUtf8 } from 'node:buffer';
import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import type { Message } from '../../wire/codec.js';
import { laterTurn } from '../later-turn.js';
import { ReadShare } from './read-share.js';
import {
  BINARY,
  contentSize,
  FINAL,
  flipMask,
  headerAt,
  headerSize,
  MASKED,
  MAX_HEADER_BYTES,
  ONE_BYTE_LENGTH,
  PING,
  PONG,
  TEXT,
} from './websocket-frame.js';
import type { Header } from './websocket-frame.js';

/** The socket of `ws` over the stream. */
export interface PausableSocket extends EventEmitter {
  readonly isPaused: boolean;
}

/** What reads a stream. */
type Reader = (this: Readable, chunk: Buffer) => void;

/** Is given a message and how many bytes it is. */
type Receive = (message: Message, bytes: number) => void;

/** A frame that `ws` has the beginning of. */
interface PassedFrame {
  /** Bytes that it does not have yet. */
  left: number;
  readonly endsMessage: boolean;
}

/**
 * Takes plain frames out of what a stream reads before `ws` comes to it: messages of one frame each that have come whole. In `ws` each
 * takes half a dozen views and as many calls, which cost more than all that a small message costs here.
 *
 * Everything else is for `ws`: what came in pieces, pings, pongs, closes, and what is wrong. Of a frame it gets all the bytes, as they
 * came, or none. Once it has stopped reading nothing is read here either.
 *
 * A read that takes long goes on in a later turn of the event loop. Until then its rest is back in the stream, where `ws` finds it when the
 * stream closes.
 */
class ReadBypass {
  /** Of a header that a read ended in, what `ws` was given. */
  #cutHeader = NOTHING;
  #passed: PassedFrame | null = null;
  /** Whether `ws` has some frames of a message, and not the last. */
  #isFragmented = false;
  /** Whether `ws` has told of a message since it was last given something. */
  #isHeard = false;
  /** Of a second byte as it should be. */
  readonly #maskBit: number;
  readonly #share = new ReadShare();

  /** @param reader the listener of `ws` */
  constructor(
    private readonly ws: PausableSocket,
    private readonly stream: Readable,
    private readonly reader: Reader,
    masked: boolean,
    private readonly maxPayload: number,
    private readonly receive: Receive,
  ) {
    this.#maskBit = masked ? MASKED : 0;
    ws.on('message', this.#hear).on('error', this.#end);
    stream.on('data', this.#read).off('data', reader);
  }

  readonly #hear = (): void => {
    this.#isHeard = true;
  };

  // Each step gives where the next begins: at the end, where `ws` has stopped reading.
  readonly #read = (chunk: Buffer): void => {
    const view = viewOf(chunk);
    this.#share.begin();
    let at = this.#goOn(chunk);
    while (at < chunk.length) {
      const content = at + headerSize(view, at);
      if (content > chunk.length) at = this.#passCutHeader(chunk, at, chunk.subarray(at));
      else {
        const end = content + contentSize(view, at);
        if (!this.#isPlain(view, at, content, end)) at = this.#pass(chunk, at, headerAt(view, at));
        else if (isShortText(view, at, content, end)) at = this.#takeShortTexts(chunk, view, at);
        else at = this.#take(chunk, view, at, content, end);
      }
      if (at < chunk.length && this.#share.count()) {
        this.#putBack(chunk.subarray(at));
        return;
      }
    }
  };

  /** Reads the rest in a later turn, or when the socket is resumed by somebody who has paused it meanwhile. */
  #putBack(rest: Buffer): void {
    // Paused first, because a stream that flows reads at once what it is given back.
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
      !this.#isFragmented
    );
  }

  /** Receives the plain frame at `at`. */
  #take(chunk: Buffer, view: DataView, at: number, content: number, end: number): number {
    this.#flipMask(view, content, end);
    if (view.getUint8(at) === PLAIN_TEXT) return this.#takeText(chunk, view, at, content, end);
    this.receive(chunk.buffer.slice(chunk.byteOffset + content, chunk.byteOffset + end) as ArrayBuffer, end - content);
    return end;
  }

  /** Receives the text of a frame that is unmasked. */
  #takeText(chunk: Buffer, view: DataView, at: number, content: number, end: number): number {
    const text = chunk.toString('utf8', content, end);
    // What is no UTF-8 is read as this character, which is seldom written.
    if (text.includes(REPLACEMENT) && !isUtf8(chunk.subarray(content, end))) {
      this.#flipMask(view, content, end);
      return this.#pass(chunk, at, headerAt(view, at));
    }
    this.receive(text, end - content);
    return end;
  }

  /**
   * Receives the short text at `from` and those that follow it. Where they are ASCII they are cut out of one text: to make a text of each,
   * and to look for what is no UTF-8 in it, takes a fifth of the time of reading them. Those beyond the share stay as they came.
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

  /** Unmasks short texts from `from` on; gives where they end, and how many bytes of their headers are not ASCII. */
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

  /** Gives `ws` its share of a read: the rest of a frame that it has the beginning of. */
  #goOn(chunk: Buffer): number {
    const { length } = this.#cutHeader;
    if (length === 0) return this.#passed === null ? 0 : this.#passOn(chunk, 0, this.#passed);
    const header = Buffer.concat([this.#cutHeader, chunk.subarray(0, MAX_HEADER_BYTES)]);
    const view = viewOf(header);
    if (headerSize(view, 0) > header.length) return this.#passCutHeader(chunk, 0, header);
    this.#cutHeader = NOTHING;
    return this.#pass(chunk, 0, headerAt(view, 0), length);
  }

  /** Gives `ws` what there is of a header that a read ends in. */
  #passCutHeader(chunk: Buffer, at: number, header: Buffer): number {
    this.#cutHeader = Buffer.from(header);
    this.reader.call(this.stream, chunk.subarray(at));
    return chunk.length;
  }

  /**
   * Gives `ws` what has come of a frame.
   *
   * @param given bytes of it that `ws` has
   */
  #pass(chunk: Buffer, at: number, { first, second, frameSize }: Header, given = 0): number {
    const isInBetween =
      (first === PLAIN_PING || first === PLAIN_PONG) && (second & MASKED) === this.#maskBit && (second & ~MASKED) <= ONE_BYTE_LENGTH;
    const endsMessage = !isInBetween && (first & FINAL) !== 0;
    if (!isInBetween) this.#isFragmented = !endsMessage;
    return this.#passOn(chunk, at, { left: frameSize - given, endsMessage });
  }

  #passOn(chunk: Buffer, from: number, frame: PassedFrame): number {
    const to = Math.min(from + frame.left, chunk.length);
    frame.left -= to - from;
    this.#passed = frame.left > 0 ? frame : null;
    this.#isHeard = false;
    this.reader.call(this.stream, chunk.subarray(from, to));
    // Instead of a message it has met a close frame or what is wrong, of which it tells in a later turn.
    if (this.#passed !== null || !frame.endsMessage || this.#isHeard) return to;
    this.#end();
    return chunk.length;
  }

  readonly #end = (): void => {
    this.stream.off('data', this.#read);
    this.ws.off('message', this.#hear).off('error', this.#end);
  };
}

/**
 * Begins to read past `ws`, where it alone listens to the stream.
 *
 * @param masked whether the remote dialed
 * @param maxPayload bytes of one message at most, as `ws` has it
 * @param receive is given the messages that do not go through `ws`
 */
export function bypass(ws: PausableSocket, stream: Readable, masked: boolean, maxPayload: number, receive: Receive): void {
  const [reader, ...others] = stream.listeners('data') as Reader[];
  if (reader !== undefined && others.length === 0) new ReadBypass(ws, stream, reader, masked, maxPayload, receive);
}

const NOTHING = Buffer.alloc(0);
const PLAIN_TEXT = FINAL | TEXT;
const PLAIN_BINARY = FINAL | BINARY;
const PLAIN_PING = FINAL | PING;
const PLAIN_PONG = FINAL | PONG;
const REPLACEMENT = '\ufffd';
/** Bytes of a short text. Longer ones are for themselves: what is cut out of a text keeps all of it in memory. */
const SHORT_BYTES = 1024;

function isShortText(view: DataView, at: number, content: number, end: number): boolean {
  return view.getUint8(at) === PLAIN_TEXT && end - content <= SHORT_BYTES;
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
