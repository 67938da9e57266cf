import { Observable } from 'rxjs';
import { completeGuarded } from '../rx/guard.js';
import { Stream } from '../stream/stream.js';
import type { CloseReason } from '../wire/close-reason.js';
import type { Frame, FrameDirection } from '../wire/frame.js';
import { sizedFramesOf } from './base/sized-frames.js';
import { callEvent } from './calls/call-event.js';
import type { CallEvent } from './calls/call-event.js';
import type { PeerCore } from './core.js';
import { frozen, onCall } from './hooks.js';
import type { HandlerFailure } from './hooks.js';
import type { Peer } from './peer.js';

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

/** The hooks of a peer as Observables, each made on first use. */
export class PeerEvents {
  #frames$: Observable<FrameEvent> | null = null;
  #rtt$: Observable<number> | null = null;
  #closes$: Observable<CloseReason> | null = null;
  #errors$: Observable<HandlerFailure> | null = null;
  #calls$: Observable<CallEvent> | null = null;

  constructor(
    private readonly core: PeerCore,
    private readonly peer: Peer,
  ) {}

  // Return the same object at each read, because templates and effects compare by identity.
  get frames$(): Observable<FrameEvent> {
    return (this.#frames$ ??= this.#until('frames$', (next) =>
      sizedFramesOf(this.core).add((seen) => {
        next({ ...seen, frame: frozen(seen.frame), peer: this.peer });
      }),
    ));
  }

  get rtt$(): Observable<number> {
    return (this.#rtt$ ??= this.#until('rtt$', (next) => this.core.ownHooks.roundTrips.add(next)));
  }

  get closes$(): Observable<CloseReason> {
    return (this.#closes$ ??= this.#until('closes$', (next) => this.core.ownHooks.closes.add(next)));
  }

  get errors$(): Observable<HandlerFailure> {
    return (this.#errors$ ??= this.#until('errors$', (next) =>
      this.core.ownHooks.errors.add((error, stream) => {
        next({ error, stream });
      }),
    ));
  }

  get calls$(): Observable<CallEvent> {
    return (this.#calls$ ??= this.#until('calls$', (next) =>
      onCall(this.core.ownHooks, (stream, isNotification) => {
        next(callEvent(Stream.streamCore(stream), isNotification));
      }),
    ));
  }

  /** An Observable of a hook, from each subscription on. It completes when the peer has ended. */
  #until<T>(name: string, register: (next: (value: T) => void) => () => void): Observable<T> {
    return new Observable((subscriber) => {
      subscriber.add(
        register((value) => {
          subscriber.next(value);
        }),
      );
      subscriber.add(
        this.core.status.status$.subscribe({
          complete() {
            completeGuarded(`a subscriber of ${name}`, subscriber);
          },
        }),
      );
    });
  }
}
