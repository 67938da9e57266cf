import type { Metadata } from '../wire/frame.js';

/** Marks the open of a hello (C11). An older acceptor ignores it. */
export const HELLO_HEADER = 'mux.hello';

/** The value of the mark where the acceptor may ask for a fresh hello (C14). */
export const RENEWS = 'renews';

/** Why an acceptor takes no call: its first stream had to be a hello. */
export const NO_HELLO = 'this server expects a hello: pass connect() a hello';

/** Why an acceptor without `onHello` refuses a hello. */
export const NO_ON_HELLO = 'this server expects no hello: set its onHello, or pass connect() no hello';

/** Whether a stream is a hello, or asks for one. */
export function isMarked({ headers }: { readonly headers: Readonly<Metadata> | null }): boolean {
  return headers?.[HELLO_HEADER] !== undefined;
}
