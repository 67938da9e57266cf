/**
 * Peers, streams and calls, with operators, errors, codecs and settings. It imports no Node module, and `connect` dials with the
 * `WebSocket` of the platform.
 *
 * @example
 * ```ts
 * import { connect } from 'rxmux';
 * ```
 *
 * @module rxmux
 */
import './codec/register-json.js';

/* Connecting */
export { connect } from './peer/connect.js';
export type { ConnectOptions } from './peer/dial/connect-options.js';
export type { ConnectUrl, DialContext } from './peer/dial/dial-plan.js';
export type { Hello } from './peer/hello.js';
export type { DialFailure, Reconnect } from './peer/dial/reconnect-options.js';
export type { SocketEvent, SocketLike } from './transport/socket-like.js';

/* Peers and streams */
export { Peer } from './peer/peer.js';
export type { CloseOptions } from './peer/base/close-options.js';
export type { FrameEvent } from './peer/events.js';
export type { NewPeerOptions } from './peer/over-socket.js';
export type { PeerBase } from './peer/peer-base.js';
export type { PeerContext, PeerOptions } from './peer/options.js';
export type { PeerStatus } from './peer/status.js';
export type { ByteCounts, PeerStats, StreamCounts, Traffic, Usage } from './peer/stats.js';
export { SharedPayload } from './stream/shared-payload.js';
export type { LeanStream } from './peer/stream/lean-stream.js';
export { Stream } from './stream/stream.js';
export type { EndOptions, ReplyOptions, SendOptions } from './peer/stream/send-options.js';
export type { CallEnd, CallEvent } from './peer/calls/call-event.js';
export type { InputOptions, OpenOptions } from './peer/calls/call-options.js';
export type { FeedOptions } from './stream/feed.js';
export type { Overflow } from './peer/stream/overflow.js';
export type { Input } from './stream/input.js';
export type { CloseCause } from './session/base/close-cause.js';
export type { StreamPhase } from './stream/state.js';
export type { Keepalive } from './session/watch/keepalive.js';

/* Hooks */
export type {
  CloseHandler,
  ErrorHandler,
  ErrorSerializer,
  FrameObserver,
  HandlerFailure,
  IncomingHeadersInterceptor,
  OpenInterceptor,
  Remove,
  ReplyHeadersInterceptor,
  StreamHandler,
} from './peer/hooks.js';
export { defaultErrorSerializer } from './peer/base/error-serializer.js';

/* Operators over frames */
export { ofDirection } from './operators/of-direction.js';
export type { WithDirection } from './operators/of-direction.js';
export { ofStream } from './operators/of-stream.js';
export { ofType } from './operators/select.js';
export type { WithFrame } from './operators/select.js';
export { assemble } from './operators/assemble.js';
export { decode } from './operators/decode.js';
export { demultiplex } from './operators/demultiplex.js';
export type { Routed, Sink, Sinks } from './operators/route.js';
export { encode } from './operators/encode.js';
export { fragment } from './operators/fragment.js';
export type { SliceQueue } from './operators/fragment.js';
export type { Slicer } from './wire/slicer.js';

/* Operators over peers, streams and calls */
export { closeReasons } from './peer/operators/close-reasons.js';
export type { PeerClose } from './peer/operators/close-reasons.js';
export { encodeOnce } from './peer/operators/encode-once.js';
export { interceptIncomingHeaders } from './peer/operators/intercept-incoming-headers.js';
export { interceptOpen } from './peer/operators/intercept-open.js';
export { interceptReplyHeaders } from './peer/operators/intercept-reply-headers.js';
export { observeFrames } from './peer/operators/observe-frames.js';
export { reopenOnReconnect } from './peer/operators/reopen.js';
export type { Reopen, ReopenAlike, ReopenFromNothing } from './peer/operators/reopen.js';
export { respond } from './peer/operators/respond.js';
export type { Answer } from './peer/operators/respond.js';
export { retryWhenSafe } from './peer/operators/retry-when-safe.js';
export type { Retry } from './peer/safe-retry.js';
export { through } from './peer/operators/through.js';
export { withCredit } from './peer/operators/with-credit.js';
export type { Credit } from './peer/operators/with-credit.js';

/* The wire */
export { ABSENT } from './wire/frame.js';
export type { Absent, CompleteFrame, Frame, FrameDirection, Metadata, MetadataInput } from './wire/frame.js';
export { V1_FRAME_TYPES } from './wire/frame-types.js';
export type { FrameType } from './wire/frame-types.js';
export { fromMapping, toMapping } from './wire/mapping.js';
export { framesEqual } from './wire/frames-equal.js';
export { encodedLength } from './wire/length.js';
export { MAX_FRAME_BYTES, splitFrame } from './wire/fragment.js';
export { Assembler } from './wire/assembler.js';
export { StreamFault } from './wire/fault.js';
export { Reassembly } from './wire/reassembly.js';
export { CloseCode } from './wire/close-reason.js';
export type { CloseReason } from './wire/close-reason.js';
export { ResetCode, resetCodeName } from './wire/codes.js';
export { PREFIX } from './wire/subprotocol.js';
export { DEFAULT_LIMITS } from './wire/limits.js';
export type { DecodeLimits, Limits, Rate } from './wire/limits.js';
export type { Given } from './wire/check.js';

/* Codecs */
export type { Codec, Message } from './wire/codec.js';
export { JsonCodec } from './codec/json.js';
export { clearCodecs, getCodec, registerCodec, registeredCodecs } from './codec/registry.js';
export { Settings, settings } from './settings.js';

/* Errors */
export { isMuxError } from './wire/any-error.js';
export type { AnyMuxError } from './wire/any-error.js';
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
} from './wire/stream-errors.js';
export type { AnyStreamError, DeadlineOptions, StreamErrorOptions } from './wire/stream-errors.js';

/* The rest */
export { logger } from './logger.js';
export type { Logger, LogLevel } from './logger.js';
export { VERSION } from './version.js';
