import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { count, interval } from 'rxjs';
import { JsonCodec } from '../../src/codec/json.js';
import type { Codec, Peer } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { refuse, serve } from '../../src/node.js';
import type { MuxServer, ServeOptions } from '../../src/node.js';
import { closing } from '../support/socket/listening.js';

export const TOKEN = { Authorization: 'Bearer token' };
/** How long a dialer of `/busy` is to wait, in s. */
export const BUSY_SECONDS = 7;
export const CODECS: Readonly<Record<string, Codec>> = { json: new JsonCodec(), msgpack: new MsgpackCodec() };
export const TICK_MS = 200;

/** Requests of the clients. */
export type Job =
  | { readonly op: 'measure'; readonly text: string }
  | { readonly op: 'fetch'; readonly length: number }
  | { readonly op: 'ticks' }
  | { readonly op: 'count' };

/** A server with one path for each codec. */
export class Upstream {
  private constructor(
    private readonly http: Server,
    private readonly servers: readonly MuxServer[],
    readonly port: number,
    /** Counts the handshakes that have reached it. */
    readonly reached: { readonly dials: number },
  ) {}

  /** @param keepalive default `false`: it sends no pings */
  static async start(port = 0, keepalive: ServeOptions['keepalive'] = false): Promise<Upstream> {
    // As a server with a port of its own does.
    const http = createServer((_request, response) => response.writeHead(426).end());
    const reached = { dials: 0 };
    const common: Partial<ServeOptions> & { readonly server: Server } = {
      server: http,
      keepalive,
      handler: (payload, stream) => {
        const job = payload as Job;
        if (job.op === 'ticks') return stream.sendAll(interval(TICK_MS));
        // It says nothing until the input ends.
        if (job.op === 'count') return stream.sendAll(stream.pipe(count()));
        return stream.reply(job.op === 'measure' ? job.text.length : 'x'.repeat(job.length));
      },
    };
    const verify: ServeOptions['verify'] = ({ headers }) => {
      reached.dials++;
      return headers.authorization === TOKEN.Authorization || 401;
    };
    const servers = Object.entries(CODECS).map(([name, codec]) => serve({ ...common, codec, path: `/${name}`, verify }));
    servers.push(serve({ ...common, codec: CODECS['json'], path: '/busy', verify: () => refuse(503, { 'Retry-After': BUSY_SECONDS }) }));
    http.listen(port, '127.0.0.1');
    const { port: taken } = await (servers[0] as MuxServer).listening;
    return new Upstream(http, servers, taken, reached);
  }

  /** The only peer that is connected. */
  get peer(): Peer {
    const [peer, ...others] = this.servers.flatMap(({ peers }) => [...peers]);
    if (peer === undefined || others.length > 0) throw new Error(`expected one peer, got ${others.length + Number(peer !== undefined)}`);
    return peer;
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()));
    this.http.closeAllConnections();
    await closing(this.http);
  }
}

/** Resolves with the code with which the last socket of a peer has ended. */
export function closeCode(peer: Peer): Promise<number> {
  return new Promise((resolve) => {
    peer.status$.subscribe((status) => {
      if (status.state === 'closed') resolve(status.reason.code);
    });
  });
}
