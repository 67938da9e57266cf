import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { contract, request } from '../../src/contract.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';

const logs = collectLogs();

// The log has one such line a minute, hence a file of its own.
it('The log of the answering side warns of an invalid payload, and shows no part of it', async () => {
  const short = z.string().refine((text) => text === '', { error: ({ input }) => `not ${String(input)}` });
  const { calls, dialer } = createPair(contract({ news: request({ payload: short }) }), { news: () => undefined });
  calls.news.notify('secret');
  await dialer.ping();
  expect(logs.warnings).toEqual([
    expect.stringMatching(/^rxmux: peer \d+, stream 1 refused a stream with APPLICATION_ERROR: the payload of 'news' is invalid$/),
  ]);
  expect(logs.errors).toEqual([]);
});
