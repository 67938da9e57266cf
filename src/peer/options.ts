import type { Peer } from './peer.js';
import { optionError } from '../util/check.js';
import { getCodec } from '../codec/registry.js';
import { DEFAULT_KEEPALIVE, KEEPALIVE } from '../connection/watchdog.js';
import type { Keepalive, KeepaliveTimes } from '../connection/watchdog.js';
import { settings } from '../settings.js';
import { defaultErrorSerializer } from '../stream/end.js';
import type { ErrorSerializer } from '../stream/end.js';
import { defaultLabel } from '../stream/label.js';
import type { Label } from '../stream/label.js';
import { asGiven, checkFunction, checkNumber, checkObject, checkReset, readObject, readOptions, refuseUnknown } from '../util/check.js';
import type { Given, Options } from '../util/check.js';
import { LazyMap } from '../util/collections.js';
import { checkedCodec } from '../wire/codec.js';
import type { Codec } from '../wire/codec.js';
import { ResetCode } from '../wire/codes.js';
import { MAX_FRAME_BYTES } from '../wire/fragment.js';
import { DEFAULT_LIMITS, resolveLimits } from '../wire/limits.js';
import type { Limits } from '../wire/limits.js';
import type { ErrorHandler, StreamHandler } from './hooks.js';
import type { RefusalLines } from './log.js';

/**
 * Facts that the acceptor knows about a peer, such as its user; `verify` sets them. Augment this interface with optional properties,
 * because the context of a dialing peer is empty: `declare module 'rxmux' { interface PeerContext { user?: User } }`
 */
export interface PeerContext {}

/** Options of every peer. */
export interface PeerOptions {
  /** Encodes and decodes the frames; both ends must use the same. Default the codec that is registered under `settings.codec`. */
  readonly codec?: Codec | undefined;
  /** Answers the streams that the remote opens. Default none: streams are refused. */
  readonly onStream?: StreamHandler | undefined;
  /** Chooses what callers see of a handler's error, as the payload of the reset. Default name and message. */
  readonly errorSerializer?: ErrorSerializer | undefined;
  /** Receives each error of a handler, with its stream; callers see less of it. Default none: the log shows the error, with its stack. */
  readonly onError?: ErrorHandler | undefined;
  /**
   * Makes `stream.label`, the name of a stream for people and tools, from the payload that opened it.
   * Default the text `op`, `type`, `method`, `name` or `event` of an object, or the first item of an array.
   */
  readonly label?: ((payload: unknown) => string) | undefined;
  /** Time-out of `request` and `request$`, in ms; 0 is no limit. Default 30 000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Probes a silent connection, then terminates it; `false` never does. Default `{ idleMs: 20_000, timeoutMs: 10_000 }`. */
  readonly keepalive?: false | Keepalive | undefined;
  /** Bounds what this side accepts and queues. Default `DEFAULT_LIMITS`. */
  readonly limits?: Given<Limits> | undefined;
  /**
   * Becomes `peer.context`, the same object for all peers of a server. Values that differ by peer come from `verify`. Default `{}`, one
   * for each peer.
   */
  readonly context?: PeerContext | undefined;
  /** Bytes of one encoded message that this side sends at most, for conformance runs only. Default 65 536, `MAX_FRAME_BYTES`. */
  readonly maxFrameBytes?: number | undefined;
}

/** {@link PeerOptions}, checked and with defaults. */
export interface ResolvedOptions {
  readonly isDialer: boolean;
  readonly codec: Codec;
  readonly onStream: StreamHandler | undefined;
  readonly errorSerializer: ErrorSerializer;
  readonly onError: ErrorHandler | undefined;
  readonly label: Label;
  readonly requestTimeoutMs: number;
  /** `null` if keepalive is off. */
  readonly keepalive: KeepaliveTimes | null;
  readonly limits: Limits;
  /** `null` if each peer has a context of its own. */
  readonly context: PeerContext | null;
  readonly maxFrameBytes: number;
  /** The log lines about refused streams: of all peers of one server, or of one dialing peer. */
  readonly refusals: RefusalLines;
}

