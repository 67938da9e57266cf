import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import type { CloseCause } from '../../session/base/close-cause.js';
import { completeGuarded } from '../../rx/guard.js';
import { HookList } from '../../rx/hook-list.js';
import { steadyNow } from '../../util/time.js';
import type { StreamCore } from '../stream/stream-core.js';
import { extrasOf } from '../stream/stream-extras.js';
import type { Stream } from '../../stream/stream.js';

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
