import { isPage } from '../../transport/connectivity.js';
import { StreamSocket } from '../../transport/stream-socket.js';
import type { WebSocketStreamLike } from '../../transport/stream-socket.js';
import type { SocketLike } from '../../transport/transport.js';
import { checkAddress, countUntilClosed, platformSocket, shownAddress } from './address.js';

/** The class that TypeScript does not declare. */
interface Platform {
  readonly WebSocketStream?: new (url: string, options: { readonly protocols: readonly string[] }) => WebSocketStreamLike;
}

/**
 * Makes the sockets of `connect` by the platform's `WebSocketStream`, so that a page can stop reading, as Node can. Chrome and Edge have it
 * from version 124 on, in pages and workers. Elsewhere each dial makes a `WebSocket`. Options, errors, close codes and refusals are the
 * same as over a `WebSocket`.
 *
 * Use it in a page that reads much and sends little: Chromium 156 may end a page that sends much over such a socket.
 * Upload over a second peer, without this option.
 *
 * @returns the value of the option `socket`
 *
 * @example
 * ```ts
 * import { connect } from 'rxmux';
 * import { webSocketStream } from 'rxmux/websocketstream';
 *
 * const peer = connect('wss://example.org/mux', { reconnect: true, socket: webSocketStream() });
 * ```
 */
export function webSocketStream(): (url: string, protocol: string) => SocketLike {
  return (url, protocol) => {
    const { WebSocketStream } = globalThis as typeof globalThis & Platform;
    if (typeof WebSocketStream !== 'function') return platformSocket(url, protocol);
    checkAddress(url);
    const socket = new StreamSocket(new WebSocketStream(url, { protocols: [protocol] }));
    if (isPage()) countUntilClosed(shownAddress(url), socket);
    return socket;
  };
}
