import { Buffer } from 'node:buffer';
import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { FINAL, headerAt, headerSize, MASKED, MAX_HEADER_BYTES, ONE_BYTE_LENGTH, PING, PONG, viewOf } from './websocket-frame.js';
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
