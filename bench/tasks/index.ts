import type { TaskContext } from './context.js';
import { bulk } from './bulk.js';
import { fanOut, subscribe } from './fan-out.js';
import { connects, connections } from './connections.js';
import { headOfLine } from './head-of-line.js';
import { closedLoop, sequential } from './requests.js';
import { idle, streams } from './streams.js';

/** The tasks of a client, in a process of Node or in a page. */
export const tasks = { sequential, closedLoop, streams, idle, bulk, headOfLine, connects, connections, subscribe, fanOut };

export type Tasks = typeof tasks;
export type TaskName = keyof Tasks;
export type TaskArgs<K extends TaskName> = Parameters<Tasks[K]>[1];
export type TaskResult<K extends TaskName> = Awaited<ReturnType<Tasks[K]>>;

export function runTask<K extends TaskName>(name: K, context: TaskContext, args: TaskArgs<K>): Promise<TaskResult<K>> {
  const task = tasks[name] as (context: TaskContext, args: TaskArgs<K>) => Promise<TaskResult<K>>;
  return task(context, args);
}
