import { Observable } from 'rxjs';
import type { Codec, Message } from '../wire/codec.js';
import { CloseCode } from '../wire/codes.js';
import type { slicerToSend } from '../wire/fragment.js';
import type { DataEncoder, EncodedFrame, FrameEncoder } from '../wire/shared.js';

/** How a socket ended, as the platform reports it. */
export interface SocketClose {
  readonly code: number;
  readonly reason: string;
  readonly wasClean: boolean;
}

/** The close of a socket that received no close frame. */
export function abnormalClose(reason = ''): SocketClose {
  return { code: CloseCode.ABNORMAL, reason, wasClean: false };
}

/**
 * One socket, which may still be connecting. It carries messages in and out, and hides the differences between platforms. Only this
 * folder uses a real clock or a real event loop.
 */
export interface Transport {
  /** The subprotocol that the handshake selected, or the empty string. */
  readonly protocol: string;
  /** Whether the platform hides why a handshake failed. To a browser, any refusal looks like a lost connection. */
  readonly opaque: boolean;
  /** The cause for which a socket is not open yet, if the platform shows it. */
  readonly awaits?: string | undefined;
  /** HTTP status of a refused handshake, if the platform shows it. */
  readonly refusedStatus: number | null;
  /** Text that the error of a failed handshake ends with: a line of the answer, and the likely cause. Default none. */
  readonly hint?: string | undefined;
  /** `Retry-After` of a refused handshake, in ms, if the platform shows it. */
  readonly retryAfterMs?: number | null;
  /** The failure of the socket as the platform reports it, if any. */
  readonly failure?: unknown;
  /**
   * The subprotocol in the answer to the handshake, if the platform shows it. The empty string if there is none, or if an acceptor has
   * refused the offer (V2). The platform may show it even if it fails the socket because of this subprotocol.
   */
  readonly answeredProtocol?: string | null;
  /**
   * Completes when the socket is open or has ended without opening; in the second case {@link closed} is not `null`. Allows one
   * subscriber.
   */
  readonly opened$: Observable<never>;
  /** Emits the socket's messages from the first one on; completes when the socket has ended. Allows one subscriber. */
  readonly messages$: Observable<Message>;
  /** Bytes of the message that {@link messages$} emits right now, if they are known without measuring it. */
  readonly messageBytes?: number | null;
  /** How the socket ended; `null` until then. Set before {@link messages$} completes. */
  readonly closed: SocketClose | null;
  /** Whether the socket accepts messages: it is open, and neither end has begun to close it. */
  readonly writable: boolean;
  /** Bytes passed to {@link send} that the socket still holds. */
  readonly bufferedAmount: number;
  /** All bytes passed to the socket so far, with or without its own framing of messages. */
  readonly sentBytes: number;
  /** The socket's own framing in {@link sentBytes}, in bytes. Default 0. */
  readonly framingBytes?: number;
  /** Whether {@link bufferedAmount} is at least `bytes`. The answer may need no measuring of the held messages. */
  holds(bytes: number): boolean;
  /** Returns the encoder of frames for this socket. Default: every message is whole, and {@link send} takes no other. */
  readonly encoder?: ((codec: Codec) => FrameEncoder) | undefined;
  /** Returns what encodes shared payloads for this socket. Default: they are encoded like others. */
  readonly dataEncoder?: ((codec: Codec) => DataEncoder) | undefined;
  /** Cuts frames for this socket. Default: `slicerToSend`. */
  readonly cut?: typeof slicerToSend | undefined;
  /** Passes one message to the socket. A socket that is not {@link writable} drops the message. */
  send(message: EncodedFrame): void;
  /** Runs `task` in a later turn of the event loop, so that reading and timers are not starved. */
  turn(task: () => void): void;
  /**
   * Runs `task` once, in a later turn, when the socket is writable and holds at most `bytes`, or hardly anything. A second call
   * replaces the first one.
   */
  whenBelow(bytes: number, task: () => void): void;
  /** Stops reading from the socket, if the platform can. */
  pause(): void;
  /** Resumes reading. The first message comes after this call has returned. */
  resume(): void;
  /** Begins the closing handshake. Cuts `reason` to the size that a close frame holds. */
  close(code: number, reason: string): void;
  /** Ends the socket at once and releases its resources. The close is reported as 1006, unless the socket ends in another way first. */
  terminate(reason?: string): void;
  /**
   * Runs `task` once the ended socket has released its TCP connection, or at once if it has already. Default: a socket that has ended has
   * released everything.
   */
  whenReleased?(task: () => void): void;
}

