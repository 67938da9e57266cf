import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeHeapSnapshot } from 'node:v8';
import { grown, summed } from '../../bench/harness/heap-classes.js';
import type { HeapClass, Snapshot } from '../../bench/harness/heap-classes.js';

/** The growth of a heap. */
export interface Growth {
  /** Objects and functions in all; below 0 when their number has fallen. */
  readonly objects: number;
  /** The classes that have grown by at least one instance for every ten rounds. */
  readonly classes: readonly string[];
}

/** Writes a heap snapshot without leaving anything in the heap, and returns its file. */
export function lookAtHeap(): string {
  return writeHeapSnapshot(join(tmpdir(), `rxmux-soak-${process.pid}-${performance.now()}.heapsnapshot`));
}

/** Compares two snapshots, and deletes their files. */
export async function growthBetween(before: string, after: string, rounds: number): Promise<Growth> {
  const [then, now] = [await classesIn(before), await classesIn(after)];
  return growth(then, now, rounds);
}

/** Returns the growth from one heap to another, without the engine's own objects: compiled code comes and goes. */
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
