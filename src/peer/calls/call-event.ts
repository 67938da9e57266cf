import { AsyncSubject } from 'rxjs';
import type { Observable } from 'rxjs';
import type { CloseCause } from '../../session/base/close-cause.js';
import { steadyNow } from '../../transport/steady-clock.js';
import type { StreamCore } from '../stream/stream-core.js';
import type { Stream } from '../stream/stream.js';

/** A stream that this side opens. */
export interface CallEvent {
  /** It has no id while it waits for a socket. */
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
  const end$ = new AsyncSubject<CallEnd>();
  const ended = (cause: CloseCause): void => {
    end$.next({ at: steadyNow(), cause });
    end$.complete();
  };
  if (stream.cause === null) stream.extras.whenGone(ended);
  else ended(stream.cause);
  return { stream: stream.facade, at: steadyNow(), isNotification, end$: end$.asObservable() };
}
