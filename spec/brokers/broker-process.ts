import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accepting, freePort } from '../support/socket/ports.js';

/** A product that topics run on, as Debian ships it. */
export interface Product {
  readonly program: string;
  /** Its arguments, for files in `folder`. The file `config` there has the lines of a test. */
  args(port: number, folder: string): readonly string[];
}

/** A running {@link Product} on a free port. A restart keeps its port and its files. */
export class BrokerProcess {
  readonly #folder = mkdtempSync(join(tmpdir(), 'rxmux-broker-'));
  #process: ChildProcess | null = null;

  private constructor(
    private readonly product: Product,
    readonly port: number,
  ) {}

  /** @param config more lines of its configuration */
  static async start(product: Product, config = ''): Promise<BrokerProcess> {
    const broker = new BrokerProcess(product, await freePort());
    writeFileSync(join(broker.#folder, 'config'), config);
    await broker.begin();
    return broker;
  }

  async begin(): Promise<void> {
    const { product, port } = this;
    const child = spawn(product.program, product.args(port, this.#folder), { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process = child;
    await Promise.race([failure(child), accepting(port)]);
  }

  /** Ends the process. Its files stay. */
  async end(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  async stop(): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true });
  }
}

/** @throws Error with the output of the process, when it ends or cannot start */
async function failure(child: ChildProcess): Promise<never> {
  let printed = '';
  const collect = (chunk: Buffer): void => {
    printed = (printed + chunk.toString()).slice(-2_000);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const [status] = (await once(child, 'close')) as [number | null];
  throw new Error(`expected ${child.spawnfile} to listen, but it ended with status ${String(status)}: ${printed}`);
}
