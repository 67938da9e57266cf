import { catchError, EMPTY, interval, last, map, mergeMap, scan, Subject, switchMap, take, tap, timer } from 'rxjs';
import { connect, reopenOnReconnect, respond } from 'rxmux';
import { inspect } from 'rxmux/inspect';
import { createServer } from 'rxmux/testing';

/** So long a message travels, in ms: a line across a country. */
const LATENCY_MS = 25;
/** Far below the 64 KiB of the wire, so that a visitor sees slices. */
const SLICE_BYTES = 16_384;
const DRAIN_MS = 3_000;

/** 1.5 MiB in two seconds, as a slow disk reads them. */
const upload$ = interval(80).pipe(
  take(24),
  map(() => 'x'.repeat(4 * SLICE_BYTES)),
);

/** Answers by the `op` of the payload. */
const ANSWERS = {
  prices: () => interval(400).pipe(map((n) => ({ mux: 100 + (n % 7) }))),
  search: ({ term }) =>
    timer(120, 240).pipe(
      take(8),
      map((n) => `${term}, hit ${n + 1}`),
    ),
  square: ({ n }) => timer(60).pipe(map(() => n * n)),
  upload: (_payload, stream) =>
    stream.pipe(
      scan((bytes, text) => bytes + text.length, 0),
      last(null, 0),
    ),
};

/**
 * A client and a server in this page, without a network.
 *
 * @returns the feed of the client for an inspector, what a visitor can do, and a function that ends both
 */
export function world() {
  const server = createServer({ latencyMs: LATENCY_MS, maxFrameBytes: SLICE_BYTES });
  let acceptor = null;
  const answers = server.peers$
    .pipe(
      tap((peer) => (acceptor = peer)),
      mergeMap((peer) => peer.streams$.pipe(respond((payload, stream) => ANSWERS[payload?.op]?.(payload, stream)))),
    )
    .subscribe();

  const client = connect('ws://playground', {
    socket: server.socket,
    maxFrameBytes: SLICE_BYTES,
    keepalive: false,
    reconnect: { minDelayMs: 300 },
  });
  const inspection = inspect(client);
  const term$ = new Subject();
  const reading = reopenOnReconnect(client, { open: () => client.open$({ op: 'prices' }, { retry: 'safe' }) }).subscribe();
  const hits$ = (term) => (term === '' ? EMPTY : client.open$({ op: 'search', term }).pipe(catchError(() => EMPTY)));
  reading.add(term$.pipe(switchMap(hits$)).subscribe());

  let n = 2;
  const acts = {
    type: (term) => term$.next(term),
    upload: () => reading.add(client.open$({ op: 'upload' }, { input: upload$ }).subscribe({ error: () => undefined })),
    request: () => client.request({ op: 'square', n: n++ }).catch(() => undefined),
    goaway: () => acceptor?.close({ drainMs: DRAIN_MS }),
    cut: () => server.link?.cut(),
  };
  const close = () => {
    reading.unsubscribe();
    inspection.close();
    void client.close({ drainMs: 0 });
    answers.unsubscribe();
  };
  return { feed: inspection.feed, acts, close };
}
