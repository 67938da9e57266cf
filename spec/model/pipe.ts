import type { SocketClose, Transport } from '../../src/transport/transport.js';
import type { Message } from '../../src/wire/codec.js';
import { ScriptedTransport } from '../support/socket/scripted-transport.js';

/** One end of a pipe, and its peer: 0 dialed, 1 accepted. */
export type End = 0 | 1;

export const ENDS: readonly End[] = [0, 1];

export const otherEnd = (end: End): End => (end === 0 ? 1 : 0);

/** The bytes that each message adds to the buffer of a stalled socket. A fixed number, so that a random nonce changes nothing. */
const STALLED_BYTES = 256 * 1024;

const LOST: SocketClose = { code: 1006, reason: '', wasClean: false };

/** The line between two sockets. It is ordered and lossless until it is cut, and `deliver` delivers each message. */
export class Pipe {
  readonly sockets = [new ScriptedTransport(), new ScriptedTransport()] as const;
  /** How many of the other end's messages each end has received. */
  readonly #got = [0, 0];
  readonly #stalled = [false, false];

  constructor(protocol: string) {
    for (const end of ENDS) {
      const socket = this.sockets[end];
      Object.assign<Transport, Pick<Transport, 'protocol'>>(socket, { protocol });
      socket.onSend = (message) => {
        if (this.#stalled[end] === true) socket.bufferedAmount += STALLED_BYTES;
        this.onSend(end, message);
      };
    }
  }

  /** Called with each message as it is written. */
  onSend: (from: End, message: Message) => void = () => undefined;

  /** Whether each socket has ended. */
  get isOver(): boolean {
    return this.sockets.every(({ closed }) => closed !== null);
  }

  /** Delivers the next message, or the end of the line, to one end. Returns `false` when nothing was delivered. */
  deliver(to: End): boolean {
    const from = otherEnd(to);
    const reader = this.sockets[to];
    const writer = this.sockets[from];
    if (reader.closed !== null || reader.paused || this.#stalled[from] === true) return false;
    const message = writer.sent[this.#got[to] ?? 0];
    if (message !== undefined) {
      this.#got[to] = (this.#got[to] ?? 0) + 1;
      reader.receive(message);
      return true;
    }
    const close = writer.closes[0];
    if (close !== undefined) {
      reader.end({ ...close, wasClean: true });
      writer.end({ ...close, wasClean: true });
      return true;
    }
    if (writer.closed === null) return false;
    reader.end(writer.closed.wasClean ? writer.closed : LOST);
    return true;
  }

  /** The messages on their way to one end. */
  undelivered(to: End): readonly Message[] {
    return this.sockets[otherEnd(to)].sent.slice(this.#got[to]);
  }

  /** Holds back all messages of an end, so that its socket fills up. */
  stall(end: End): void {
    this.#stalled[end] = true;
  }

  unstall(end: End): void {
    this.#stalled[end] = false;
    this.sockets[end].drainTo(0);
  }

  /** Runs one turn of both event loops. Returns `false` when no task waited for it. */
  turn(): boolean {
    const due = this.sockets.some(({ turnsDue }) => turnsDue > 0);
    for (const socket of this.sockets) socket.nextTurn();
    return due;
  }

  /** Ends the socket of an end. After a clean end its sent messages still arrive; otherwise both ends lose the line at once. */
  cut(end: End, clean: boolean): void {
    this.#stalled[end] = false;
    if (clean) this.sockets[end].end({ code: 1001, reason: 'cut', wasClean: true });
    else for (const socket of this.sockets) socket.end(LOST);
  }
}
