import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { filter, firstValueFrom, fromEvent, map, merge } from 'rxjs';
import type { Report } from './server-program.js';

/** One server process. */
export class Server {
  private constructor(
    private readonly process: ChildProcess,
    readonly port: number,
  ) {}

  static async start(program: string, port: number): Promise<Server> {
    const child = fork(program, [String(port)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const report = await next(child, 'listens');
    return new Server(child, report.port);
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** Sends SIGTERM, and resolves when the server no longer listens. It goes on to serve its connections. */
  async drain(): Promise<void> {
    this.process.kill('SIGTERM');
    await next(this.process, 'drains');
  }

  /** Resolves when the process has ended. */
  async ended(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'exit');
  }
}

/** The next report of this kind. @throws Error when the process ends before */
async function next<What extends Report['what']>(child: ChildProcess, what: What): Promise<Extract<Report, { readonly what: What }>> {
  const reports$ = fromEvent(child, 'message').pipe(
    map((given) => (given as [Report])[0]),
    filter((report): report is Extract<Report, { readonly what: What }> => report.what === what),
  );
  const end$ = fromEvent(child, 'exit').pipe(
    map((given) => {
      const [status] = given as [number | null];
      throw new Error(`expected a server that ${what}, but its process ended with status ${String(status)}`);
    }),
  );
  return firstValueFrom(merge(reports$, end$));
}

/** The program of the servers, and the processes that run it. */
export class Fleet {
  readonly #directory = mkdtempSync(join(tmpdir(), 'rxmux-fleet-'));
  readonly #program = join(this.#directory, 'server.cjs');
  readonly #running = new Set<Server>();

  constructor() {
    buildSync({
      entryPoints: [join(__dirname, 'server-program.ts')],
      outfile: this.#program,
      bundle: true,
      external: ['bufferutil', 'utf-8-validate'],
      ignoreAnnotations: true,
      platform: 'node',
      logLevel: 'error',
    });
  }

  /** Starts a server on `port`. Default: a free one. */
  async start(port = 0): Promise<Server> {
    const server = await Server.start(this.#program, port);
    this.#running.add(server);
    return server;
  }

  /** Drains the servers, and resolves when their processes have ended. */
  async end(servers: readonly Server[]): Promise<void> {
    await Promise.all(servers.map((server) => server.drain()));
    await Promise.all(servers.map((server) => this.ended(server)));
  }

  async ended(server: Server): Promise<void> {
    await server.ended();
    this.#running.delete(server);
  }

  async stop(): Promise<void> {
    await this.end([...this.#running]);
    rmSync(this.#directory, { recursive: true });
  }
}
