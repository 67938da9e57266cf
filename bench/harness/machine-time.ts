import { readFileSync } from 'node:fs';

/** The time of all cores so far, and what of it the host of a virtual machine has given to others; in ticks. */
export interface MachineTime {
  readonly all: number;
  readonly stolen: number;
}

const NONE: MachineTime = { all: 0, stolen: 0 };

/** As Linux counts it; where there is no such count, nothing is ever stolen. */
export function machineTime(): MachineTime {
  try {
    return machineTimeOf(readFileSync('/proc/stat', 'utf8'));
  } catch {
    return NONE;
  }
}

/** From the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, and guests, which are in user already. */
export function machineTimeOf(stat: string): MachineTime {
  const ticks = (/^cpu +(.*)$/m.exec(stat)?.[1] ?? '').split(' ').slice(0, 8).map(Number);
  const [stolen = 0] = ticks.slice(7);
  return { all: ticks.reduce((sum, each) => sum + each, 0), stolen };
}

/** The share of the machine's time between two looks that its host has given to others. */
export function stolenShare(before: MachineTime, after: MachineTime): number {
  const all = after.all - before.all;
  return all > 0 ? (after.stolen - before.stolen) / all : 0;
}
