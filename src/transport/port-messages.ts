/**
 * Messages between the two sockets themselves. The dialer offers a subprotocol (`open`), and the acceptor takes it
 * (`accept`) or closes. `read` has the bytes read so far. `end` is the last word of an end that closes without a handshake.
 */
export type Control =
  | readonly ['open' | 'accept', protocol: string]
  | readonly ['close', code: number, reason: string]
  | readonly ['read', bytes: number]
  | readonly ['end'];

/** Reads a message of the other end, which may be anybody's frame. `null` is for the socket's reader. */
export function controlOf(data: unknown): Control | null {
  if (!Array.isArray(data)) return null;
  const [type, first, second] = data as readonly unknown[];
  if ((type === 'open' || type === 'accept') && typeof first === 'string') return [type, first];
  if (type === 'close' && Number.isSafeInteger(first) && typeof second === 'string') return [type, Number(first), second];
  if (type === 'read' && Number.isSafeInteger(first)) return [type, Number(first)];
  return type === 'end' ? [type] : null;
}

/** Bytes or characters of a message, as both ends count them. */
export function sizeOf(data: string | ArrayBuffer | ArrayBufferView): number {
  return typeof data === 'string' ? data.length : data.byteLength;
}

/** The bytes of a view alone: a port would copy all of its buffer, and other bytes of the program with it. */
export function ownBytes({ buffer, byteOffset, byteLength }: ArrayBufferView): ArrayBufferLike {
  return buffer.slice(byteOffset, byteOffset + byteLength);
}
