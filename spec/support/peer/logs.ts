import { afterEach, beforeEach, jest } from '@jest/globals';
import { logger } from '../../../src/logger.js';

/** The library's log lines in one test. None reaches the console. */
export interface PeerLogs {
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
  /** The values beside the messages of warnings. */
  readonly details: readonly unknown[];
}

/** Collects the lines of `warn` and `error`, anew for each test of a file. */
export function collectLogs(): PeerLogs {
  const warnings: string[] = [];
  const errors: string[] = [];
  const details: unknown[] = [];
  beforeEach(() => {
    warnings.length = errors.length = details.length = 0;
    jest.spyOn(logger, 'warn').mockImplementation((message, ...rest) => {
      warnings.push(message);
      details.push(...rest);
    });
    jest.spyOn(logger, 'error').mockImplementation((message) => errors.push(message));
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  // Rows compare the lines alone.
  return Object.defineProperty({ warnings, errors, details }, 'details', { enumerable: false });
}
