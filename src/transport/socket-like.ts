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
  /** Resumes reading. */
  resume?(): void;
  /** The cause for which a socket is not open yet, if the platform shows it. */
  readonly awaits?: string | undefined;
  /** HTTP status of a refused handshake, if the platform shows it. */
  readonly refusedStatus?: number | null;
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
