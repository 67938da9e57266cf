import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accepting, freePort } from '../support/socket/ports.js';

/** One product that balances connections, as Debian ships it. */
export interface Product {
  readonly name: string;
  /** The command that runs it in the foreground with the configuration `file` and the working folder `directory`. */
  readonly command: (file: string, directory: string) => readonly [program: string, ...args: string[]];
  /** The signal after which it reads its configuration again. Open connections go on. */
  readonly reload: NodeJS.Signals;
  readonly config: (port: number, servers: readonly number[], directory: string) => string;
}

/** @param parameters follow each server of the upstream */
const nginx = (name: string, parameters: string): Product => ({
  name,
  command: (file, directory) => ['nginx', '-p', directory, '-c', file, '-e', 'stderr'],
  reload: 'SIGHUP',
  config: (port, servers, directory) => `
    daemon off;
    pid ${directory}/nginx.pid;
    error_log stderr error;
    worker_processes 1;
    events { worker_connections 4096; }
    http {
      access_log off;
      client_body_temp_path ${directory}/temp;
      proxy_temp_path ${directory}/temp;
      fastcgi_temp_path ${directory}/temp;
      uwsgi_temp_path ${directory}/temp;
      scgi_temp_path ${directory}/temp;
      upstream mux { ${servers.map((server) => `server 127.0.0.1:${server}${parameters};`).join(' ')} }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://mux;
          proxy_http_version 1.1;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection "upgrade";
          proxy_set_header Host $http_host;
          proxy_read_timeout 60s;
        }
      }
    }`,
});

const haproxy: Product = {
  name: 'HAProxy',
  command: (file) => ['haproxy', '-W', '-f', file],
  reload: 'SIGUSR2',
  config: (port, servers) => `
global
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout tunnel 60s
frontend clients
  bind 127.0.0.1:${port}
  default_backend mux
backend mux
  balance leastconn
${servers.map((server, nth) => `  server mux${nth} 127.0.0.1:${server} check inter 200ms`).join('\n')}
`,
};

export const PRODUCTS: readonly Product[] = [nginx('nginx', ' max_fails=0'), haproxy];
/** nginx with its own `max_fails` and `fail_timeout`. */
export const DEFAULT_NGINX = nginx('nginx with its defaults', '');

/** A running {@link Product} on a port of its own. */
export class Balancer {
  readonly #file: string;

  private constructor(
    private readonly product: Product,
    private readonly directory: string,
    private readonly process: ChildProcess,
    readonly port: number,
  ) {
    this.#file = join(directory, 'config');
  }

  /** Starts the product. It balances over `servers`, which are ports. */
  static async start(product: Product, servers: readonly number[]): Promise<Balancer> {
    const directory = mkdtempSync(join(tmpdir(), 'rxmux-proxy-'));
    mkdirSync(join(directory, 'temp'));
    const port = await freePort();
    const file = join(directory, 'config');
    writeFileSync(file, product.config(port, servers, directory));
    const [program, ...args] = product.command(file, directory);
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    await Promise.race([failure(child), accepting(port)]);
    return new Balancer(product, directory, child, port);
  }

  /** Balances new connections over `servers` from now on. */
  reload(servers: readonly number[]): void {
    writeFileSync(this.#file, this.product.config(this.port, servers, this.directory));
    this.process.kill(this.product.reload);
  }

  async stop(): Promise<void> {
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await ended;
    rmSync(this.directory, { recursive: true });
  }
}

/** @throws Error with what the process has printed, when it ends or cannot start */
async function failure(child: ChildProcess): Promise<never> {
  let printed = '';
  child.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  throw new Error(`expected ${child.spawnfile} to listen, but it ended with status ${String(status)}: ${printed}`);
}
