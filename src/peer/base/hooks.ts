import { log } from '../../logger.js';
import type { CloseReason } from '../../wire/close-reason.js';
import type { Frame, FrameDirection, Metadata } from '../../wire/frame.js';
import { checkFunction } from '../../wire/check.js';
import { guard } from '../../rx/guard.js';
import { HookList } from '../../rx/hook-list.js';
import { isThenable, refuseThenable } from './guard.js';
import { freezeDeep } from './metadata.js';
import type { Stream } from '../stream/stream.js';

/**
 * Answers a stream that the remote opened; called once per stream. The handler's work ends when it returns, or when the promise that it
 * returns resolves. Then the stream is ended, unless it has ended already. If the handler throws or its promise rejects, the stream is
 * reset.
 *
 * `payload` is `null` when the open has none. Parameters may have narrower types: `(p: Sum, s: Stream<number>) => …`.
 */
// A handler may declare narrower parameters, because parameters of methods are bivariant. Parameters of function types are not.
export type StreamHandler = { bivarianceHack(payload: unknown, stream: Stream): unknown }['bivarianceHack'];

/**
 * Turns an error of a handler or an input into the payload of the reset; `null` or `undefined` sends no payload. The `message` of the
 * returned value, if it has one, is the reset's reason.
 *
 * A serializer of yours decides everything but the code: no other part of the error reaches the caller, even if another peer sent it.
 * Without a `message` the reason is `'internal error'`. If a serializer throws or returns a promise, the reset has that reason and no
 * payload, and the error is logged.
 *
 * @example
 * ```ts
 * serve({ port, handler, errorSerializer: () => ({ message: 'try again later' }) });
 * // at the caller: RemoteError { reason: 'try again later', payload: { message: 'try again later' } }
 * ```
 */
export type ErrorSerializer = (error: unknown) => unknown;

/**
 * Called with the headers of every call before a stream id is spent; it may change them in place. If it throws, the call fails with
 * that error.
 *
 * `payload` is a frozen copy of the payload to send. The result type `void | undefined` makes TypeScript refuse an async function: a
 * returned promise fails the call with a TypeError.
 */
export type OpenInterceptor = (headers: Metadata, payload: unknown) => void | undefined;

/** Called with the headers of this side's first frame on a stream that the remote opened; it may change them in place. */
export type ReplyHeadersInterceptor = (headers: Metadata, stream: Stream) => void | undefined;

/** Called with the headers of the remote's first frame on each stream. An error that it throws is logged. */
export type IncomingHeadersInterceptor = (headers: Readonly<Metadata>, stream: Stream) => void | undefined;

/**
 * Called with the reason of each socket that ends and each dial that fails, in order of registration. An error that it throws is
 * logged.
 */
export type CloseHandler = (reason: CloseReason) => void;

/**
 * Called with every frame as it is on the wire: `tx` before it is encoded, `rx` after it is decoded, each fragment separately. An error
 * that it throws is logged.
 */
export type FrameObserver = (direction: FrameDirection, frame: Frame) => void;

/**
 * Called with each handler error that only this side learns of, and the stream that the handler answered. It includes errors of
 * `respond`, and of an input passed to `sendAll`.
 *
 * It excludes errors meant for the caller, which have an integer `resetCode`, such as a ResetError or a RemoteError. It also excludes
 * errors that follow from the end of their stream. An error that the function throws is logged.
 */
export type ErrorHandler = (error: unknown, stream: Stream) => void;

/** The error of a handler, and the stream that it answered. */
export interface HandlerFailure {
  /** The thrown error, or the reason of the rejection. */
  readonly error: unknown;
  /** The stream; its `peer` is the peer of the handler. */
  readonly stream: Stream;
}

/** Removes a hook. It is safe to call it twice. */
export type Remove = () => void;

/** @throws TypeError unless the user's hook is a function; `name` is the hook's public name */
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
  /** The time on a clock that only moves forward, in ms. */
  readonly at: number;
  /** The length of the frame's message in bytes. */
  readonly bytes: number;
}

/** Every hook of one peer. */
export class Hooks {
  readonly open = new HookList<OpenInterceptor>();
  readonly replyHeaders = new HookList<ReplyHeadersInterceptor>();
  readonly incomingHeaders = new HookList<IncomingHeadersInterceptor>();
  readonly frames = new HookList<FrameObserver>();
  /** Observers of frames with their size. The size of a sent frame is known once the frame is encoded. */
  readonly sizedFrames = new HookList<(seen: SeenFrame) => void>();
  /** Of streams that this side opens. */
  readonly calls = new HookList<(stream: Stream, isNotification: boolean) => void>();
  /** Of round trips, in ms. */
  readonly roundTrips = new HookList<(rttMs: number) => void>();
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

  /** Passes the headers of the remote's first frame to the interceptors, which cannot change them. */
  arrived(headers: Readonly<Metadata>, stream: Stream): void {
    freezeDeep(headers);
    for (const hook of this.incomingHeaders)
      guard('an incoming-headers interceptor', () => {
        const result: unknown = hook(headers, stream);
        if (isThenable(result)) log('warn', 'an incoming-headers interceptor returned a promise, which is not awaited');
        return result;
      });
  }

  observed(direction: FrameDirection, frame: Frame): void {
    const seen = frozen(frame);
    for (const hook of this.frames) guard('a frame observer', () => hook(direction, seen));
  }

  called(stream: Stream, isNotification: boolean): void {
    for (const hook of this.calls)
      guard('a subscriber of calls$', () => {
        hook(stream, isNotification);
      });
  }

  sized(seen: SeenFrame): void {
    const copy = { ...seen, frame: frozen(seen.frame) };
    for (const hook of this.sizedFrames) guard('a subscriber of frames$', () => hook(copy));
  }

  /** @param reasonNow called for each handler, because a handler may change the reason for later ones */
  closed(reasonNow: () => CloseReason): void {
    for (const hook of this.closes) guard('a close handler', () => hook(reasonNow()));
  }
}

/** Copies and freezes a frame: an observer that changed it would change how it is sent or routed. */
function frozen(frame: Frame): Frame {
  return Object.freeze({ ...frame });
}
