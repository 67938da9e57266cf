import type { TaskArgs, TaskName, TaskResult } from '../tasks/index.js';
import type { AdapterName } from './adapter-names.js';
import type { FunctionTime } from './cpu-times.js';
import type { HeapClass } from './heap-classes.js';
import type { Needs } from './adapter.js';
import type { Mark } from './timeline.js';

/** What a process has used so far. */
export interface Usage {
  readonly cpuUs: number;
  readonly peakRssBytes: number;
}

/** What either process can be told. */
export interface WorkerCalls {
  listen(adapter: AdapterName, needs: Needs): Promise<{ readonly port: number; readonly limits: Readonly<Record<string, number>> }>;
  connect(adapter: AdapterName, needs: Needs, port: number): Promise<void>;
  task<K extends TaskName>(name: K, args: TaskArgs<K>): Promise<TaskResult<K>>;
  usage(): Promise<Usage>;
  /** Bytes on the heap and beside it, after garbage was collected. */
  heap(): Promise<number>;
  /** What lives on the heap, by class. */
  classes(): Promise<HeapClass[]>;
  /** Begins to sample what the process does. */
  startProfile(): Promise<void>;
  /** What each function took since then. */
  endProfile(): Promise<FunctionTime[]>;
  /** Begins to mark what happens. */
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
