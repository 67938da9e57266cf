import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** An answer to an upgrade request in place of 101. */
export interface HttpAnswer {
  readonly status: number;
  /** The body: one line of text for people. */
  readonly reason: string;
  /** Header lines in addition to the default ones; a line of the same name replaces the default. */
  readonly headers?: readonly HeaderLine[] | undefined;
}

export type HeaderLine = readonly [name: string, value: string];

/** Headers of every text that may quote a request: they stop browsers from rendering it as a page. */
export const PLAIN_TEXT = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' } as const;

/** Ignores errors of a socket that is not upgraded yet. Without a listener they would end the process. */
export function ignoreErrors(socket: Duplex): void {
  if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
}

/**
 * Answers a request that will not be upgraded, and ends its connection. The caller already ignores the socket's errors. Returns `false`
 * if the dialer has left or another listener has answered.
 */
export function answerHttp(socket: Duplex, { status, reason, headers = [] }: HttpAnswer): boolean {
  if (!socket.writable) return false;
  const body = `${reason}\n`;
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...withDefaults(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  // A half closed socket would stay open until the other side ends it.
  socket.once('finish', () => socket.destroy());
  socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)]));
  return true;
}

function withDefaults(headers: readonly HeaderLine[]): readonly HeaderLine[] {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  return [...DEFAULT_HEADERS.filter(([name]) => !given.has(name.toLowerCase())), ...headers];
}

const DEFAULT_HEADERS: readonly HeaderLine[] = [...Object.entries(PLAIN_TEXT), ['Sec-WebSocket-Version', '13']];

function ignore(): void {
  // The socket ends too, and its end is all that callers need.
}
