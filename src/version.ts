/** The version of this package, as in its manifest. It is never sent on the wire. */
export const VERSION: string = '1.0.0';
