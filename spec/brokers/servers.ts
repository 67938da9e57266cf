import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach } from '@jest/globals';
import { bundled } from '../support/process/bundled.js';
import type { Kind } from './kinds.js';

/** A server in a process of its own. */
export class Server {
  constructor(
    private readonly process: ChildProcess,
    readonly port: number,
  ) {}

  /** Ends the process: SIGTERM drains it first. Resolves once it has ended. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill(signal);
    await ended;
  }
}

/** Returns a function that starts a server of a broker. Those that still run end after each test. */
export function servers(): (kind: Kind, brokerPort: number) => Promise<Server> {
  const program = bundled(`import '../spec/brokers/server-program.js';`);
  const started = new Set<Server>();
  afterEach(async () => {
    await Promise.all([...started].map((server) => server.end('SIGKILL')));
    started.clear();
  });
  return async (kind, brokerPort) => {
    const child = fork(program, [kind.name, String(brokerPort)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const server = new Server(child, await reportedPort(child));
    started.add(server);
    return server;
  };
}

/** @throws Error when the process ends before it listens */
async function reportedPort(child: ChildProcess): Promise<number> {
  const ended = once(child, 'exit').then(([status]) => {
    throw new Error(`expected a server to listen, but its process ended with status ${String(status)}`);
  });
  const [port] = (await Promise.race([once(child, 'message'), ended])) as [number];
  return port;
}
