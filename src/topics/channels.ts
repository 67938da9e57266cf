import { defer, share, tap } from 'rxjs';
import type { Observable, Subscriber } from 'rxjs';
import { getOrMake } from '../util/collections.js';
import { checkChannel } from './bus.js';
import { fromJson } from './json-value.js';

/**
 * Returns a function that opens a channel once for all its subscribers of this process, as long as it has any.
 *
 * A subscriber that comes at the very end of a channel opens it anew. So the channel is forgotten before its subscribers learn of the end.
 */
export function channels(open: (channel: string) => Observable<unknown>): <T>(channel: string) => Observable<T> {
  const opened = new Map<string, Observable<unknown>>();
  const openOnce = (channel: string): Observable<unknown> => {
    const forget = (): void => {
      if (opened.get(channel) === shared$) opened.delete(channel);
    };
    const shared$ = open(channel).pipe(tap({ error: forget, complete: forget, unsubscribe: forget }), share());
    return shared$;
  };
  return <T>(channel: string) => {
    checkChannel(channel);
    return defer(() => getOrMake(opened, channel, () => openOnce(channel))) as Observable<T>;
  };
}

/** Emits the value in a text, unless it is no JSON. */
export function emitJson(subscriber: Subscriber<unknown>, text: string, where: string): void {
  const value = fromJson(text, where);
  if (value !== undefined) subscriber.next(value);
}
