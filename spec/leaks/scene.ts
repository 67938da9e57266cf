import { catchError, EMPTY, ignoreElements, merge, Subject } from 'rxjs';
import { connect, respond } from '../../src/index.js';
import type { ConnectOptions, Peer, PeerOptions, Stream } from '../../src/index.js';
import { createPair, createServer } from '../../src/testing.js';
import type { Link } from '../../src/testing.js';
import type { Counting, Held } from '../support/peer/counting.js';

/** Two peers: the asking peer sends the input, the asked peer answers. */
export interface Scene {
  readonly asking: Peer;
  readonly asked: () => Peer;
  readonly link: () => Link;
  /** The answer of the asked peer. Its first subscriber is the stream. */
  readonly answer$: Subject<unknown>;
  /** The input of a call. It completes with {@link finish}. */
  readonly input$: Subject<string>;
  readonly finished: Promise<string>;
  readonly finish: () => void;
  readonly abort: AbortController;
  /** The newest stream, at the asked peer. */
  readonly remote: () => Stream;
}

/** A socket that was full is watched for a minute, even after the end of the stream that filled it. */
export const LONGEST_WATCH_MS = 61_000;

const QUIET: PeerOptions = { keepalive: false };

/** A scene with two connected sides. */
export function joined(counting: Counting): Scene {
  const { dialer, acceptor, link } = createPair();
  return scene(
    counting,
    () => dialer,
    (answer) => {
      answer(acceptor, link);
    },
  );
}

/** A scene whose asking side dials. With `refused` no server answers. */
export function dialed(counting: Counting, options: ConnectOptions, refused = false): Scene {
  const server = createServer();
  if (refused) server.refuse(0);
  return scene(
    counting,
    () => connect('ws://test', { ...QUIET, socket: server.socket, ...options }),
    (answer) => {
      server.peers$.subscribe((peer) => {
        if (server.link !== null) answer(peer, server.link);
      });
    },
  );
}

function scene({ watch }: Counting, ask: () => Peer, onAsked: (answer: (peer: Peer, link: Link) => void) => void): Scene {
  const answer$ = new Subject<unknown>();
  const input$ = new Subject<string>();
  const abort = new AbortController();
  let finish: (value: string) => void = () => undefined;
  const finished = new Promise<string>((resolve) => (finish = resolve));
  let there: { readonly peer: Peer; readonly link: Link } | null = null;
  let remote: Stream | null = null;
  watch(abort.signal);
  onAsked((peer, link) => {
    there = { peer, link };
    peer.streams$
      .pipe(
        respond((_, stream) => {
          remote = stream;
          // A server that reads everything and answers.
          const read$ = stream.pipe(
            ignoreElements(),
            catchError(() => EMPTY),
          );
          return merge(read$, answer$);
        }),
      )
      .subscribe();
  });
  return {
    asking: ask(),
    asked: () => present(there).peer,
    link: () => present(there).link,
    answer$,
    input$,
    finished,
    finish() {
      input$.complete();
      finish('finished');
    },
    abort,
    remote: () => present(remote),
  };
}

export function present<T>(thing: T | null): T {
  if (thing === null) throw new Error('expected a value by now, got null');
  return thing;
}

/** The things held beyond those before, by kind; empty when nothing was added. */
export function surplus(before: Held, after: Held): Readonly<Record<string, number>> {
  const kinds = Object.keys(before) as (keyof Held)[];
  return Object.fromEntries(kinds.map((kind) => [kind, after[kind] - before[kind]] as const).filter(([, more]) => more !== 0));
}
