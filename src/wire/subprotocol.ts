/** What every subprotocol of this wire generation starts with: `mux.v1.`. */
export const PREFIX = 'mux.v1.';

/**
 * The subprotocol for a codec: the one entry a dialer offers and the only one an acceptor takes.
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
 * Whether a `Sec-WebSocket-Protocol` header names exactly `expected` in first place. Case matters; later entries are free,
 * so a dialer may add some of its own.
 *
 * @param offered the header's value, header lines already joined with commas; `undefined` when there was none
 */
export function offersFirst(offered: string | undefined, expected: string): boolean {
  return offered?.split(',', 1)[0]?.trim() === expected;
}
