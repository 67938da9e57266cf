import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { filter, firstValueFrom } from 'rxjs';
import { RefusedError } from 'rxmux';
import { milliseconds } from '../figures.js';
import type { Step } from '../step.js';

const WORK_MS = 500;
const DRAIN_MS = 10 * WORK_MS;

/** A server that closes finishes its running streams, and accepts no new ones. */
export const drain: Step = {
  title: 'the server closes and finishes its running streams',
  file: 'steps/drain.ts',
  checked: 'the work under way ends, new work is refused, and the socket closes cleanly with 1000',

  answers: {
    async work({ ms }: { readonly ms: number }, stream) {
      await sleep(ms);
      await stream.reply('finished');
    },
    leave(_job, stream) {
      void stream.peer.close({ drainMs: DRAIN_MS, reason: 'maintenance' });
    },
  },

  async run(peer, terminal) {
    const begun = performance.now();
    const work = peer.request<string>({ op: 'work', ms: WORK_MS });
    peer.notify({ op: 'leave' });
    const status = await firstValueFrom(peer.status$.pipe(filter(({ state }) => state === 'draining')));
    terminal.line(`${status.state} after ${milliseconds(performance.now() - begun)}, with work of ${milliseconds(WORK_MS)} under way`);

    const refused = await peer.request({ op: 'work', ms: 0 }).then(
      () => null,
      (error: unknown) => error,
    );
    assert.ok(refused instanceof RefusedError, `expected new work to be refused, got ${String(refused)}`);
    terminal.line(`new work: ${refused.message}; retriable ${refused.retriable}`);

    terminal.line(`the work under way: ${await work}, after ${milliseconds(performance.now() - begun)}`);
    const { code, reason, wasClean } = await peer.closed;
    terminal.line(`then the socket closed: ${code} '${reason}'`);
    assert.deepEqual({ code, wasClean }, { code: 1_000, wasClean: true });
  },
};
