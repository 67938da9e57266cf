import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Questions to a child process, by name. Its answers travel as JSON. */
export type Answers = Readonly<Record<string, (given: never) => unknown>>;

interface Ask {
  readonly nth: number;
  readonly op: string;
  readonly given: unknown;
}

interface Answer {
  readonly nth: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** A child process of this program that answers questions. A frozen child answers once it is thawed. */
export class Child<A extends Answers> {
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #asked = 0;

  private constructor(private readonly process: ChildProcess) {
    process.on('message', (answer) => {
      const { nth, value, error } = answer as Answer;
      const waiting = this.#waiting.get(nth);
      this.#waiting.delete(nth);
      if (error === undefined) waiting?.resolve(value);
      else waiting?.reject(new Error(error));
    });
    process.once('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the child has ended: ${String(code ?? signal)}`));
      this.#waiting.clear();
    });
  }

  static start<A extends Answers>(program: string, role: string): Child<A> {
    return new Child(fork(program, [role], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
  }

  ask<Op extends keyof A & string>(op: Op, ...[given]: Parameters<A[Op]>): Promise<Awaited<ReturnType<A[Op]>>> {
    const ask: Ask = { nth: ++this.#asked, op, given };
    return new Promise((resolve, reject) => {
      this.#waiting.set(ask.nth, { resolve: (value) => resolve(value as Awaited<ReturnType<A[Op]>>), reject });
      this.process.send(ask);
    });
  }

  freeze(): void {
    this.process.kill('SIGSTOP');
  }

  thaw(): void {
    this.process.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill('SIGKILL');
    await once(this.process, 'exit');
  }
}

/** The child's side. */
export function answering(answers: Answers): void {
  process.on('message', (message) => {
    void answered(answers, message as Ask).then((answer) => process.send?.(answer));
  });
  // The parent has ended, so no answer is needed.
  process.on('disconnect', () => process.exit());
}

async function answered(answers: Answers, { nth, op, given }: Ask): Promise<Answer> {
  try {
    return { nth, value: await answers[op]?.(given as never) };
  } catch (error) {
    return { nth, error: String(error) };
  }
}
