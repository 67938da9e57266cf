import { getCodec } from '../codec/registry.js';
import { DEFAULT_KEEPALIVE, KEEPALIVE } from '../session/watch/keepalive.js';
import type { Keepalive, KeepaliveTimes } from '../session/watch/keepalive.js';
import { settings } from '../settings.js';
import { defaultLabel } from '../stream/label.js';
import type { Label } from '../stream/label.js';
import { asGiven, readObject, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';
import { checkBoolean, checkFunction, checkNumber, checkObject, optionError } from '../wire/check.js';
import type { Given } from '../wire/check.js';
import { checkedCodec } from '../wire/codec.js';
import type { Codec } from '../wire/codec.js';
import { MAX_FRAME_BYTES } from '../wire/fragment.js';
import { DEFAULT_LIMITS, resolveLimits } from '../wire/limits.js';
import type { Limits } from '../wire/limits.js';
import { defaultErrorSerializer } from './base/error-serializer.js';
import type { ErrorHandler, ErrorSerializer, StreamHandler } from './hooks.js';

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
}

/** Declares {@link PeerOptions}. */
export const PEER_OPTIONS: Options<PeerOptions, Omit<ResolvedOptions, 'codec'> & { readonly codec: Codec | undefined }> = {
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
  checkBoolean('isDialer', isDialer);
  const used = readOptions(PEER_OPTIONS, options);
  // A spread would make a hidden class of its own for each peer.
  return Object.assign(used, { isDialer, codec: checkedCodec(used.codec ?? getCodec(settings.codec)) });
}

function readKeepalive(name: string, given: false | Keepalive): KeepaliveTimes | null {
  return given === false ? null : readObject(name, given, KEEPALIVE, 'false or { idleMs, timeoutMs }');
}

function checkFrameBytes(name: string, bytes: number): number {
  if (Number.isInteger(bytes) && bytes >= 2 && bytes <= MAX_FRAME_BYTES) return bytes;
  throw optionError(name, `an integer from 2 to ${MAX_FRAME_BYTES}`, bytes);
}
