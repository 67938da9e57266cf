import assert from 'node:assert/strict';
import { cpus, freemem, totalmem } from 'node:os';
import { interval, lastValueFrom, map, pairwise, startWith, take, tap, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { size } from '../figures.js';
import type { Step } from '../step.js';
import { bar } from '../terminal.js';

interface Vitals {
  /** The share of the time since the last sample in which the machine was busy, 0 … 1. */
  readonly load: number;
  readonly usedBytes: number;
  readonly totalBytes: number;
}

const SAMPLES = 6;
const EVERY_MS = 250;

/** The server answers with an Observable, and sends each value as it comes. */
export const vitals: Step = {
  title: `a stream of the server's own CPU and memory`,
  file: 'steps/vitals.ts',
  checked: 'each sample makes sense, and both processes have the same memory',

  answers: {
    vitals({ samples }: { readonly samples: number }, stream) {
      return stream.sendAll(vitals$.pipe(take(samples)));
    },
  },

  async run(peer, terminal) {
    const received$ = peer.open$<Vitals>({ op: 'vitals', samples: SAMPLES }).pipe(
      tap(({ load, usedBytes, totalBytes }) => {
        const share = `${(load * 100).toFixed(0)} %`.padStart(5);
        terminal.line(`CPU ${bar(load)} ${share}   memory ${size(usedBytes)} of ${size(totalBytes)}`);
      }),
    );
    const samples = await lastValueFrom(received$.pipe(toArray()));
    assert.equal(samples.length, SAMPLES);
    for (const { load, usedBytes, totalBytes } of samples) {
      assert.ok(load >= 0 && load <= 1, `expected a load of 0 … 1, got ${load}`);
      assert.ok(usedBytes > 0 && usedBytes < totalBytes, `expected some of ${totalBytes} bytes, got ${usedBytes}`);
      assert.equal(totalBytes, totalmem(), 'both processes share one machine');
    }
  },
};

const vitals$: Observable<Vitals> = interval(EVERY_MS).pipe(
  startWith(0),
  map(cpuTimes),
  pairwise(),
  map(([before, after]) => ({
    load: (after.busy - before.busy) / Math.max(1, after.all - before.all),
    usedBytes: totalmem() - freemem(),
    totalBytes: totalmem(),
  })),
);

/** The times of all processors since the machine started, in ms. */
function cpuTimes(): { readonly busy: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times);
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { busy: all - times.reduce((sum, { idle }) => sum + idle, 0), all };
}
