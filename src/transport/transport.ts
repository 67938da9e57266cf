import type { Observable } from 'rxjs';
import { CloseCode } from '../wire/close-reason.js';
import type { Message } from '../wire/codec.js';

/** How a socket ended, as the platform reports it. */
export interface SocketClose {
  readonly code: number;
  readonly reason: string;
  readonly wasClean: boolean;
}

/** The end of a socket that has seen no close frame. */
export function abnormalClose(reason = ''): SocketClose {
  return { code: CloseCode.ABNORMAL, reason, wasClean: false };
}

/**
 * One socket, which may still be connecting: messages in, messages out, and the few things a platform does in its own way.
 * This folder is the only one that touches a real clock or a real event loop.
 */
export interface Transport {
  /** The subprotocol that the handshake selected, or the empty string. */
  readonly protocol: string;
  /** Whether the platform hides why a handshake failed: to a browser any refusal looks like a lost connection. */
  readonly opaque: boolean;
  /** HTTP status of a refused handshake, where the platform shows it. */
  readonly refusedStatus: number | null;
  /** `Retry-After` of a refused handshake, in ms, where the platform shows it. */
  readonly retryAfterMs?: number | null;
  /** What the platform reports as the socket's failure, if anything. */
  readonly failure?: unknown;
  /** The subprotocol that the handshake was answered with, or the empty string, where the platform shows it even if it then fails the socket for it. */
  readonly answeredProtocol?: string | null;
  /** For one subscriber: completes when the socket is open or has ended without opening, which {@link closed} tells apart. */
  readonly opened$: Observable<never>;
  /** The socket's messages from the first on, for one subscriber; completes when the socket has ended. */
  readonly messages$: Observable<Message>;
  /** Bytes of the message that {@link messages$} gives just now, where they are known without measuring it. */
  readonly messageBytes?: number | null;
  /** How the socket ended; `null` until it has. Set before {@link messages$} completes. */
  readonly closed: SocketClose | null;
  /** Whether the socket takes messages: it is open, and neither end has begun to close it. */
  readonly writable: boolean;
  /** Bytes given to {@link send} that the socket still holds. */
  readonly bufferedAmount: number;
  /** All bytes that were given to the socket so far, with or without what it adds to a message. */
  readonly sentBytes: number;
  /** Whether {@link bufferedAmount} is at least `bytes`, which may be told without measuring what it holds. */
  holds(bytes: number): boolean;
  /** Gives one message to the socket, which takes none where it is not {@link writable}. */
  send(message: Message): void;
  /** Runs `task` in a later turn of the event loop, so that reading and timers get their share. */
  turn(task: () => void): void;
  /**
   * Runs `task` once, in a later turn, when the socket is writable and holds at most `bytes`, or hardly anything. A second
   * call replaces the first.
   */
  whenBelow(bytes: number, task: () => void): void;
  /** Stops reading from the socket, where the platform can. */
  pause(): void;
  /** Reads again. */
  resume(): void;
  /** Begins the closing handshake; `reason` is cut to what a close frame holds. */
  close(code: number, reason: string): void;
  /** Ends the socket at once and frees what it holds; reported as 1006 unless the socket ends in another way first. */
  terminate(reason?: string): void;
}
