import { describe, expect, it } from '@jest/globals';
import { collectLogs } from '../support/peer/logs.js';
import { losesNothing } from './restarting.js';

const logs = collectLogs();

describe('restarts', () => {
  it.each(['after the drain', 'at once'] as const)('A restart under load loses no request if the next server listens %s', async (next) => {
    await losesNothing({ clients: 20, restarts: 1, drainMs: 1_000, next });
    expect(logs.errors).toEqual([]);
  });
});
