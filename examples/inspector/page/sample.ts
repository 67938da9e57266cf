import { catchError, EMPTY, interval, map, merge, mergeMap, take, tap, timer } from 'rxjs';
import { ResetCode } from 'rxmux';
import type { Stream } from 'rxmux';
import { inspect } from 'rxmux/inspect';
import type { InspectorFeed } from 'rxmux/inspect';
import { createPair } from 'rxmux/testing';

/** A feed, and a function that ends it. */
export interface Sample {
  readonly feed: InspectorFeed;
  readonly close: () => void;
}

interface Job {
  readonly op: string;
}

const SLICE_BYTES = 16_384;
const pieces$ = interval(110).pipe(
  take(16),
  map(() => 'x'.repeat(3 * SLICE_BYTES)),
);

/** Two peers in this page that do everything a stream can do: a feed, searches that are cancelled, requests, uploads and pushes. */
export function sample(): Sample {
  const { dialer, acceptor } = createPair({ latencyMs: 8, maxFrameBytes: SLICE_BYTES, dialer: { keepalive: { idleMs: 900 } } });
  acceptor.onStream(({ op }: Job, stream) => ANSWERS[op]?.(stream));
  dialer.onStream((_, stream) => stream.end());
  const inspection = inspect(dialer);
  const user = merge(
    dialer.open$({ op: 'prices' }),
    interval(700).pipe(mergeMap((n) => dialer.open$({ op: 'search', text: WORDS[n % WORDS.length] }).pipe(take(4)))),
    interval(430).pipe(mergeMap((n) => dialer.request$({ op: 'square', n }))),
    timer(900, 4_700).pipe(mergeMap(() => dialer.open$({ op: 'upload' }, { input: pieces$ }))),
    timer(1_800, 2_600).pipe(tap((n) => acceptor.notify({ op: 'news', n }))),
    timer(2_400, 5_100).pipe(mergeMap(() => dialer.request$({ op: 'book' }).pipe(catchError(() => EMPTY)))),
    timer(3_600, 5_100).pipe(mergeMap(() => dialer.request$({ op: 'gate' }).pipe(catchError(() => EMPTY)))),
  ).subscribe();
  const close = (): void => {
    user.unsubscribe();
    inspection.close();
    void dialer.close();
  };
  return { feed: inspection.feed, close };
}

const WORDS = ['rx', 'rxjs', 'red shoes', 'rain', 'rope'];

const ANSWERS: Readonly<Record<string, (stream: Stream) => unknown>> = {
  prices: (stream) => stream.sendAll(interval(160).pipe(map((n) => ({ mux: 100 + (n % 7) })))),
  search: (stream) => stream.sendAll(timer(30, 90).pipe(map((n) => ['hit', n]))),
  square: (stream) => new Promise((resolve) => setTimeout(() => void stream.reply(144).then(resolve, resolve), 70)),
  upload: (stream) => new Promise((resolve) => stream.subscribe({ complete: () => void stream.reply('stored').then(resolve) })),
  gate: (stream) => stream.reset(ResetCode.REFUSED, 'closed for lunch'),
  book: (stream) => stream.reset(ResetCode.APPLICATION_ERROR, 'no such seat'),
};
