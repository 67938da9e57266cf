/**
 * The part of the WebSocket interface that this library uses. The `WebSocket` of a browser, the `WebSocket` of Node and the socket of
 * `ws` all have it.
 */
export interface SocketLike {
  readonly readyState: number;
  readonly protocol: string;
  /**
   * Bytes that were sent and have not left yet. Some sockets, such as React Native's, do not report it. They count as empty and exert
   * no back-pressure on senders.
   */
  readonly bufferedAmount?: number | undefined;
  binaryType: string;
  send(data: string | ArrayBuffer): void;
  close(code?: number, reason?: string): void;
  /** Ends the socket without a handshake, if the platform has such a call. */
  terminate?(): void;
  /** Stops reading, if the platform can. A browser's socket cannot. */
  pause?(): void;
  /** Resumes reading. */
  resume?(): void;
  /** HTTP status of a refused handshake, if the platform shows it. */
  readonly refusedStatus?: number | null;
  addEventListener(type: 'open' | 'message' | 'error' | 'close', listener: (event: SocketEvent) => void): void;
  removeEventListener(type: 'open' | 'message' | 'error' | 'close', listener: (event: SocketEvent) => void): void;
}

/** A socket that schedules turns itself, such as the sockets of `rxmux/testing`, so that time can be virtual. */
export interface SocketWithTurns extends SocketLike {
  /** Runs `task` in a later turn. */
  turn(task: () => void): void;
}

/** The members of a socket's events that the library reads. Each event has the members of its kind. */
export interface SocketEvent {
  readonly type: string;
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
  readonly wasClean?: boolean;
  readonly message?: string;
  /** The error that failed a socket of `ws`. */
  readonly error?: unknown;
}

/** Values of a socket's `readyState`. */
export const ReadyState = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 } as const;
