import type { WebSocket as Ws } from 'ws';
import type { WebSocketStreamLike } from '../../../src/transport/stream-socket.js';
import type { Message } from '../../../src/wire/codec.js';

type Opened = Awaited<WebSocketStreamLike['opened']>;
type CloseInfo = Awaited<WebSocketStreamLike['closed']>;

/** A promise, and the functions that settle it. */
class Deferred<T> {
  declare resolve: (value: T | PromiseLike<T>) => void;
  declare reject: (error: object) => void;
  readonly promise = new Promise<T>((resolve, reject) => Object.assign(this, { resolve, reject }));
}

/** The work of a platform for its WebSocketStream. */
export interface Platform {
  /** Reads one message more. */
  pull(): void;
  /** Sends a message. The write ends once the promise resolves. */
  write(message: Message): Promise<void>;
  /** Drops what is not written, and begins the closing handshake. */
  abort(): void;
  close(info: CloseInfo | undefined): void;
}

/** A WebSocketStream of which a test plays the platform. It has Node's own streams. */
export class FakeWebSocketStream implements WebSocketStreamLike {
  readonly #opening = new Deferred<Opened>();
  readonly #closing = new Deferred<CloseInfo>();
  readonly opened = this.#opening.promise;
  readonly closed = this.#closing.promise;
  #messages: ReadableStreamDefaultController<Message | Uint8Array> | null = null;

  constructor(private readonly platform: Platform) {}

  close(info?: CloseInfo): void {
    this.platform.close(info);
  }

  open(protocol: string): void {
    const { platform } = this;
    const readable = new ReadableStream<Message | Uint8Array>(
      {
        start: (controller) => {
          this.#messages = controller;
        },
        pull: () => {
          platform.pull();
        },
      },
      { highWaterMark: 0 },
    );
    const writable = new WritableStream<Message>({
      write: (message) => platform.write(message),
      abort: () => {
        platform.abort();
      },
    });
    this.#opening.resolve({ protocol, readable, writable });
  }

  receive(message: Message | Uint8Array): void {
    this.#messages?.enqueue(message);
  }

  /** Ends with a closing handshake. */
  end(info: CloseInfo): void {
    this.#messages?.close();
    this.#closing.resolve(info);
  }

  /** Ends without a closing handshake, or refuses the dial. */
  lose(info: CloseInfo = { closeCode: 1006, reason: '' }): void {
    const error = Object.assign(new Error('WebSocket was not cleanly closed.'), info);
    this.#messages?.error(error);
    this.#closing.reject(error);
    this.#opening.reject(error);
  }
}

/** A WebSocketStream of the test's own hands. It records what its user does. */
export class ScriptedWebSocketStream extends FakeWebSocketStream {
  static readonly dialed: ScriptedWebSocketStream[] = [];
  /** Writes, aborts and closes, in their order. */
  readonly log: unknown[] = [];
  /** How many messages the user has asked for. */
  pulls = 0;
  readonly #writes: (() => void)[] = [];

  constructor(
    readonly url: string,
    readonly options: { readonly protocols: readonly string[] },
  ) {
    super({
      pull: () => {
        this.pulls++;
      },
      write: (message) => {
        this.log.push(message);
        return new Promise((resolve) => this.#writes.push(resolve));
      },
      abort: () => void this.log.push('abort'),
      close: (info) => void this.log.push(['close', info]),
    });
    ScriptedWebSocketStream.dialed.push(this);
  }

  /** Ends the oldest write. */
  written(): void {
    this.#writes.shift()?.();
  }
}

/** A WebSocketStream over a socket of `ws`, with the close codes of a browser. */
export function streamOver(socket: Ws): FakeWebSocketStream {
  socket.binaryType = 'arraybuffer';
  const stream: FakeWebSocketStream = new FakeWebSocketStream({
    pull: () => {
      socket.resume();
    },
    write: (message) => new Promise((resolve, reject) => socket.send(message, (error) => (error ? reject(error) : resolve()))),
    abort: () => {
      socket.close();
    },
    close: (info) => {
      socket.close(info?.closeCode ?? undefined, info?.reason);
    },
  });
  socket.on('open', () => {
    stream.open(socket.protocol);
  });
  socket.on('message', (data, isBinary) => {
    socket.pause();
    stream.receive(isBinary ? (data as ArrayBuffer) : Buffer.from(data as ArrayBuffer).toString());
  });
  // The close event reports the failure.
  socket.on('error', () => undefined);
  socket.on('close', (closeCode, reason) => {
    const info = { closeCode, reason: reason.toString() };
    if (closeCode === 1006) stream.lose(info);
    else stream.end(info);
  });
  return stream;
}
