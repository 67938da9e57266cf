import { afterEach, jest } from '@jest/globals';
import { Observable } from 'rxjs';
import { logger } from '../../src/index.js';

/**
 * Emits the texts that the library logs at a level. From its subscription to the end of the test they do not reach the
 * console.
 */
export function logged(level: 'warn' | 'error'): Observable<string> {
  return new Observable((subscriber) => {
    jest.spyOn(logger, level).mockImplementation((text) => {
      subscriber.next(text);
    });
  });
}

afterEach(() => {
  jest.restoreAllMocks();
});
