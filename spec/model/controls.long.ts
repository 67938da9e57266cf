import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CALL_FAULTS } from './call-faults.js';
import { weed } from './plant.js';
import { firstViolation } from './seeded.js';
import { STREAM_FAULTS } from './stream-faults.js';

/** The number of scripts in which a fault has to show. */
const SCRIPTS = 100;

describe('a fault in the library', () => {
  beforeAll(async () => {
    expect(await firstViolation(SCRIPTS)).toBeNull();
  });

  afterEach(() => {
    weed();
    jest.restoreAllMocks();
  });

  it.each([...CALL_FAULTS, ...STREAM_FAULTS])(
    'The model finds the fault: $fault',
    async ({ shows, sow }) => {
      sow();
      const violation = await firstViolation(SCRIPTS);
      expect({ shows: violation?.invariant, detail: violation?.message }).toEqual({ shows, detail: expect.any(String) });
    },
    120_000,
  );
});
