import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildSync } from 'esbuild';

const root = join(__dirname, '../..');

/** How a run of the command ended. */
export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** A command that listens. */
export interface Listening {
  readonly child: ChildProcess;
  readonly url: string;
}

/** The command, built once for a file of tests. It lies below the repository, where it finds its packages. */
export class BuiltCommand {
  readonly #directory = join(root, 'dist/spec', `command-${process.pid}`);
  readonly #running = new Set<ChildProcess>();

  constructor() {
    execFileSync(process.execPath, [join(root, 'scripts/command.js'), this.#directory, '--sources']);
  }

  get path(): string {
    return join(this.#directory, 'rxmux.js');
  }

  /** Builds a module of this folder for Node, and returns its path. */
  built(name: string): string {
    const outfile = join(this.#directory, name.replace(/\.ts$/, '.mjs'));
    buildSync({ entryPoints: [join(__dirname, name)], outfile, bundle: true, packages: 'external', format: 'esm', logLevel: 'warning' });
    return outfile;
  }

  /** Starts the command with its output on pipes. */
  start(...args: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, [this.path, ...args], { stdio: 'pipe' });
    this.#running.add(child.on('exit', () => this.#running.delete(child)));
    return child;
  }

  /** Runs the command to its end. */
  async run(args: readonly string[], input: string | Buffer = ''): Promise<Ended> {
    const child = this.start(...args);
    const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
    child.stdin?.on('error', () => undefined).end(input);
    const [status, out, err] = await Promise.all([exited, textOf(child.stdout), textOf(child.stderr)]);
    return { status, out, err };
  }

  /** Starts a server, and resolves to the address that it prints. */
  async serve(...args: readonly string[]): Promise<string> {
    return (await this.listen('serve', '--port', '0', ...args)).url;
  }

  /** Starts a command that prints its address first. */
  listen(...args: readonly string[]): Promise<Listening> {
    const child = this.start(...args);
    return new Promise((resolve) =>
      child.stdout?.once('data', (line: Buffer) => {
        resolve({ child, url: line.toString().trim() });
      }),
    );
  }

  /** Ends what runs, and removes the files. */
  dispose(): void {
    for (const child of this.#running) child.kill('SIGKILL');
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream === null ? Promise.resolve('') : text(stream);
}