/**
 * The part of the WebSocket interface that this library uses. The `WebSocket` of a browser, the `WebSocket` of Node and the socket of
 * `ws` all have it.
 */
export interface SocketLike {
  /** The phase of the socket: 0 connecting, 1 open, 2 closing, 3 closed. */
  readonly readyState: number;
  /** The subprotocol that the server selected; empty if it selected none. */
  readonly protocol: string;
  /**
   * Bytes that were sent and have not left yet. Some sockets, such as React Native's, do not report it. They count as empty and exert
   * no back-pressure on senders.
   */
  readonly bufferedAmount?: number | undefined;
  /** The form of arriving bytes. The library sets `'arraybuffer'`. */
  binaryType: string;
  /** Queues one message: text of `json`, bytes of `msgpack`. */
  send(data: string | ArrayBuffer): void;
  /** Begins the close handshake. */
  close(code?: number, reason?: string): void;
  /** Ends the socket without a handshake, if the platform has such a call. */
  terminate?(): void;
  /** Stops reading, if the platform can. A browser's socket cannot. */
  pause?(): void;
  /** Resumes reading. The first message comes after this call has returned. */
  resume?(): void;
  /** The cause for which a socket is not open yet, if the platform shows it. */
  readonly awaits?: string | undefined;
  /** HTTP status of a refused handshake, if the platform shows it. */
  readonly refusedStatus?: number | null;
  /** The empty string if an acceptor of rxmux has refused the offered subprotocol. Default `null`: no acceptor has, or it is not known. */
  readonly answeredProtocol?: string | null;
  /** Calls `listener` for each event of a type. */
  addEventListener(type: 'open' | 'message' | 'error' | 'close', listener: (event: SocketEvent) => void): void;
  /** Stops calling `listener`. */
  removeEventListener(type: 'open' | 'message' | 'error' | 'close', listener: (event: SocketEvent) => void): void;
}

/** A socket that schedules turns itself, such as the sockets of `rxmux/testing`, so that time can be virtual. */
export interface SocketWithTurns extends SocketLike {
  /** Runs `task` in a later turn. */
  turn(task: () => void): void;
}

/** The members of a socket's events that the library reads. Each event has the members of its kind. */
export interface SocketEvent {
  /** The type of the event: `'open'`, `'message'`, `'error'` or `'close'`. */
  readonly type: string;
  /** The content of a message: text, or bytes. */
  readonly data?: unknown;
  /** The close code of a `close` event. */
  readonly code?: number;
  /** The text of the close frame. */
  readonly reason?: string;
  /** Whether a close handshake completed. */
  readonly wasClean?: boolean;
  /** The text of an `error` event, where the platform has one. */
  readonly message?: string;
  /** The error that failed a socket of `ws`. */
  readonly error?: unknown;
}

/** Values of a socket's `readyState`. */
export const ReadyState = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 } as const;

/** Returns whether a value has the methods of a socket that every platform has. */
export function isSocket(socket: unknown): boolean {
  const { addEventListener, send } = (socket ?? {}) as Partial<SocketLike>;
  return typeof addEventListener === 'function' && typeof send === 'function';
}

export function hasTurns(socket: SocketLike): socket is SocketWithTurns {
  return typeof (socket as Partial<SocketWithTurns>).turn === 'function';
}

type EventType = 'open' | 'message' | 'error' | 'close';

/** The events of a socket that is none of the platform's. */
export abstract class SocketEvents {
  readonly #listeners: Readonly<Record<EventType, Set<(event: SocketEvent) => void>>> = {
    open: new Set(),
    message: new Set(),
    error: new Set(),
    close: new Set(),
  };

  addEventListener(type: EventType, listener: (event: SocketEvent) => void): void {
    this.#listeners[type].add(listener);
  }

  removeEventListener(type: EventType, listener: (event: SocketEvent) => void): void {
    this.#listeners[type].delete(listener);
  }

  protected dispatch(event: SocketEvent & { readonly type: EventType }): void {
    for (const listener of [...this.#listeners[event.type]]) listener(event);
  }
}

/**
 * Emits the events of a target, and listens while subscribed.
 *
 * In place of `fromEvent`, which also takes emitters of Node and lists of targets.
 */
export function eventsOf<E extends Event>(
  target: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>,
  type: string,
): Observable<E> {
  return new Observable((subscriber) => {
    const listener = (event: Event): void => {
      subscriber.next(event as E);
    };
    target.addEventListener(type, listener);
    return () => {
      target.removeEventListener(type, listener);
    };
  });
}
