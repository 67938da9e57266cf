import type { TaskArgs, TaskName, TaskResult } from '../tasks/index.js';
import type { AnsweredBy, Needs } from './adapter.js';
import type { AdapterName } from './adapter-names.js';
import type { FunctionTime } from './cpu-times.js';
import type { HeapClass } from './heap-classes.js';
import { Worker } from './process.js';
import type { Mark } from './timeline.js';

/** One finding for each side. */
export interface Sides<T> {
  readonly client: T;
  readonly server: T;
}

/** A figure of both sides: the CPU time of a task in µs, or memory. */
export type Cpu = Sides<number>;

/** A server and a client of one adapter, connected over loopback. */
export interface Pair {
  /** The limits that the adapter raised for the workload's needs. */
  readonly limits: Readonly<Record<string, number>>;
  task<K extends TaskName>(name: K, args: TaskArgs<K>): Promise<TaskResult<K>>;
  /** Runs a task. Resolves with its result and the CPU time of both processes. */
  timed<K extends TaskName>(name: K, args: TaskArgs<K>): Promise<TaskResult<K> & { readonly cpu: Cpu }>;
  /** Runs a task. Resolves with its result and the time of each function of both processes. */
  profiled<K extends TaskName>(name: K, args: TaskArgs<K>): Promise<TaskResult<K> & { readonly times: Sides<FunctionTime[]> }>;
  /** The largest memory that each process has held, in bytes. */
  peakRss(): Promise<Cpu>;
  /** Bytes on each heap, and beside it. */
  heaps(): Promise<Cpu>;
  /** The objects on each heap, by class. */
  classes(): Promise<Sides<HeapClass[]>>;
  /** Opens streams that stay open and send nothing, and waits until the server holds all of them. */
  openIdle(count: number, by?: AnsweredBy): Promise<void>;
}

/** Makes a fresh pair, and ends it after its use. */
export type WithPair<P extends Pair = Pair> = <T>(adapter: AdapterName, needs: Needs, use: (pair: P) => Promise<T>) => Promise<T>;

/** Two processes of Node. */
export const withProcesses: WithPair<ProcessPair> = async (adapter, needs, use) => {
  const server = new Worker(`${adapter}, server`);
  const client = new Worker(`${adapter}, client`);
  try {
    const { port, limits } = await server.call('listen', adapter, needs);
    await client.call('connect', adapter, needs, port);
    return await use(new ProcessPair(server, client, limits));
  } finally {
    await Promise.all([server.end(), client.end()]);
  }
};

/**
 * One process of Node for both ends, still over loopback. The client has the CPU of both. The ends take turns, so that other programs
 * do not change how many frames one of them joins into a write.
 */
export const withOneProcess: WithPair = async (adapter, needs, use) => {
  const both = new Worker(`${adapter}, both ends`);
  try {
    const { port, limits } = await both.call('listen', adapter, needs);
    await both.call('connect', adapter, needs, port);
    return await use(new ProcessPair(both, both, limits));
  } finally {
    await both.end();
  }
};

class ProcessPair implements Pair {
  constructor(
    private readonly server: Worker,
    private readonly client: Worker,
    readonly limits: Readonly<Record<string, number>>,
  ) {}

  task<K extends TaskName>(name: K, args: TaskArgs<K>): Promise<TaskResult<K>> {
    return this.client.call('task', name, args) as Promise<TaskResult<K>>;
  }

  async timed<K extends TaskName>(name: K, args: TaskArgs<K>): Promise<TaskResult<K> & { readonly cpu: Cpu }> {
    const before = await this.#cpu();
    const result = await this.task(name, args);
    const after = await this.#cpu();
    return { ...result, cpu: { client: after.client - before.client, server: after.server - before.server } };
  }

  async profiled<K extends TaskName>(name: K, args: TaskArgs<K>): Promise<TaskResult<K> & { readonly times: Sides<FunctionTime[]> }> {
    await Promise.all([this.client.call('startProfile'), this.server.call('startProfile')]);
    const result = await this.task(name, args);
    const [client, server] = await Promise.all([this.client.call('endProfile'), this.server.call('endProfile')]);
    return { ...result, times: { client, server } };
  }

  /** Runs a task. Resolves with its result and the marks of both processes. Works once for each pair. */
  async marked<K extends TaskName>(name: K, args: TaskArgs<K>): Promise<TaskResult<K> & { readonly marks: Sides<readonly Mark[]> }> {
    await Promise.all([this.client.call('startTimeline'), this.server.call('startTimeline')]);
    const result = await this.task(name, args);
    const [client, server] = await Promise.all([this.client.call('endTimeline'), this.server.call('endTimeline')]);
    return { ...result, marks: { client, server } };
  }

  async peakRss(): Promise<Cpu> {
    const [client, server] = await Promise.all([this.client.call('usage'), this.server.call('usage')]);
    return { client: client.peakRssBytes, server: server.peakRssBytes };
  }

  async heaps(): Promise<Cpu> {
    const [client, server] = await Promise.all([this.client.call('heap'), this.server.call('heap')]);
    return { client, server };
  }

  async classes(): Promise<Sides<HeapClass[]>> {
    const [client, server] = await Promise.all([this.client.call('classes'), this.server.call('classes')]);
    return { client, server };
  }

  async openIdle(count: number, by?: AnsweredBy): Promise<void> {
    const before = await this.server.call('idle');
    await this.task('idle', { count, by });
    while ((await this.server.call('idle')) < before + count) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async #cpu(): Promise<Cpu> {
    const [client, server] = await Promise.all([this.client.call('usage'), this.server.call('usage')]);
    return { client: client.cpuUs, server: this.server === this.client ? 0 : server.cpuUs };
  }
}
