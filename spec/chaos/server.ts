import { concatMap, firstValueFrom, interval, take, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Keepalive, Stream } from '../../src/index.js';
import { serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';

/** Requests of the clients. */
export type Job =
  | { readonly op: 'echo'; readonly id: string; readonly ms: number }
  | { readonly op: 'upload'; readonly id: string }
  | ({ readonly op: 'pull' } & Chunks)
  | ({ readonly op: 'push'; readonly overMs: number } & Chunks);

interface Chunks {
  readonly chunkBytes: number;
  readonly chunks: number;
}

export interface ServerOptions {
  readonly port: number;
  readonly keepalive?: Keepalive | undefined;
}

export interface Stats {
  readonly peers: number;
  readonly live: number;
  readonly rss: number;
  /** The highest `rss` since the previous report. */
  readonly peakRss: number;
  /** Bytes that the handlers have offered to streams, whether or not there was room. */
  readonly offeredBytes: number;
}

const SAMPLE_MS = 100;
const TICK_MS = 20;

let server: MuxServer;
let options: ServerOptions;
let live = 0;
let offeredBytes = 0;
let peakRss = 0;
const runs = new Map<string, number>();

/** The role of the child that serves. */
export const SERVER_ANSWERS = {
  listen: (given: ServerOptions): Promise<number> => {
    options = given;
    return listen();
  },
  stats: (): Stats => {
    const { rss } = process.memoryUsage();
    const stats = { peers: server.peers.size, live, rss, peakRss: Math.max(peakRss, rss), offeredBytes };
    peakRss = 0;
    return stats;
  },
  /** How often the handler ran, by the id of the job. */
  runs: (): Record<string, number> => Object.fromEntries(runs),
  restart: async ({ drainMs }: { readonly drainMs: number }): Promise<number> => {
    await server.close({ drainMs });
    return listen();
  },
};

async function listen(): Promise<number> {
  server = serve({ ...options, host: '127.0.0.1', handler });
  const { port } = await server.listening;
  options = { ...options, port };
  return port;
}

export function watchMemory(): void {
  setInterval(() => {
    peakRss = Math.max(peakRss, process.memoryUsage().rss);
  }, SAMPLE_MS).unref();
}

async function handler(job: Job, stream: Stream): Promise<unknown> {
  live++;
  void stream.closed.then(() => live--);
  if (job.op === 'pull') return stream.sendAll(offered(job));
  if (job.op === 'push') return stream.sendAll(offeredInTime(job), { overflow: 'latest' });
  runs.set(job.id, (runs.get(job.id) ?? 0) + 1);
  if (job.op === 'echo') {
    await firstValueFrom(timer(job.ms));
    return stream.reply(job.id);
  }
  let bytes = 0;
  for await (const value of stream) bytes += String(value).length;
  return stream.reply(bytes);
}

function* offered(job: Chunks): Generator<string> {
  for (let chunk = 0; chunk < job.chunks; chunk++) yield chunkOf(job);
}

/** The same chunks at their due times, even if no reader takes them. Chunks that are overdue are emitted together. */
function offeredInTime(job: Chunks & { readonly overMs: number }): Observable<string> {
  const begun = performance.now();
  let made = 0;
  const due = function* (): Generator<string> {
    while (made < Math.min(job.chunks, ((performance.now() - begun) / job.overMs) * job.chunks)) {
      made++;
      yield chunkOf(job);
    }
  };
  return interval(TICK_MS).pipe(concatMap(due), take(job.chunks));
}

function chunkOf({ chunkBytes }: Chunks): string {
  offeredBytes += chunkBytes;
  return 'x'.repeat(chunkBytes);
}
