import type { Observable } from 'rxjs';
import { CloseCode } from '../wire/close-reason.js';
import type { Codec, Message } from '../wire/codec.js';
import type { slicerToSend } from '../wire/fragment.js';
import type { FrameEncoder, SplitMessage } from '../wire/split-message.js';

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
  /** `Retry-After` of a refused handshake, in ms, if the platform shows it. */
  readonly retryAfterMs?: number | null;
  /** The failure of the socket as the platform reports it, if any. */
  readonly failure?: unknown;
  /**
   * The subprotocol in the answer to the handshake, or the empty string, if the platform shows it. It may show it even if it fails the
   * socket because of this subprotocol.
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
  /** Cuts frames for this socket. Default: `slicerToSend`. */
  readonly cut?: typeof slicerToSend | undefined;
  /** Passes one message to the socket. A socket that is not {@link writable} drops the message. */
  send(message: Message | SplitMessage): void;
  /** Runs `task` in a later turn of the event loop, so that reading and timers are not starved. */
  turn(task: () => void): void;
  /**
   * Runs `task` once, in a later turn, when the socket is writable and holds at most `bytes`, or hardly anything. A second call
   * replaces the first one.
   */
  whenBelow(bytes: number, task: () => void): void;
  /** Stops reading from the socket, if the platform can. */
  pause(): void;
  /** Resumes reading. */
  resume(): void;
  /** Begins the closing handshake. Cuts `reason` to the size that a close frame holds. */
  close(code: number, reason: string): void;
  /** Ends the socket at once and releases its resources. The close is reported as 1006, unless the socket ends in another way first. */
  terminate(reason?: string): void;
}
