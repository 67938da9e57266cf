import type { TaskArgs, TaskName, TaskResult } from '../tasks/index.js';
import type { AdapterName } from './adapter-names.js';
import type { FunctionTime } from './cpu-times.js';
import type { HeapClass } from './heap-classes.js';
import type { Needs } from './adapter.js';
import type { Mark } from './timeline.js';

/** The resources that a process has used so far. */
export interface Usage {
  readonly cpuUs: number;
  readonly peakRssBytes: number;
}

/** The calls that either process answers. */
export interface WorkerCalls {
  listen(adapter: AdapterName, needs: Needs): Promise<{ readonly port: number; readonly limits: Readonly<Record<string, number>> }>;
  connect(adapter: AdapterName, needs: Needs, port: number): Promise<void>;
  task<K extends TaskName>(name: K, args: TaskArgs<K>): Promise<TaskResult<K>>;
  usage(): Promise<Usage>;
  /** Bytes on the heap and beside it, after a garbage collection. */
  heap(): Promise<number>;
  /** The objects on the heap, by class. */
  classes(): Promise<HeapClass[]>;
  /** Begins to sample the process. */
  startProfile(): Promise<void>;
  /** The time of each function since then. */
  endProfile(): Promise<FunctionTime[]>;
  /** Begins to mark moments. */
  startTimeline(): Promise<void>;
  /** The marks since then. */
  endTimeline(): Promise<readonly Mark[]>;
  /** Streams that the server keeps open. */
  idle(): Promise<number>;
}

export type WorkerCall = keyof WorkerCalls;

export interface Order {
  readonly id: number;
  readonly call: WorkerCall;
  readonly args: readonly unknown[];
}

export interface Result {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}
