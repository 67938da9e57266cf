import { asyncScheduler, Observable, Subscription } from 'rxjs';
import { CLOSING_MS } from '../../connection/watchdog.js';
import type { Transport } from '../../transport/transport.js';
import { CloseCode } from '../../wire/close-reason.js';
import type { CodecMismatch } from '../../wire/errors.js';

/**
 * Closes a socket that speaks another subprotocol (V7). Like any closing socket, it is terminated when nothing has moved for 2 s (C8).
 * Acts on subscription, and completes when the socket has ended.
 */
export function closeMismatched(transport: Transport, mismatch: CodecMismatch): Observable<never> {
  return new Observable((subscriber) => {
    const ended = (): void => {
      subscriber.complete();
    };
    let timer = Subscription.EMPTY;
    const wait = (): void => {
      timer.unsubscribe();
      timer = asyncScheduler.schedule(() => {
        transport.terminate('closing made no progress');
        ended();
      }, CLOSING_MS);
    };
    subscriber.add(() => {
      timer.unsubscribe();
    });
    transport.close(CloseCode.POLICY, mismatch.message);
    // A socket without a reader never sees the other side's close frame.
    subscriber.add(transport.messages$.subscribe({ next: wait, complete: ended }));
    if (!subscriber.closed) wait();
  });
}
