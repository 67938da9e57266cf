import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { firstValueFrom, interval, takeUntil, timer } from 'rxjs';
import WebSocket from 'ws';
import { isMuxError, Peer, retryWhenSafe } from '../../src/index.js';
import type { CloseReason, Keepalive, Reconnect, SocketLike } from '../../src/index.js';
import { connect } from '../../src/node.js';

export interface ClientOptions {
  readonly port: number;
  readonly count: number;
  readonly reconnect: boolean | Reconnect;
  readonly keepalive?: Keepalive | undefined;
}

/** A lost connection as its client saw it, on the clock that all processes share. */
export interface Loss extends CloseReason {
  readonly at: number;
  /** The number of the client: 0, 1, … */
  readonly client: number;
}

/** Outcomes of the calls of a load. */
export interface Calls {
  readonly answered: readonly string[];
  /** Ids of the calls that failed, with the code of the error. */
  readonly failed: readonly (readonly [id: string, code: string])[];
  /** The number of calls with a wrong answer. */
  readonly wrong: number;
  readonly waitsMs: readonly number[];
}

/** The progress of a page that reads. */
export interface PageRead {
  readonly pieces: number;
  /** The most bytes that had arrived and were not read. */
  readonly mostUnreadBytes: number;
  /** Why the stream ended early. */
  readonly error?: string;
}

type Call = (peer: Peer, id: string) => Promise<boolean>;

let peers: Peer[] = [];
const losses: Loss[] = [];

/** The role of a child that dials. */
export const CLIENT_ANSWERS = {
  dial: async ({ port, count, ...options }: ClientOptions): Promise<void> => {
    peers = Array.from({ length: count }, () => connect(`ws://127.0.0.1:${port}`, options));
    for (const [client, peer] of peers.entries()) peer.onClose((reason) => losses.push({ ...reason, client, at: Date.now() }));
    await Promise.all(peers.map((peer) => peer.opened));
  },
  dialPages: async ({ port, count }: Pick<ClientOptions, 'port' | 'count'>): Promise<void> => {
    peers = Array.from({ length: count }, () => new Peer(pageSocket(`ws://127.0.0.1:${port}`), { isDialer: true }));
    for (const peer of peers) void peer.serve();
    await Promise.all(peers.map((peer) => peer.opened));
  },
  losses: (): Loss[] => losses.splice(0),
  /** One request of each client, all at once. */
  echo: ({ ms }: { readonly ms: number }): Promise<Calls> => calls((peer, id) => echo(peer, id, ms), 0),
  /** Consecutive requests of each client for `ms`. */
  echoFor: ({ ms, safe }: { readonly ms: number; readonly safe: boolean }): Promise<Calls> =>
    calls(safe ? echoSafely : (peer, id) => echo(peer, id, 0), ms),
  uploadFor: ({ ms, bytes, pieces }: { readonly ms: number; readonly bytes: number; readonly pieces: number }): Promise<Calls> =>
    calls((peer, id) => upload(peer, id, bytes, pieces), ms),
  /** Every second client sends a notification each `everyMs` for `ms`, even if the server does not read. */
  chatter: ({ everyMs, ms }: { readonly everyMs: number; readonly ms: number }): void => {
    interval(everyMs)
      .pipe(takeUntil(timer(ms)))
      .subscribe(() => {
        for (const [client, peer] of peers.entries()) if (client % 2 === 1) peer.notify({ op: 'echo', id: randomUUID(), ms: 0 });
      });
  },
  /** Reads one stream of the server per client, as fast as its connection carries it. */
  read: (job: object): void => {
    for (const peer of peers) peer.open$(job).subscribe({ error: () => undefined });
  },
  /** Reads one stream of the server per client, a piece each `everyMs`. */
  readSlowly: ({ job, everyMs }: { readonly job: object; readonly everyMs: number }): Promise<PageRead[]> =>
    Promise.all(peers.map((peer) => readSlowly(peer, job, everyMs))),
  close: async (): Promise<void> => {
    await Promise.all(peers.map((peer) => peer.close()));
  },
};

/** A socket that cannot pause its reading, as in a browser. */
function pageSocket(url: string): SocketLike {
  return Object.assign(new WebSocket(url, 'mux.v1.json', { perMessageDeflate: false }), {
    pause: () => undefined,
    resume: () => undefined,
  });
}

async function readSlowly(peer: Peer, job: object, everyMs: number): Promise<PageRead> {
  let [pieces, arrivedBytes, readBytes, mostUnreadBytes] = [0, 0, 0, 0];
  peer.onFrame((direction, { fragment, payload }) => {
    const part = fragment ?? payload;
    if (direction === 'rx' && typeof part === 'string') arrivedBytes += part.length;
  });
  try {
    for await (const piece of peer.open<string>(job, { end: true })) {
      await pause(everyMs);
      pieces++;
      readBytes += piece.length;
      mostUnreadBytes = Math.max(mostUnreadBytes, arrivedBytes - readBytes);
    }
    return { pieces, mostUnreadBytes };
  } catch (error) {
    return { pieces, mostUnreadBytes, error: String(error) };
  }
}

async function echo(peer: Peer, id: string, ms: number): Promise<boolean> {
  return (await peer.request({ op: 'echo', id, ms })) === id;
}

async function echoSafely(peer: Peer, id: string): Promise<boolean> {
  const answer$ = peer.request$({ op: 'echo', id, ms: Math.random() * 20 }).pipe(retryWhenSafe({ count: 50, delay: 20 }));
  return (await firstValueFrom(answer$)) === id;
}

async function upload(peer: Peer, id: string, bytes: number, pieces: number): Promise<boolean> {
  const stream = peer.open<number, string>({ op: 'upload', id }, { timeoutMs: 20_000 });
  const answer = firstValueFrom(stream);
  const sent = stream.sendAll(Array.from({ length: pieces }, () => 'u'.repeat(bytes / pieces)));
  const [answered] = await Promise.all([answer, sent]);
  return answered === bytes;
}

/** Makes each client call repeatedly until `ms` have passed, but at least once. */
async function calls(call: Call, ms: number): Promise<Calls> {
  const result = { answered: [] as string[], failed: [] as [string, string][], wrong: 0, waitsMs: [] as number[] };
  const ends = performance.now() + ms;
  const loops = peers.map(async (peer) => {
    do {
      const id = randomUUID();
      const begun = performance.now();
      try {
        if (await call(peer, id)) result.answered.push(id);
        else result.wrong++;
        result.waitsMs.push(performance.now() - begun);
      } catch (error) {
        result.failed.push([id, isMuxError(error) ? error.code : String(error)]);
      }
      // A pause between calls, even if a call fails at once.
      await pause(5);
    } while (performance.now() < ends);
  });
  await Promise.all(loops);
  return result;
}
