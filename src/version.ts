/** The version of this package, as in its manifest. It never goes on the wire. */
export const VERSION: string = '1.0.0';
