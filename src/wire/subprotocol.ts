/** The prefix of every subprotocol of this wire generation: `mux.v1.`. */
export const PREFIX = 'mux.v1.';

/**
 * Returns the subprotocol for a codec: the only entry that a dialer offers, and the only one that an acceptor takes.
 *
 * @example
 * ```ts
 * subprotocol({ name: 'json' });   // 'mux.v1.json'
 * ```
 */
export function subprotocol(codec: { readonly name: string }): string {
  return PREFIX + codec.name;
}

/**
 * Whether a `Sec-WebSocket-Protocol` header names exactly `expected` in first place. Case matters. Later entries are free, so a dialer
 * may add some of its own.
 *
 * @param offered the header's value, with header lines joined by commas; `undefined` if there was none
 */
export function offersFirst(offered: string | undefined, expected: string): boolean {
  return offered?.split(',', 1)[0]?.trim() === expected;
}