/** Declares {@link PeerOptions}. */
export const PEER_OPTIONS: Options<PeerOptions, Omit<ResolvedOptions, 'codec' | 'refusals'> & { readonly codec: Codec | undefined }> = {
  codec: [asGiven, undefined],
  onStream: [checkFunction, undefined],
  errorSerializer: [checkFunction, defaultErrorSerializer],
  onError: [checkFunction, undefined],
  label: [checkFunction, defaultLabel],
  requestTimeoutMs: [checkNumber, 30_000],
  keepalive: [readKeepalive, DEFAULT_KEEPALIVE],
  limits: [(_name, given) => resolveLimits(given), DEFAULT_LIMITS],
  context: [checkObject, null],
  maxFrameBytes: [checkFrameBytes, MAX_FRAME_BYTES],
};

/**
 * Checks the given options once, and fills in the defaults.
 *
 * @throws CodecNotRegistered if no codec is given and the configured one is not registered; TypeError naming the option
 */
export function resolveOptions(options: PeerOptions, isDialer: boolean): ResolvedOptions {
  const used = readOptions(PEER_OPTIONS, options);
  const refusals: RefusalLines = new LazyMap();
  // A spread would make a hidden class of its own for each peer.
  return Object.assign(used, { isDialer, refusals, codec: checkedCodec(used.codec ?? getCodec(settings.codec)) });
}

function readKeepalive(name: string, given: false | Keepalive): KeepaliveTimes | null {
  return given === false ? null : readObject(name, given, KEEPALIVE, 'false or { idleMs, timeoutMs }');
}

function checkFrameBytes(name: string, bytes: number): number {
  if (Number.isInteger(bytes) && bytes >= 2 && bytes <= MAX_FRAME_BYTES) return bytes;
  throw optionError(name, `an integer from 2 to ${MAX_FRAME_BYTES}`, bytes);
}

/** Options of closing a peer, or a server with all its peers. */
export interface CloseOptions {
  /** How long live streams may go on, in ms; `Infinity` sets no limit. Default 0. */
  readonly drainMs?: number | undefined;
  /** Code of the goaway. After any other than NO_ERROR the remote closes the socket itself 1 s later (C7). Default 0, NO_ERROR. */
  readonly code?: ResetCode | undefined;
  /** Text of the goaway, cut to 1 024 bytes, and of the close frame, cut to 123 (R4). Default `''`. */
  readonly reason?: string | undefined;
}

/** {@link CloseOptions}, checked and with defaults. */
export interface ResolvedClose {
  readonly drainMs: number;
  readonly code: ResetCode;
  readonly reason: string;
}

/** Declares {@link CloseOptions}. */
export const CLOSE_OPTIONS: Options<CloseOptions, ResolvedClose> = {
  drainMs: [checkNumber, 0],
  code: [asGiven, ResetCode.NO_ERROR],
  reason: [asGiven, ''],
};

/** @throws TypeError naming the option */
export function resolveClose(options: CloseOptions): ResolvedClose {
  refuseUnknown('close', checkObject('close', options, '{ drainMs, code, reason }'), CLOSE_OPTIONS);
  const resolved = readOptions(CLOSE_OPTIONS, options);
  checkReset('close', resolved.code, resolved.reason);
  return resolved;
}

/**
 * @param caller the function that the user calls
 * @param used a member that identifies a Peer; not `instanceof`, because a page may hold two copies of this package
 * @throws TypeError unless `peer` is a peer
 */
export function checkPeer(caller: string, peer: unknown, used: keyof Peer): void {
  if (typeof peer !== 'object' || peer === null || !(used in peer)) throw optionError(caller, 'a Peer', peer);
}
