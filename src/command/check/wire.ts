import type { RawData, WebSocket } from 'ws';
import { Habits } from './habits.js';
import { isEnvelope } from '../raw-codec.js';
import type { Envelope, RawCodec } from '../raw-codec.js';

/** The end of a socket. */
interface Closed {
  readonly code: number;
}

/** One raw connection to the target: frames in, frames out, nothing in between. Fragments are joined, and pings are answered. */
export class Wire {
  /** Frames that no step has taken. */
  readonly inbox: Envelope[] = [];
  readonly habits: Habits;
  closed: Closed | null = null;
  readonly #partials = new Map<unknown, Envelope[]>();
  #changed = (): void => undefined;

  /** @param parity the parity of the ids that the target opens */
  constructor(
    readonly socket: WebSocket,
    private readonly codec: RawCodec,
    parity: 0 | 1,
  ) {
    this.habits = new Habits(parity);
    socket.on('message', (message: RawData, isBinary: boolean) => {
      this.#receive(message as Buffer, isBinary);
    });
    socket.on('close', (code: number) => {
      this.closed = { code };
      this.#changed();
    });
    socket.on('error', () => undefined);
  }

  send(message: string | Uint8Array, binary = typeof message !== 'string'): void {
    this.socket.send(message, { binary });
  }

  /** Takes the first frame that is meant, and waits for it. Resolves to `null` if the time is up or the socket has ended. */
  async take(isMeant: (frame: Envelope) => boolean, withinMs: number): Promise<Envelope | null> {
    await this.#until(() => this.inbox.some(isMeant), withinMs);
    const at = this.inbox.findIndex(isMeant);
    return at < 0 ? null : (this.inbox.splice(at, 1)[0] ?? null);
  }

  /** Waits until the socket has ended. */
  async ended(withinMs: number): Promise<Closed | null> {
    await this.#until(() => false, withinMs);
    return this.closed;
  }

  async #until(isMet: () => boolean, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!isMet() && this.closed === null && performance.now() < deadline) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - performance.now());
        this.#changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #receive(message: Buffer, isBinary: boolean): void {
    const frame = this.#decoded(message, isBinary);
    this.habits.see(frame, message.byteLength);
    if (frame['type'] === 'ping') this.send(this.codec.encode({ ...frame, type: 'pong' }));
    else this.#whole(frame);
    this.#changed();
  }

  #decoded(message: Buffer, isBinary: boolean): Envelope {
    if (isBinary !== this.codec.binary) return { type: 'a message of the wrong kind' };
    return read('a message', () => {
      const frame = this.codec.decode(isBinary ? message : message.toString());
      return isEnvelope(frame) ? frame : { type: 'a message that is no map' };
    });
  }

  #whole(frame: Envelope): void {
    const { stream, fragment, more, ...rest } = frame;
    if (fragment === undefined) {
      this.inbox.push(frame);
      return;
    }
    const fragments = [...(this.#partials.get(stream) ?? []), frame];
    this.#partials.set(stream, fragments);
    if (more === true) return;
    this.#partials.delete(stream);
    const whole = (): Envelope => ({ ...rest, stream, payload: this.codec.join(fragments.map((part) => part['fragment'] as string)) });
    this.inbox.push(read('a payload in fragments', whole));
  }
}

/** Reads a frame. One that cannot be read becomes a frame of an unknown type, which no row expects. */
function read(what: string, frame: () => Envelope): Envelope {
  try {
    return frame();
  } catch (error) {
    return { type: `${what} that does not decode: ${String(error)}` };
  }
}
