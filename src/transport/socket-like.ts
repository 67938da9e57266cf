/**
 * The part of the WebSocket interface that this library uses. A browser's `WebSocket` is one, Node's is one, and so is
 * one of `ws`.
 */
export interface SocketLike {
  readonly readyState: number;
  readonly protocol: string;
  /** Bytes that were sent and have not left; one that does not tell, as React Native's, counts as empty, and nothing holds its senders back. */
  readonly bufferedAmount?: number | undefined;
  binaryType: string;
  send(data: string | ArrayBuffer): void;
  close(code?: number, reason?: string): void;
  /** Ends the socket without a handshake, where the platform has such a call. */
  terminate?(): void;
  /** Stops reading, where the platform can: a browser's socket cannot. */
  pause?(): void;
  /** Reads again. */
  resume?(): void;
  /** HTTP status of a refused handshake, where the platform shows it. */
  readonly refusedStatus?: number | null;
  addEventListener(type: 'open' | 'message' | 'error' | 'close', listener: (event: SocketEvent) => void): void;
  removeEventListener(type: 'open' | 'message' | 'error' | 'close', listener: (event: SocketEvent) => void): void;
}

/** A socket with turns of its own time, as those of `rxmux/testing` have, so that time can be virtual. */
export interface SocketWithTurns extends SocketLike {
  /** Runs `task` in a later turn. */
  turn(task: () => void): void;
}

/** The members of a socket's events that are read; each event has those of its kind. */
export interface SocketEvent {
  readonly type: string;
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
  readonly wasClean?: boolean;
  readonly message?: string;
  /** What a socket of `ws` failed with. */
  readonly error?: unknown;
}

/** `readyState` of a socket, as the platform numbers it. */
export const ReadyState = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 } as const;
