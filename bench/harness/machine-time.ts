import { readFileSync } from 'node:fs';

/** The time of all cores so far, and the part that the host of a virtual machine took for others. Both in ticks. */
export interface MachineTime {
  readonly all: number;
  readonly stolen: number;
}

const NONE: MachineTime = { all: 0, stolen: 0 };

/** Reads the count of Linux. Where there is none, the stolen time is always zero. */
export function machineTime(): MachineTime {
  try {
    return machineTimeOf(readFileSync('/proc/stat', 'utf8'));
  } catch {
    return NONE;
  }
}

/** Reads the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, and guests, which user already includes. */
export function machineTimeOf(stat: string): MachineTime {
  const ticks = (/^cpu +(.*)$/m.exec(stat)?.[1] ?? '').split(' ').slice(0, 8).map(Number);
  const [stolen = 0] = ticks.slice(7);
  return { all: ticks.reduce((sum, each) => sum + each, 0), stolen };
}

/** The share of the machine's time between two looks that its host took for others. */
export function stolenShare(before: MachineTime, after: MachineTime): number {
  const all = after.all - before.all;
  return all > 0 ? (after.stolen - before.stolen) / all : 0;
}
