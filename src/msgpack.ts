/**
 * The codec `msgpack`. It needs the package `@msgpack/msgpack`.
 *
 * @example
 * ```ts
 * import { MsgpackCodec } from 'rxmux/msgpack';
 * ```
 *
 * @module rxmux/msgpack
 */
export { MsgpackCodec } from './codec/msgpack.js';
export { VERSION } from './version.js';
