import { Observable } from 'rxjs';
import { both } from '../../rx/both.js';
import { GuardedObservable } from '../../rx/guarded-observable.js';
import { feed } from '../../stream/feed.js';
import { isOneShot, releaseInput } from '../../stream/input.js';
import type { Input } from '../../stream/input.js';
import { openFor, readOpened } from '../stream/late-error.js';
import { checkOverflow } from '../stream/overflow.js';
import type { Overflow } from '../stream/overflow.js';
import type { InputOptions, OpenOptions } from './call-options.js';
import type { Calls } from '../calls.js';

/**
 * Opens a stream for each subscription, and sends the input on it. Completes when the remote has ended and the input is done.
 *
 * @throws TypeError for an unknown `overflow`, and for `retry` with an input that emits its values only once
 */
export function fedCall(calls: Calls, value: unknown, options: OpenOptions & InputOptions): Observable<unknown> {
  const { input, retry = false } = options;
  const overflow = checkOverflow(options.overflow);
  if (input === undefined) return calls.read$(value, options);
  if (retry !== false && isOneShot(input))
    throw new TypeError(
      'retry: expected an input that can be sent again, or a function that returns one, got an input that can be read only once',
    );
  return fed$(calls, value, options, input, overflow);
}

function fed$(calls: Calls, value: unknown, options: OpenOptions, input: Input<unknown>, overflow: Overflow): Observable<unknown> {
  return new GuardedObservable((subscriber) => {
    let isFed = false;
    subscriber.add(() => {
      if (!isFed) releaseInput(input);
    });
    const stream = subscriber.closed ? undefined : openFor(subscriber, () => calls.open(value, 'continue', options));
    if (stream === undefined) return undefined;
    if (stream.error !== null) return readOpened(subscriber, stream);
    if (subscriber.closed) {
      // An interceptor or `onOpen` has unsubscribed, so rxjs no longer reads the stream.
      stream.cancel();
      return undefined;
    }
    const sent$ = new Observable((sending) => {
      isFed = true;
      return feed(stream, input, { overflow }).subscribe(sending);
    });
    return both(stream.facade, sent$).subscribe(subscriber);
  });
}
