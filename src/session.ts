/**
 * Sessions that end: fresh hellos on the same socket, and refusals that stop a dialer.
 *
 * @example
 * ```ts
 * import { renewing, sessionEnds, sessionExpired, sessionRefused } from 'rxmux/session';
 * ```
 *
 * @module rxmux/session
 */
export { renewing } from './peer/renewing.js';
export { sessionEnds, sessionExpired, sessionRefused } from './peer/session.js';
export type { SessionEndOptions } from './peer/session.js';
export type { Hello } from './peer/hello.js';
export type { DialContext } from './peer/dial/dialer.js';
export { VERSION } from './version.js';
