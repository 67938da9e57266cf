import type { CDPSession, Page } from 'playwright-core';
import type { FunctionTime } from '../harness/cpu-times.js';
import type { HeapClass } from '../harness/heap-classes.js';
import { Worker } from '../harness/process.js';
import type { Cpu, Pair, Sides, WithPair } from '../harness/pair.js';
import type { TaskArgs, TaskName, TaskResult } from '../tasks/index.js';
import type { Operations } from './page.js';

/** Runs one operation in the page. */
export async function inPage<K extends keyof Operations>(
  page: Page,
  name: K,
  ...args: Parameters<Operations[K]>
): Promise<Awaited<ReturnType<Operations[K]>>> {
  const result = await page.evaluate(
    ([operation, given]) => {
      const { operations } = globalThis as unknown as { operations: Record<string, (...args: readonly unknown[]) => unknown> };
      return operations[operation]?.(...given);
    },
    [name, args] as const,
  );
  return result as Awaited<ReturnType<Operations[K]>>;
}

/** The client is a fresh page, the server a fresh process of Node. */
export function withPage(newPage: () => Promise<Page>): WithPair {
  return async (adapter, needs, use) => {
    if (adapter !== 'floor-a' && adapter !== 'rxmux-json') throw new TypeError(`no page speaks ${adapter}`);
    const server = new Worker(`${adapter}, server`);
    const page = await newPage();
    try {
      const { port, limits } = await server.call('listen', adapter, needs);
      await inPage(page, 'connect', adapter, `ws://127.0.0.1:${port}`, needs);
      const session = await page.context().newCDPSession(page);
      await session.send('Performance.enable');
      return await use(new PagePair(server, page, session, limits));
    } finally {
      await page.close();
      await server.end();
    }
  };
}

/** A page reports neither its memory nor the CPU time of its process. The time in tasks of its main thread stands for the CPU time. */
export class PagePair implements Pair {
  constructor(
    private readonly server: Worker,
    readonly page: Page,
    private readonly session: CDPSession,
    readonly limits: Readonly<Record<string, number>>,
  ) {}

  async task<K extends TaskName>(name: K, args: TaskArgs<K>): Promise<TaskResult<K>> {
    return (await inPage(this.page, 'task', name, args)) as TaskResult<K>;
  }

  async timed<K extends TaskName>(name: K, args: TaskArgs<K>): Promise<TaskResult<K> & { readonly cpu: Cpu }> {
    const before = await this.#cpu();
    const result = await this.task(name, args);
    const after = await this.#cpu();
    return { ...result, cpu: { client: after.client - before.client, server: after.server - before.server } };
  }

  async profiled<K extends TaskName>(name: K, args: TaskArgs<K>): Promise<TaskResult<K> & { readonly times: Sides<FunctionTime[]> }> {
    await this.server.call('startProfile');
    const result = await this.task(name, args);
    return { ...result, times: { client: [], server: await this.server.call('endProfile') } };
  }

  async peakRss(): Promise<Cpu> {
    return { client: NaN, server: (await this.server.call('usage')).peakRssBytes };
  }

  async heaps(): Promise<Cpu> {
    return { client: NaN, server: await this.server.call('heap') };
  }

  async classes(): Promise<Sides<HeapClass[]>> {
    return { client: [], server: await this.server.call('classes') };
  }

  async openIdle(count: number): Promise<void> {
    await this.task('idle', { count });
  }

  async #cpu(): Promise<Cpu> {
    const { metrics } = await this.session.send('Performance.getMetrics');
    const seconds = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN;
    return { client: seconds * 1e6, server: (await this.server.call('usage')).cpuUs };
  }
}
