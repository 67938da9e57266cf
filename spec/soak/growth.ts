import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeHeapSnapshot } from 'node:v8';
import { grown, summed } from '../../bench/harness/heap-classes.js';
import type { HeapClass, Snapshot } from '../../bench/harness/heap-classes.js';

/** What a heap has more of. */
export interface Growth {
  /** Objects and functions, in all; below 0 where there are fewer. */
  readonly objects: number;
  /** Their classes that have one more for every ten rounds, or more than that. */
  readonly classes: readonly string[];
}

/** Takes a look at the heap that leaves nothing in it: gives the file that it is in. */
export function lookAtHeap(): string {
  return writeHeapSnapshot(join(tmpdir(), `rxmux-soak-${process.pid}-${performance.now()}.heapsnapshot`));
}

/** What came between two looks; their files go. */
export async function growthBetween(before: string, after: string, rounds: number): Promise<Growth> {
  const [then, now] = [await classesIn(before), await classesIn(after)];
  return growth(then, now, rounds);
}

/** What one heap has more than another, without what is the engine's own: its compiled code comes and goes. */
export function growth(before: readonly HeapClass[], after: readonly HeapClass[], rounds: number): Growth {
  const [then, now] = [before.filter(isOfPrograms), after.filter(isOfPrograms)];
  return { objects: counted(now) - counted(then), classes: grown(then, now, rounds).map(({ name }) => name) };
}

async function classesIn(file: string): Promise<HeapClass[]> {
  const classes = summed(JSON.parse(await readFile(file, 'utf8')) as Snapshot);
  await rm(file);
  return classes;
}

function isOfPrograms({ name }: HeapClass): boolean {
  return !name.startsWith('(') && !name.startsWith('system / ');
}

function counted(classes: readonly HeapClass[]): number {
  return classes.reduce((sum, { count }) => sum + count, 0);
}
