import { expect, it } from '@jest/globals';
import { range } from 'rxjs';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { answers } from './answers.js';
import { api } from './api.js';

collectLogs();

// The budget is of the process, hence a file of its own.
it('A flood of unknown names is answered without near names, which cost several calls', async () => {
  const { dialer, calls } = createPair(api, answers);
  const listed: number[] = [];
  range(0, 1_000).subscribe((n) => {
    dialer.request([`sqaure${n % 10}`]).catch(({ payload }: { payload: { data: readonly string[] } }) => listed.push(payload.data.length));
  });
  expect(await calls.square.promise({ n: 2 })).toBe(4);
  await dialer.ping();
  expect(listed).toHaveLength(1_000);
  expect(listed.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 1));
  // Two periods at most begin while the calls are answered one after the other.
  expect(listed.filter((near) => near > 0).length).toBeLessThan(1_000);
});
