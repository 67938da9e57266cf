import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Order, Result, WorkerCall, WorkerCalls } from './calls.js';

/** No single call takes longer than this, in ms. */
const LONGEST_CALL_MS = 180_000;

const LONGEST_EXIT_MS = 5_000;

/** The caller that waits for the result of a call. */
interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** A process that runs one half of an adapter. */
export class Worker {
  /** Where each process leaves a CPU profile; `null` for none. */
  static profiles: string | null = null;
  /** The Node that runs each process. */
  static program = process.execPath;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  constructor(private readonly title: string) {
    const profile = Worker.profiles === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${Worker.profiles}`];
    this.#child = fork(WORKER, {
      execPath: Worker.program,
      execArgv: ['--expose-gc', '--enable-source-maps', ...profile],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    this.#child.on('message', ({ id, value, error }: Result) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      clearTimeout(waiting?.timer);
      if (error === undefined) waiting?.resolve(value);
      else waiting?.reject(new Error(`${title}: ${error}`));
    });
    this.#child.on('exit', (code, signal) => {
      for (const { reject, timer } of this.#waiting.values()) {
        clearTimeout(timer);
        reject(new Error(`${title} ended: ${signal ?? code ?? ''}`));
      }
      this.#waiting.clear();
    });
  }

  call<K extends WorkerCall>(call: K, ...args: Parameters<WorkerCalls[K]>): ReturnType<WorkerCalls[K]> {
    const id = ++this.#last;
    const result = new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`${this.title}: '${call}' took longer than ${LONGEST_CALL_MS / 1_000} s: ${JSON.stringify(args)}`));
      }, LONGEST_CALL_MS);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#child.send({ id, call, args } satisfies Order);
    });
    return result as ReturnType<WorkerCalls[K]>;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    if (Worker.profiles === null) this.#child.kill('SIGKILL');
    // Once its parent has disconnected, the process exits by itself and writes its profile.
    else this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), LONGEST_EXIT_MS);
    await exited;
    clearTimeout(timer);
  }
}

const WORKER = fileURLToPath(new URL('./harness/worker.js', import.meta.url));
