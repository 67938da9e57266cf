import { Buffer, isUtf8 } from 'node:buffer';
import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import type { Message } from '../../wire/codec.js';
import { laterTurn } from '../later-turn.js';
import { FramesForWs } from './frames-for-ws.js';
import type { Reader } from './frames-for-ws.js';
import { ReadShare } from './read-share.js';
import { BINARY, FINAL, MASKED, TEXT, contentSize, flipMask, headerSize, viewOf } from './websocket-frame.js';

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
 * @param receive takes each message that bypasses `ws`
 */
export function bypass(ws: PausableSocket, stream: Readable, masked: boolean, maxPayload: number, receive: Receive): void {
  const [reader, ...others] = stream.listeners('data') as Reader[];
  if (reader !== undefined && others.length === 0) new ReadBypass(ws, stream, reader, masked, maxPayload, receive);
}

const PLAIN_TEXT = FINAL | TEXT;
const PLAIN_BINARY = FINAL | BINARY;
const REPLACEMENT = '\ufffd';
/** The most bytes of a short text. A longer text is decoded by itself, because a substring keeps the whole text in memory. */
const SHORT_BYTES = 1024;

function isShortText(view: DataView, at: number, content: number, end: number): boolean {
  return view.getUint8(at) === PLAIN_TEXT && end - content <= SHORT_BYTES;
}
