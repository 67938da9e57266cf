/**
 * A smaller client of pages: `connect`, calls, and one function for each other feature.
 *
 * @example
 * ```ts
 * import { connect, reconnect } from 'rxmux/lean';
 * ```
 *
 * @module rxmux/lean
 */
import './codec/register-json.js';

/* Connecting */
export { connect, hello, reconnect } from './peer/lean/peer.js';
export type { Greets, LeanConnectOptions, Reconnecting } from './peer/lean/peer.js';
export type { DialOptions } from './peer/dial/dialer.js';
export type { ConnectUrl, DialContext } from './peer/dial/dial.js';
export type { Hello, MakeHello } from './peer/hello.js';
export type { DialFailure, Reconnect } from './peer/dial/backoff.js';
export type { SocketEvent, SocketLike } from './transport/transport.js';

/* Peers and streams */
export { LeanPeer } from './peer/lean/peer.js';
export type { LeanOptions } from './peer/lean/peer.js';
export type { CloseOptions } from './peer/options.js';
export type { PeerContext } from './peer/options.js';
export type { PeerStatus } from './peer/status.js';
export type { ByteCounts, PeerStats, StreamCounts, Traffic, Usage } from './peer/stats.js';
export type { PeerBase } from './peer/peer-base.js';
export { LeanStream } from './stream/stream.js';
export type { EndOptions, ReplyOptions, SendOptions } from './stream/sending.js';
export type { InputOptions } from './peer/calls.js';
export type { Retry } from './peer/safe-retry.js';
export type { FeedOptions } from './stream/feed.js';
export type { Input } from './stream/input.js';
export type { Overflow } from './stream/feed.js';
export type { CloseCause } from './stream/end.js';
export type { StreamPhase } from './stream/state.js';
export type { Keepalive } from './connection/watchdog.js';
export type { CloseHandler, FrameObserver, OpenInterceptor, Remove } from './peer/hooks.js';

/* Functions of peers and streams, each imported by the pages that use it */
export { onClose, onFrame, onOpen, onStream, openWith, ping, stats } from './peer/lean/functions.js';
export type { LeanHandler } from './peer/lean/functions.js';
export { closed, end, iterate, reply, send, sendAll, sendHeaders, signalOf } from './peer/lean/functions.js';
export { retryWhenSafe } from './peer/operators/reopen.js';

/* The wire */
export type { Given } from './util/check.js';
export type { CloseReason } from './wire/codes.js';
export type { Codec, Message } from './wire/codec.js';
export type { Frame, FrameDirection, Metadata, MetadataInput } from './wire/frame.js';
export type { Limits } from './wire/limits.js';
export type { Rate } from './util/time.js';

/* Errors */
export { isMuxError } from './wire/errors.js';
export type { AnyMuxError } from './wire/errors.js';
export { ResetCode } from './wire/codes.js';

/* The rest */
export { logger } from './peer/lean/functions.js';
export { VERSION } from './version.js';
