import { expect, it } from '@jest/globals';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { answers } from './answers.js';
import { api } from './api.js';

const logs = collectLogs();

// The log has one such line a minute, hence a file of its own.
it('The log of the answering side warns of a call of an unknown name', async () => {
  const { dialer } = createPair(api, answers);
  await expect(dialer.request(['sqaure'])).rejects.toMatchObject({ code: 'REMOTE' });
  expect(logs.warnings).toEqual([
    expect.stringMatching(/^rxmux: peer \d+, stream 1 refused a stream with APPLICATION_ERROR: no 'sqaure'; did you mean 'square'\?$/),
  ]);
  expect(logs.errors).toEqual([]);
});
