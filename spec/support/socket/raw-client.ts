import type { Socket } from 'node:net';
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { COMPRESSED, FINAL, OPCODE, TEXT } from '../../../src/transport/ws/websocket-frame.js';
import { framesIn } from './frames.js';
import { handshake } from './handshake.js';
import type { Answer } from './handshake.js';
import { until } from './leaks.js';

const CLOSE = 8;
const MASKED = 0x80;
/** zlib writes these bytes at each flush. A compressed message leaves them out (RFC 7692 §7.2.1). */
const TAIL = Buffer.from([0x00, 0x00, 0xff, 0xff]);

/** Compresses text by itself, as the content of a message. */
export function deflated(text: string): Buffer {
  return deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -TAIL.length);
}

/** A frame of a client. Its masking key is 0. */
export function clientFrame(first: number, content: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(content);
  const { length } = bytes;
  const head = Buffer.alloc(length < 126 ? 2 : length < 2 ** 16 ? 4 : 10);
  head.writeUInt8(first, 0);
  head.writeUInt8(MASKED | (length < 126 ? length : length < 2 ** 16 ? 126 : 127), 1);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, Buffer.alloc(4), bytes]);
}

/** A compressed text message. */
export function compressed(text: string): Buffer {
  return clientFrame(FINAL | COMPRESSED | TEXT, deflated(text));
}

/** A text message as it is. */
export function plain(text: string): Buffer {
  return clientFrame(FINAL | TEXT, text);
}

/** A client that writes bytes of its own, after a handshake. */
export class RawClient {
  #received = Buffer.alloc(0);
  hasEnded = false;

  private constructor(
    readonly socket: Socket,
    /** The extensions that the server has accepted. */
    readonly extensions: string | undefined,
  ) {
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
    });
    for (const end of ['end', 'close', 'error'])
      socket.on(end, () => {
        this.hasEnded = true;
      });
  }

  /** Dials, and offers these extensions; `null` offers none. */
  static async dial(server: Parameters<typeof handshake>[0], extensions: string | null = 'permessage-deflate'): Promise<RawClient> {
    const { status, headers, socket }: Answer = await handshake(server, { headers: { 'Sec-WebSocket-Extensions': extensions } });
    if (status !== 101) throw new Error(`expected 101, got ${status}`);
    return new RawClient(socket, headers['sec-websocket-extensions']);
  }

  /** Writes frames in one write. */
  write(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  /** The frames of JSON that have arrived. A server that compresses must do so without context takeover. */
  get messages(): readonly Readonly<Record<string, unknown>>[] {
    return framesIn(this.#received)
      .filter(({ bytes }) => (Number(bytes[0]) & OPCODE) === TEXT)
      .map(({ bytes, content }) => {
        const isCompressed = (Number(bytes[0]) & COMPRESSED) !== 0;
        const text = isCompressed ? inflateRawSync(Buffer.concat([content, TAIL]), { finishFlush: constants.Z_SYNC_FLUSH }) : content;
        return JSON.parse(text.toString()) as Record<string, unknown>;
      });
  }

  /** Resolves with the first message that has these members, or without them once the server has ended the socket. */
  async expect(members: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
    const found = (): Readonly<Record<string, unknown>> | undefined =>
      this.messages.find((message) => Object.entries(members).every(([key, value]) => message[key] === value));
    await until(
      () => `a message with ${JSON.stringify(members)}`,
      () => found() !== undefined || this.hasEnded,
    );
    return found() ?? { missing: members, received: this.messages };
  }

  /** Resolves with the code of the server's close frame, or with `null` if the socket ends without one. Then ends the socket. */
  async closed(): Promise<number | null> {
    const code = (): number | null => {
      const frame = framesIn(this.#received).find(({ bytes }) => (Number(bytes[0]) & OPCODE) === CLOSE);
      return frame === undefined ? null : frame.content.readUInt16BE(0);
    };
    await until('the socket to close', () => this.hasEnded || code() !== null);
    this.socket.destroy();
    return code();
  }
}
