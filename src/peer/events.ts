import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { completeGuarded, guard } from '../rx/subscribers.js';
import { HookList } from '../rx/values.js';
import type { CloseCause } from '../stream/end.js';
import type { StreamCore } from '../stream/stream-core.js';
import { Stream } from '../stream/stream.js';
import { extrasOf } from '../stream/extras.js';
import { getOrMake } from '../util/collections.js';
import { steadyNow } from '../util/time.js';
import type { CloseReason } from '../wire/codes.js';
import type { Frame, FrameDirection } from '../wire/frame.js';
import { encodedLength } from '../wire/length.js';
import type { EncodedFrame } from '../wire/shared.js';
import type { PeerCore } from './core.js';
import { frozen, onCall } from './hooks.js';
import type { HandlerFailure, Remove } from './hooks.js';
import type { Peer } from './peer.js';

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

/** Observers of frames with their size. The size of a sent frame is known once the frame is encoded. */
export class SizedFrames {
  readonly #observers = new HookList<(seen: SeenFrame) => void>();

  /** Adds an observer. The frame is the peer's own: code of users gets a frozen copy of it. */
  add(observer: (seen: SeenFrame) => void): Remove {
    return this.#observers.add((seen) => {
      guard('a subscriber of frames$', () => {
        observer(seen);
      });
    });
  }

  encoded(connection: number, frame: Frame, message: EncodedFrame): void {
    this.#see(connection, 'tx', frame, typeof message === 'string' ? encodedLength(message) : message.byteLength);
  }

  received(connection: number, frame: Frame, bytes: number): void {
    this.#see(connection, 'rx', frame, bytes);
  }

  #see(connection: number, direction: FrameDirection, frame: Frame, bytes: number): void {
    for (const { hook } of this.#observers.entries) hook({ direction, frame, connection, at: steadyNow(), bytes });
  }
}

/** Returns the observers of a peer's frames, made on first use. */
export function sizedFramesOf(core: { sized: SizedFrames | null }): SizedFrames {
  return (core.sized ??= new SizedFrames());
}

/** A stream that this side opens. */
export interface CallEvent {
  /** It has no id yet. */
  readonly stream: Stream;
  /** When it was opened, in ms on a clock that only goes forward. Only times of one program compare. */
  readonly at: number;
  /** Whether `notify` opened it: no answer is expected, and its end says only that it has left. */
  readonly isNotification: boolean;
  /** Emits the end once, also to late subscribers, and completes. */
  readonly end$: Observable<CallEnd>;
}

/** The end of a call. */
export interface CallEnd {
  /** When it ended, on the clock of {@link CallEvent.at}. */
  readonly at: number;
  /** Why it ended. */
  readonly cause: CloseCause;
}

/** Makes the event of a stream that is being opened. */
export function callEvent(stream: StreamCore, isNotification: boolean): CallEvent {
  const waiting = new HookList<Subscriber<CallEnd>>();
  let end: CallEnd | null = null;
  const ended = (cause: CloseCause): void => {
    end = { at: steadyNow(), cause };
    for (const { hook: subscriber } of waiting.entries) subscriber.next(end);
    for (const { hook: subscriber } of waiting.entries) completeGuarded('a subscriber of end$', subscriber);
  };
  if (stream.cause === null) extrasOf(stream).whenGone(ended);
  else ended(stream.cause);
  const end$ = new Observable<CallEnd>((subscriber) => {
    if (end === null) {
      subscriber.add(waiting.add(subscriber));
      return;
    }
    subscriber.next(end);
    subscriber.complete();
  });
  return { stream: stream.facade, at: steadyNow(), isNotification, end$ };
}

/** A frame of a peer, with the number of its socket, its time and its size. */
export interface FrameEvent<F extends Frame = Frame> {
  /** `tx` if the peer sends the frame, `rx` if the peer has received it. */
  readonly direction: FrameDirection;
  /** The frame as it is on the wire. Each fragment of a payload is a frame of its own. */
  readonly frame: F;
  /** The peer that sends or has received the frame. */
  readonly peer: Peer;
  /** The number of the socket, counted from 1 over the opened sockets of this peer. Stream ids are unique only within a socket. */
  readonly connection: number;
  /** When the frame was encoded or received, in ms on a clock that only moves forward. Only times of one program compare. */
  readonly at: number;
  /** The length of the frame's message in bytes: UTF-8 bytes under `json`. */
  readonly bytes: number;
}

// The hooks of a peer as Observables. Each is the same object at each read, because templates and effects compare by identity.

export function frames$(core: PeerCore): Observable<FrameEvent> {
  return until(core, 'frames$', (next) =>
    sizedFramesOf(core).add((seen) => {
      next({ ...seen, frame: frozen(seen.frame), peer: core.peer });
    }),
  );
}

export function rtt$(core: PeerCore): Observable<number> {
  return until(core, 'rtt$', (next) => core.ownHooks.roundTrips.add(next));
}

export function closes$(core: PeerCore): Observable<CloseReason> {
  return until(core, 'closes$', (next) => core.ownHooks.closes.add(next));
}

export function errors$(core: PeerCore): Observable<HandlerFailure> {
  return until(core, 'errors$', (next) =>
    core.ownHooks.errors.add((error, stream) => {
      next({ error, stream });
    }),
  );
}

export function calls$(core: PeerCore): Observable<CallEvent> {
  return until(core, 'calls$', (next) =>
    onCall(core.ownHooks, (stream, isNotification) => {
      next(callEvent(Stream.streamCore(stream), isNotification));
    }),
  );
}

/** Returns the Observable of a hook, from each subscription on. It completes when the peer has ended. */
function until<T>(core: PeerCore, name: string, register: (next: (value: T) => void) => () => void): Observable<T> {
  const made = (): Observable<unknown> =>
    new Observable<T>((subscriber) => {
      subscriber.add(
        register((value) => {
          subscriber.next(value);
        }),
      );
      subscriber.add(
        core.status.status$.subscribe({
          complete() {
            completeGuarded(`a subscriber of ${name}`, subscriber);
          },
        }),
      );
    });
  return getOrMake((core.events ??= new Map()), name, made) as Observable<T>;
}
