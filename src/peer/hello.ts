import { Observable } from 'rxjs';
import type { Session } from '../connection/connection.js';
import { guard } from '../rx/guard.js';
import { freezeMetadata } from '../stream/metadata.js';
import type { Stream } from '../stream/stream.js';
import type { MetadataInput } from '../wire/frame.js';
import { RefusedError } from '../wire/stream-errors.js';
import type { PeerCore } from './core.js';
import type { DialContext, Greeting } from './dial/dial-plan.js';
import { encodedPayload } from './stream/encoded-payload.js';
import { readOne } from './stream/one-answer.js';
import { sendable } from './stream/sendable.js';
import { StreamCore } from './stream/stream-core.js';

/** Default time limit of a hello and its reply together, on either side, in ms. */
export const HELLO_TIMEOUT_MS = 10_000;

/**
 * The first stream of every socket, for tokens and resume cursors (C11). A value that the codec cannot encode fails the dial.
 *
 * @example
 * ```ts
 * connect('wss://example.org/mux', { hello: () => ({ payload: { token }, onReply: (user) => console.log(user) }) });
 * // { name: 'ann' }
 * ```
 */
export interface Hello {
  /**
   * The payload for the server's `onHello`, at most 64 KiB unless the server's `helloLimits` say otherwise. If it is missing or
   * `undefined`, none is sent, and `onHello` receives `null` (S12).
   */
  readonly payload?: unknown;
  /** Headers of the hello's open. Open interceptors do not see them. Default none. */
  readonly headers?: MetadataInput | undefined;
  /** Receives the server's reply. As with a `StreamHandler`, its parameter may have a narrower type. */
  // Declared as a method, for the same reason as `StreamHandler`.
  readonly onReply?: { bivarianceHack(reply: unknown, stream: Stream): void }['bivarianceHack'] | undefined;
}

/** Makes the hello of each socket. */
export type MakeHello = (context: DialContext) => Hello | Promise<Hello>;

/**
 * Sends a hello on each new session. It fails if `make` throws, if the server refuses, and if the hello and its reply take longer than
 * `timeoutMs` together.
 */
export function greetingWith(make: MakeHello, timeoutMs: number): Greeting {
  return { make, timeoutMs, send: sayHello };
}

/** The stream of a hello. It belongs to its socket, so unlike other streams it never waits for the next one. */
class HelloStream extends StreamCore {
  override requeue(): boolean {
    return false;
  }
}

/** Opens the stream of the hello. Open interceptors do not see it. */
function sayHello(core: PeerCore, session: Session, hello: Hello, timeoutMs: number): Observable<never> {
  return new Observable((subscriber) => {
    // Emit nothing: the socket is ending, and its end fails the dial.
    if (session.closing.isOver || !session.transport.writable) return;
    if (!session.acceptsStreams) throw new RefusedError('the remote is going away', null);
    checkHello(hello);
    const payload = encodedPayload(core.codec, hello.payload);
    const fields = { type: 'open', payload: payload.value, headers: freezeMetadata(hello.headers, core.codec), end: true };
    const frame = sendable(core, fields, payload, session.streams.nextId);
    const stream = new HelloStream(core, true, false, frame.headers, frame.payload);
    session.adopt(stream);
    stream.limit(timeoutMs);
    readOne(
      stream,
      (reply) => {
        guard('onReply of the hello', () => hello.onReply?.(reply, stream.facade));
        subscriber.complete();
      },
      (error) => {
        subscriber.error(error);
      },
    );
    stream.send(frame);
  });
}

/** @throws TypeError for a value that is not an object; it shows only the value's type, because the value may be a token */
function checkHello(given: unknown): void {
  const got = given === null ? 'null' : Array.isArray(given) ? 'array' : typeof given;
  if (got !== 'object') throw new TypeError(`hello(): expected { payload, headers, onReply }, got ${got}`);
}
