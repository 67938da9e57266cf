import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../support/socket/certificate.js';
import { accepting, freePort } from '../support/socket/ports.js';
import { debian } from './debian.js';
import type { Place, Product } from './products.js';

const PAGES = join(__dirname, '../../docs/guide/proxies');
const CERTIFICATE = '/etc/stunnel/mux.pem';

/** The file of the page, which listens on port 8000 and forwards to port 8080. */
export function pageOf({ page }: Product): string {
  return readFileSync(join(PAGES, page), 'utf8');
}

/** Puts the port of the proxy and the ports of its servers into the page's file. The line of a server is there once for each. */
function withPorts(text: string, port: number, servers: readonly number[]): string {
  return text
    .replace(/\b8000\b/g, String(port))
    .replace(/^.*\b8080\b.*$/gm, (line) =>
      servers.map((server, nth) => line.replace('8080', String(server)).replace(' mux1 ', ` mux${nth + 1} `)).join('\n'),
    );
}

/** A running {@link Product} on a port of its own. */
export class Balancer {
  private constructor(
    private readonly product: Product,
    private readonly env: NodeJS.ProcessEnv,
    private readonly place: Place,
    private readonly change: (text: string) => string,
    private readonly process: ChildProcess,
    /** The certificate of a product that speaks TLS. */
    readonly ca: Buffer,
  ) {}

  /**
   * Starts the product. It balances over `servers`, which are ports.
   *
   * @param change changes the page's file
   * @param idle the idle limit of a product whose page's file has none, in seconds
   */
  static async start(product: Product, servers: readonly number[], change = (text: string) => text, idle = 60): Promise<Balancer> {
    const installed = debian(product.package, product.version[0]);
    const directory = mkdtempSync(join(tmpdir(), 'rxmux-proxy-'));
    // Some products drop their root rights, and still write here.
    chmodSync(directory, 0o777);
    mkdirSync(join(directory, 'temp'), { mode: 0o777 });
    const [port, adminPort] = [await freePort(), await freePort()];
    const place: Place = { root: installed.root, directory, file: join(directory, product.page), port, adminPort, idle };
    let ca: Buffer = Buffer.alloc(0);
    if (product.way === 'tls') {
      const { key, cert } = selfSigned();
      writeFileSync(join(directory, 'mux.pem'), Buffer.concat([key, cert]));
      ca = cert;
    }
    for (const [name, text] of Object.entries(product.files?.(place) ?? {})) writeFileSync(join(directory, name), text);
    write(product, place, servers, change);
    const [program, ...args] = product.command(place);
    const env = { ...installed.env, ...product.env?.(place) };
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
    await Promise.race([failure(child), accepting(place.port)]);
    return new Balancer(product, env, place, change, child, ca);
  }

  get port(): number {
    return this.place.port;
  }

  /** Its version, as it says itself. */
  get version(): string {
    const [program, ...args] = this.product.version;
    const { stdout, stderr } = spawnSync(program, args, { env: this.env, encoding: 'utf8' });
    return /\d+\.\d+(\.\d+)?/.exec(`${stdout}${stderr}`)?.[0] ?? '';
  }

  /** Balances new connections over `servers` from now on. */
  reload(servers: readonly number[]): void {
    const { reload } = this.product;
    write(this.product, this.place, servers, this.change);
    if (typeof reload === 'string') this.process.kill(reload);
    else {
      const [program, ...args] = reload(this.place);
      const { status, stdout, stderr } = spawnSync(program, args, { env: this.env, encoding: 'utf8' });
      if (status !== 0) throw new Error(`expected ${program} to reload, got the status ${String(status)}: ${stdout}${stderr}`);
    }
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, 'exit');
      this.process.kill('SIGTERM');
      await ended;
    }
    // A process that this one has left behind may hold the other end.
    this.process.stderr?.destroy();
    rmSync(this.place.directory, { recursive: true, force: true });
  }
}

function write(product: Product, place: Place, servers: readonly number[], change: (text: string) => string): void {
  const text = withPorts(change(pageOf(product)), place.port, servers).replace(CERTIFICATE, join(place.directory, 'mux.pem'));
  writeFileSync(place.file, (product.ahead?.(place) ?? '') + text);
}

/** @throws Error with what the process has printed, when it ends or cannot start */
async function failure(child: ChildProcess): Promise<never> {
  let printed = '';
  child.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  throw new Error(`expected ${child.spawnfile} to listen, but it ended with status ${String(status)}: ${printed}`);
}
