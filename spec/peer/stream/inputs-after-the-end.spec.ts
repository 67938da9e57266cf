import { describe, expect, it } from '@jest/globals';
import { Subject } from 'rxjs';
import { ProtocolError, ResetCode } from '../../../src/index.js';
import { collectLogs } from '../../support/peer/logs.js';
import { progressOf } from '../../support/peer/outcome.js';
import { joined } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

describe('Input of a stream whose remote needs no more', () => {
  it('A later input counts as sent when the remote needs no more', async () => {
    const { local, remote } = await joined(time);
    remote.reset(ResetCode.NO_ERROR);
    await time.advance();
    const outcome = progressOf(local.sendAll(['unsent']));
    await time.advance();
    expect(outcome).toEqual({ settled: true, error: null });
  });

  it('An input counts as sent when it emits a value while a reader learns that the remote needs no more', async () => {
    const { local, remote } = await joined(time);
    const input = new Subject<string>();
    const outcome = progressOf(local.sendAll(input));
    local.subscribe({
      error: () => {
        input.next('late');
      },
    });
    remote.reset(ResetCode.NO_ERROR);
    await time.advance();
    expect([outcome, input.observed]).toEqual([{ settled: true, error: null }, false]);
  });
});

describe('Input whose stream has ended on both sides', () => {
  it.each<[string, (next: { resolve(result: unknown): void; reject(error: unknown): void }) => void]>([
    [
      'emits a value',
      (next) => {
        next.resolve({ done: false, value: 'late' });
      },
    ],
    [
      'fails',
      (next) => {
        next.reject(new RangeError('late'));
      },
    ],
  ])('An input whose stream has ended on both sides rejects once, and reports nothing when it then %s', async (_what, act) => {
    const { local, remote } = await joined(time);
    const asked: Parameters<typeof act>[0][] = [];
    const next = () => new Promise((resolve, reject) => asked.push({ resolve, reject }));
    const outcome = progressOf(local.sendAll({ [Symbol.asyncIterator]: () => ({ next }) } as unknown as AsyncIterable<unknown>));
    void local.end();
    void remote.end();
    await time.advance();
    expect([local.cause, outcome, asked.length]).toEqual([{ how: 'ended' }, { settled: true, error: expect.any(ProtocolError) }, 1]);
    for (const each of asked) act(each);
    await time.advance();
    expect([logs.warnings, logs.errors, asked.length]).toEqual([[expect.stringContaining('stream 1')], [], 1]);
  });
});
