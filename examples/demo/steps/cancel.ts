import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { finalize, interval, lastValueFrom, take, tap, toArray } from 'rxjs';
import { ResetCode } from 'rxmux';
import type { Stream } from 'rxmux';
import { milliseconds } from '../figures.js';
import type { Step } from '../step.js';

interface Report {
  readonly produced: number;
  readonly running: boolean;
  /** The code of the reset that ended the stream. */
  readonly code: number | null;
}

const TAKEN = 5;
const EVERY_MS = 20;
const LATER_MS = 10 * EVERY_MS;

let report: Report = { produced: 0, running: false, code: null };

/** Unsubscribing here stops the work there. */
export const cancel: Step = {
  title: `take(${TAKEN}) stops the server's producer`,
  file: 'steps/cancel.ts',
  checked: 'the producer has stopped with CANCEL, and produces nothing more',

  answers: {
    async ticks(_job, stream) {
      report = { produced: 0, running: true, code: null };
      const ticks$ = interval(EVERY_MS).pipe(
        tap((tick) => (report = { ...report, produced: tick + 1 })),
        finalize(() => (report = { ...report, running: false })),
      );
      await stream.sendAll(ticks$).catch(() => undefined);
      const cause = await stream.closed;
      report = { ...report, code: cause.how === 'reset' ? cause.code : null };
    },
    report(_job, stream: Stream<never, Report>) {
      return stream.reply(report);
    },
  },

  async run(peer, terminal) {
    const ticks = await lastValueFrom(peer.open$<number>({ op: 'ticks' }).pipe(take(TAKEN), toArray()));
    const atOnce = await peer.request<Report>({ op: 'report' });
    await sleep(LATER_MS);
    const later = await peer.request<Report>({ op: 'report' });
    terminal.line(`took ${ticks.join(', ')} of an endless stream, one every ${milliseconds(EVERY_MS)}`);
    terminal.line(`the server reports ${JSON.stringify(atOnce)}`);
    terminal.line(`and ${milliseconds(LATER_MS)} later ${JSON.stringify(later)}`);
    assert.deepEqual(ticks, [0, 1, 2, 3, 4]);
    assert.deepEqual(later, { produced: atOnce.produced, running: false, code: ResetCode.CANCEL });
  },
};
