import { log } from '../../logger.js';
import type { CloseReason } from '../../wire/close-reason.js';
import type { Frame, FrameDirection, Metadata } from '../../wire/frame.js';
import { checkFunction } from '../../wire/check.js';
import { guard, isThenable, refuseThenable } from './guard.js';
import { freezeDeep } from './metadata.js';
import type { Stream } from '../stream/stream.js';

/**
 * Answers a stream that the remote opened; called once per stream. A promise it returns is its work: when the handler
 * settles without having ended the stream, the stream is ended; when it throws, the stream is reset.
 *
 * `payload` is `null` when the remote opened with none. Parameters may be annotated narrower: `(p: Sum, s: Stream<number>) => …`.
 */
// Parameters of methods are bivariant, those of function types are not: so a handler may annotate narrower ones.
export type StreamHandler = { bivarianceHack(payload: unknown, stream: Stream): unknown }['bivarianceHack'];

/**
 * Turns what a handler or an input threw into the payload of the reset; `null` or `undefined` sends no payload. The `message` of the
 * value, if it has one, is the reset's reason.
 *
 * A serializer of yours decides everything but the code: nothing else of the error reaches the caller, whether another peer sent it
 * or not. Without a `message` the reason is `'internal error'`. A serializer that throws or returns a promise sends that reason
 * without a payload, and is logged.
 *
 * @example
 * ```ts
 * serve({ port, handler, errorSerializer: () => ({ message: 'try again later' }) });
 * // at the caller: RemoteError { reason: 'try again later', payload: { message: 'try again later' } }
 * ```
 */
export type ErrorSerializer = (error: unknown) => unknown;

/**
 * Sees, and may change in place, the headers of every call before a stream id is spent. What it throws fails the call.
 * `payload` is a frozen copy of what is sent. `void | undefined`, so that TypeScript refuses an async function: a promise returned fails
 * the call with a TypeError.
 */
export type OpenInterceptor = (headers: Metadata, payload: unknown) => void | undefined;

/** Sees, and may change in place, the headers of this side's first frame on a stream that the remote opened. */
export type ReplyHeadersInterceptor = (headers: Metadata, stream: Stream) => void | undefined;

/** Sees the headers of the remote's first frame on each stream. What it throws is logged. */
export type IncomingHeadersInterceptor = (headers: Readonly<Metadata>, stream: Stream) => void | undefined;

/**
 * Called with the reason of each socket that ends and each dial that fails, in order of registration. What it throws is logged.
 */
export type CloseHandler = (reason: CloseReason) => void;

/**
 * Called for every frame as it is on the wire: `tx` before it is encoded, `rx` after it is decoded, each fragment by itself. What it
 * throws is logged.
 */
export type FrameObserver = (direction: FrameDirection, frame: Frame) => void;

/**
 * Called with each error of a handler that only this side can learn of, and the stream it answered. Errors of `respond`, and of an
 * input given to `sendAll`, are among them. An error that is meant for the caller is not: one with an integer `resetCode`, such as a
 * ResetError or a RemoteError. Neither is an error that follows from the end of its stream. What the function throws is logged.
 */
export type ErrorHandler = (error: unknown, stream: Stream) => void;

/** The error of a handler, and the stream that it answered. */
export interface HandlerFailure {
  readonly error: unknown;
  /** Its `peer` says whose it is. */
  readonly stream: Stream;
}

/** Takes a hook out again. Safe to call twice. */
export type Remove = () => void;

const NONE: readonly never[] = [];

/** Callbacks of one kind, in the order of their registration. The same function may be registered twice. */
export class HookList<F> {
  #entries: readonly { readonly hook: F }[] = NONE;

  get empty(): boolean {
    return this.#entries.length === 0;
  }

  add(hook: F): Remove {
    const entry = { hook };
    this.#entries = [...this.#entries, entry];
    return () => {
      this.#entries = this.#entries.filter((other) => other !== entry);
    };
  }

  /** A hook added or removed meanwhile counts from the next time on. */
  [Symbol.iterator](): Iterator<F> {
    return this.#entries.map(({ hook }) => hook).values();
  }
}

/** @throws TypeError for a hook of the user's that is not a function; `name` is what the user calls it */
export function addHook<F>(hooks: HookList<F>, name: string, hook: F): Remove {
  checkFunction(name, hook);
  return hooks.add(hook);
}

/** One frame on a socket. */
export interface SeenFrame {
  readonly direction: FrameDirection;
  readonly frame: Frame;
  /** The number of the socket. */
  readonly connection: number;
  /** On a clock that only goes forward, in ms. */
  readonly at: number;
  /** The length of its message. */
  readonly bytes: number;
}

/** Every hook of one peer. */
export class Hooks {
  readonly open = new HookList<OpenInterceptor>();
  readonly replyHeaders = new HookList<ReplyHeadersInterceptor>();
  readonly incomingHeaders = new HookList<IncomingHeadersInterceptor>();
  readonly frames = new HookList<FrameObserver>();
  /** Of frames with their size, which one that is sent has once it is encoded. */
  readonly sizedFrames = new HookList<(seen: SeenFrame) => void>();
  readonly closes = new HookList<CloseHandler>();
  readonly errors = new HookList<ErrorHandler>();

  /** @throws TypeError for an observer that is not a function */
  onFrame(observer: FrameObserver): Remove {
    checkFunction('onFrame', observer);
    return this.frames.add((direction, frame) => observer(direction, frame));
  }

  /** Runs the open interceptors over a fresh copy of the caller's headers. */
  opening(headers: Metadata, payload: unknown): void {
    for (const hook of this.open) refuseThenable('an open interceptor', hook(headers, payload));
  }

  /** Runs the reply-headers interceptors over a fresh copy of the caller's headers. */
  replying(headers: Metadata, stream: Stream): void {
    for (const hook of this.replyHeaders) refuseThenable('a reply-headers interceptor', hook(headers, stream));
  }

  /** Shows the headers of the remote's first frame, which no interceptor can change. */
  arrived(headers: Readonly<Metadata>, stream: Stream): void {
    freezeDeep(headers);
    for (const hook of this.incomingHeaders)
      guard('an incoming-headers interceptor', () => {
        const result: unknown = hook(headers, stream);
        if (isThenable(result)) log('warn', 'an incoming-headers interceptor gave a promise, for which nobody waits');
        return result;
      });
  }

  observed(direction: FrameDirection, frame: Frame): void {
    if (this.frames.empty) return;
    const seen = frozen(frame);
    for (const hook of this.frames) guard('a frame observer', () => hook(direction, seen));
  }

  sized(seen: SeenFrame): void {
    const copy = { ...seen, frame: frozen(seen.frame) };
    for (const hook of this.sizedFrames) guard('a subscriber of frames$', () => hook(copy));
  }

  /** @param reasonNow asked for each handler: one may change it for those after it */
  closed(reasonNow: () => CloseReason): void {
    for (const hook of this.closes) guard('a close handler', () => hook(reasonNow()));
  }
}

/** An observer could write to a frame itself, and the frame would be sent or routed as it is then. */
function frozen(frame: Frame): Frame {
  return Object.freeze({ ...frame });
}
