// One of the two processes of a measurement. It answers calls over IPC, and ends with its parent.
import type { TaskContext } from '../tasks/context.js';
import { runTask } from '../tasks/index.js';
import type { Client } from './adapter.js';
import { loadAdapter } from './adapters.js';
import type { Order, Result, WorkerCalls } from './calls.js';
import { startProfile } from './cpu-times.js';
import type { FunctionTime } from './cpu-times.js';
import { heapClasses } from './heap-classes.js';
import { BenchService } from './service.js';
import { Timeline } from './timeline.js';

const KIB = 1024;

const service = new BenchService();
let context: TaskContext | undefined;
let timeline: Timeline | undefined;
let endProfile: (() => Promise<FunctionTime[]>) | undefined;

const calls: WorkerCalls = {
  async listen(name, needs) {
    const adapter = await loadAdapter(name);
    const { port } = await adapter.listen(service, needs);
    return { port, limits: adapter.limits(needs) };
  },
  async connect(name, needs, port) {
    const adapter = await loadAdapter(name);
    const connect = (): Promise<Client> => adapter.connect(port, needs);
    context = { client: await connect(), connect };
  },
  task(name, args) {
    if (context === undefined) throw new Error('expected a connection before the first task');
    return runTask(name, context, args);
  },
  usage() {
    const { user, system } = process.cpuUsage();
    return Promise.resolve({ cpuUs: user + system, peakRssBytes: process.resourceUsage().maxRSS * KIB });
  },
  async heap() {
    // A later collection collects the objects that the first one finalizes.
    for (let n = 0; n < 3; n++) {
      globalThis.gc?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  },
  classes: heapClasses,
  async startProfile() {
    endProfile = await startProfile();
  },
  endProfile() {
    if (endProfile === undefined) throw new Error('expected a profile that has been started');
    return endProfile();
  },
  startTimeline() {
    timeline = new Timeline();
    if (context !== undefined) context = timeline.watch(context);
    return Promise.resolve();
  },
  endTimeline() {
    if (timeline === undefined) throw new Error('expected a timeline that has been started');
    return Promise.resolve(timeline.marks);
  },
  idle: () => Promise.resolve(service.idle),
};

async function perform({ id, call, args }: Order): Promise<Result> {
  try {
    const { [call]: run } = calls as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
    return { id, value: await run?.(...args) };
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

process.on('message', (order: Order) => {
  void perform(order).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
