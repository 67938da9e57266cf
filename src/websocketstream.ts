/**
 * Sockets over `WebSocketStream`, which Chromium has: a page that reads too slowly stops the sender.
 *
 * @example
 * ```ts
 * import { webSocketStream } from 'rxmux/websocketstream';
 * ```
 *
 * @module rxmux/websocketstream
 */
// The page has it anyway. Otherwise the build cuts index.js into more pieces, which compress worse.
import './index.js';
export { webSocketStream } from './peer/dial/web-socket-stream.js';
export type { SocketLike } from './transport/transport.js';
export { VERSION } from './version.js';
