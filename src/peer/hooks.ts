import { log } from '../logger.js';
import { guard } from '../rx/subscribers.js';
import { HookList } from '../rx/values.js';
import { freezeDeep } from '../stream/metadata.js';
import { refuseThenable } from '../stream/promises.js';
import type { StreamCore } from '../stream/stream-core.js';
import type { Stream } from '../stream/stream.js';
import { checkFunction, isPromise, isThenable } from '../util/check.js';
import type { CloseReason } from '../wire/codes.js';
import type { Frame, FrameDirection, Metadata } from '../wire/frame.js';

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

/** Follows the streams of a peer. `rxmux/otel` implements it. */
export interface Tracer {
  /** Called with the headers of a call, after the interceptors. It may change them in place. */
  calling(headers: Metadata, payload: unknown): void;
  /** Called with the stream of that call, before its open is sent. A call that fails in between has none. */
  called(stream: StreamCore): void;
  /** Called with a stream of the remote. It calls `answer`, which runs the handlers. */
  answering(stream: StreamCore, answer: () => void): void;
}

/** Removes a hook. It is safe to call it twice. */
export type Remove = () => void;

/** Every hook of one peer. The functions below add the hooks of users. */
export class Hooks {
  /** May change the headers of an open. */
  readonly open = new HookList<(headers: Metadata, payload: unknown) => void>();
  readonly replyHeaders = new HookList<ReplyHeadersInterceptor>();
  readonly incomingHeaders = new HookList<(headers: Readonly<Metadata>, stream: Stream) => void>();
  readonly frames = new HookList<(direction: FrameDirection, frame: Frame) => void>();
  /** Called with each stream that this side opens. */
  readonly calls = new HookList<(stream: Stream, isNotification: boolean) => void>();
  /** Called with each round trip, in ms. */
  readonly roundTrips = new HookList<(rttMs: number) => void>();
  readonly closes = new HookList<CloseHandler>();
  readonly errors = new HookList<ErrorHandler>();

  /** @param reasonNow called for each handler, because a handler may change the reason for later ones */
  closed(reasonNow: () => CloseReason): void {
    for (const { hook } of this.closes.entries) guard('a close handler', () => hook(reasonNow()));
  }
}

/** {@link Hooks} as a peer runs them. */
export type HooksToRun = {
  readonly [Name in keyof Hooks]: Hooks[Name] extends HookList<infer F> ? Readonly<Pick<HookList<F>, 'entries'>> : Hooks[Name];
};

/** The hooks of every peer that has none. Most peers have none, and empty lists take 340 bytes of each. */
export const NO_HOOKS: HooksToRun = new Hooks();

// Each function throws a TypeError for a hook that is not a function.

export function onClose(hooks: Hooks, handler: CloseHandler): Remove {
  checkFunction('onClose', handler);
  return hooks.closes.add(handler);
}

export function onError(hooks: Hooks, handler: ErrorHandler): Remove {
  checkFunction('onError', handler);
  return hooks.errors.add(handler);
}

export function onFrame(hooks: Hooks, observer: FrameObserver): Remove {
  checkFunction('onFrame', observer);
  return hooks.frames.add((direction, frame) => {
    guard('a frame observer', () => observer(direction, frozen(frame)));
  });
}

/** Adds an observer of the streams that this side opens. */
export function onCall(hooks: Hooks, observer: (stream: Stream, isNotification: boolean) => void): Remove {
  return hooks.calls.add((stream, isNotification) => {
    guard('a subscriber of calls$', () => {
      observer(stream, isNotification);
    });
  });
}

/** @param name the public name of the hook */
export function onOpen(hooks: Hooks, name: string, interceptor: OpenInterceptor): Remove {
  checkFunction(name, interceptor);
  return hooks.open.add((headers, payload) => {
    refuseThenable('an open interceptor', interceptor(headers, payload));
  });
}

export function onReplyHeaders(hooks: Hooks, interceptor: ReplyHeadersInterceptor): Remove {
  checkFunction('interceptReplyHeaders', interceptor);
  return hooks.replyHeaders.add((headers, stream) => {
    refuseThenable('a reply-headers interceptor', interceptor(headers, stream));
  });
}

/** Adds an interceptor of the headers of the remote's first frames. The interceptor cannot change them. */
export function onIncomingHeaders(hooks: Hooks, interceptor: IncomingHeadersInterceptor): Remove {
  checkFunction('interceptIncomingHeaders', interceptor);
  return hooks.incomingHeaders.add((headers, stream) => {
    guard('an incoming-headers interceptor', () => {
      const result: unknown = interceptor(freezeDeep(headers), stream);
      if (isThenable(result)) log('warn', 'an incoming-headers interceptor returned a promise, which is not awaited');
      // `guard` would start a query that begins at its `then`.
      return isPromise(result) ? result : undefined;
    });
  });
}

/** Copies and freezes a frame: an observer that changed it would change how it is sent or routed. */
export function frozen(frame: Frame): Frame {
  return Object.freeze({ ...frame });
}
