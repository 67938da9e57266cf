/**
 * Peers, streams and calls, with operators, errors, codecs and settings. It imports no Node module, and `connect` dials with the
 * `WebSocket` of the platform.
 *
 * @example
 * ```ts
 * import { take } from 'rxjs';
 * import { connect } from 'rxmux';
 *
 * const peer = connect('wss://example.org/mux', { reconnect: true });
 * const price$ = peer.open$<number>({ op: 'prices', symbol: 'ACME' });
 * // the third price cancels the call, and the server stops its work
 * price$.pipe(take(3)).subscribe({ next: console.log, error: console.error });
 * ```
 *
 * @module rxmux
 */
import './codec/register-json.js';

/* Connecting */
export { connect } from './peer/connect.js';
export type { ConnectOptions } from './peer/connect.js';
export type { ConnectUrl, DialContext } from './peer/dial/dialer.js';
export type { Hello } from './peer/hello.js';
export type { DialFailure, Reconnect } from './peer/dial/backoff.js';
export type { SocketEvent, SocketLike } from './transport/transport.js';

/* Peers and streams */
export { Peer } from './peer/peer.js';
export type { CloseOptions } from './peer/options.js';
export type { FrameEvent } from './peer/events.js';
export type { NewPeerOptions } from './peer/dial/given-socket.js';
export type { PeerContext, PeerOptions } from './peer/options.js';
export type { PeerStatus } from './peer/status.js';
export type { ByteCounts, PeerStats, StreamCounts, Traffic, Usage } from './peer/stats.js';
export { SharedPayload } from './stream/payload.js';
export { Stream } from './stream/stream.js';
export type { EndOptions, ReplyOptions, SendOptions } from './stream/sending.js';
export type { CallEnd, CallEvent } from './peer/events.js';
export type { InputOptions, OpenOptions } from './peer/calls.js';
export type { FeedOptions } from './stream/feed.js';
export type { Overflow } from './stream/feed.js';
export type { Input, NativeObservable, Source } from './stream/input.js';
export type { CloseCause } from './stream/end.js';
export type { StreamPhase } from './stream/state.js';
export type { Keepalive } from './connection/watchdog.js';

/* Hooks */
export type {
  CloseHandler,
  ErrorHandler,
  FrameObserver,
  HandlerFailure,
  IncomingHeadersInterceptor,
  OpenInterceptor,
  Remove,
  ReplyHeadersInterceptor,
  StreamHandler,
} from './peer/hooks.js';
export { defaultErrorSerializer } from './stream/end.js';
export type { ErrorSerializer } from './stream/end.js';

/* Operators over frames */
export { ofDirection } from './operators/select.js';
export type { WithDirection } from './operators/select.js';
export { ofStream } from './operators/select.js';
export { ofType } from './operators/select.js';
export type { WithFrame } from './operators/select.js';
export { assemble } from './operators/assemble.js';
export { decode } from './operators/decode.js';
export { demultiplex } from './operators/demultiplex.js';
export type { Routed, Sink, Sinks } from './operators/demultiplex.js';
export { encode } from './operators/encode.js';
export { fragment } from './operators/fragment.js';
export type { SliceQueue } from './operators/fragment.js';
export type { Slicer } from './wire/fragment.js';

/* Operators over peers, streams and calls */
export { closeReasons } from './peer/operators/hooks.js';
export type { PeerClose } from './peer/operators/hooks.js';
export { encodeOnce } from './stream/payload.js';
export { interceptIncomingHeaders } from './peer/operators/hooks.js';
export { interceptOpen } from './peer/operators/hooks.js';
export { interceptReplyHeaders } from './peer/operators/hooks.js';
export { observeFrames } from './peer/operators/hooks.js';
export { reopenOnReconnect } from './peer/operators/reopen.js';
export type { Reopen, ReopenAlike, ReopenFromNothing } from './peer/operators/reopen.js';
export { respond } from './peer/operators/respond.js';
export type { Answer } from './peer/operators/respond.js';
export { retryWhenSafe } from './peer/operators/reopen.js';
export type { Retry } from './peer/safe-retry.js';
export { through } from './peer/operators/respond.js';
export { withCredit } from './peer/operators/with-credit.js';
export type { Credit } from './peer/operators/with-credit.js';

/* The wire */
export { ABSENT } from './wire/frame.js';
export type { Absent, CompleteFrame, Frame, FrameDirection, Metadata, MetadataInput } from './wire/frame.js';
export { V1_FRAME_TYPES } from './wire/frame.js';
export type { FrameType } from './wire/frame.js';
export { fromMapping, toMapping } from './wire/mapping.js';
export { framesEqual } from './wire/mapping.js';
export { encodedLength } from './wire/length.js';
export { MAX_FRAME_BYTES, splitFrame } from './wire/fragment.js';
export { Assembler } from './wire/reassembly.js';
export { StreamFault } from './wire/errors.js';
export { Reassembly } from './wire/reassembly.js';
export { CloseCode } from './wire/codes.js';
export type { CloseReason } from './wire/codes.js';
export { ResetCode, resetCodeName } from './wire/codes.js';
export { PREFIX } from './wire/codec.js';
export { DEFAULT_LIMITS } from './wire/limits.js';
export type { DecodeLimits, Limits } from './wire/limits.js';
export type { Rate } from './util/time.js';
export type { Given } from './util/check.js';

/* Codecs */
export type { Codec, Message } from './wire/codec.js';
export { JsonCodec } from './codec/json.js';
export { clearCodecs, getCodec, registerCodec, registeredCodecs } from './codec/registry.js';
export { Settings, settings } from './settings.js';

/* Errors */
export { isMuxError } from './wire/errors.js';
export type { AnyMuxError } from './wire/errors.js';
export { CodecError, CodecMismatch, CodecNotRegistered, ConnectError, MuxError, ProtocolError } from './wire/errors.js';
export type { MuxErrorOptions } from './wire/errors.js';
export {
  CancelledError,
  ConnectionLostError,
  DeadlineExceededError,
  QueueOverflowError,
  RefusedError,
  RemoteError,
  ResetError,
  StreamError,
  StreamIdsExhaustedError,
} from './wire/errors.js';
export type { AnyStreamError, DeadlineOptions, StreamErrorOptions } from './wire/errors.js';

/* The rest */
export { logger } from './peer/debug-log.js';
export type { Logger, LogLevel } from './logger.js';
export { VERSION } from './version.js';
