import { finalize, share } from 'rxjs';
import type { Observable, Subscriber } from 'rxjs';
import { getOrMake } from '../util/collections.js';
import { fromJson } from './json-value.js';

/** Returns a function that opens a channel once for all its subscribers of this process. */
export function channels(open: (channel: string) => Observable<unknown>): <T>(channel: string) => Observable<T> {
  const opened = new Map<string, Observable<unknown>>();
  const openOnce = (channel: string): Observable<unknown> =>
    open(channel).pipe(
      finalize(() => opened.delete(channel)),
      share(),
    );
  return <T>(channel: string) => getOrMake(opened, channel, () => openOnce(channel)) as Observable<T>;
}

/** Emits the value in a text, unless it is no JSON. */
export function emitJson(subscriber: Subscriber<unknown>, text: string, where: string): void {
  const value = fromJson(text, where);
  if (value !== undefined) subscriber.next(value);
}
