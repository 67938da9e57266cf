/**
 * The codec `rich`: JSON that also carries `Date`, Map, Set, bigint, `undefined`, bytes and every number.
 *
 * @example
 * ```ts
 * import { RichCodec } from 'rxmux/rich';
 * ```
 *
 * @module rxmux/rich
 */
export { RichCodec } from './codec/rich.js';
export { VERSION } from './version.js';
