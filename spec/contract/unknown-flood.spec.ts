import { expect, it, jest } from '@jest/globals';
import { range } from 'rxjs';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { answers } from './answers.js';
import { api } from './api.js';

collectLogs();

// The budget is of the process, hence a file of its own.
it('A flood of unknown names has near names searched 100 times a second, and each call is answered', async () => {
  // Frozen time: the whole flood falls in one period of the budget, also on a busy machine.
  jest.spyOn(Date, 'now').mockReturnValue(Date.now());
  const { dialer, calls } = createPair(api, answers);
  const listed: number[] = [];
  range(0, 1_000).subscribe((n) => {
    dialer.request([`sqaure${n % 10}`]).catch((error: unknown) => {
      listed.push((error as { payload: { data: readonly string[] } }).payload.data.length);
    });
  });
  expect(await calls.square.promise({ n: 2 })).toBe(4);
  await dialer.ping();
  expect(listed).toHaveLength(1_000);
  expect(listed.filter((near) => near > 0)).toHaveLength(100);
});
