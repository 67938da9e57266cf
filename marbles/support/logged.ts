import { afterEach, jest } from '@jest/globals';
import { Observable } from 'rxjs';
import { logger } from '../../src/index.js';

/** What the library logs at a level, as an Observable of texts; from its subscription to the end of the test nothing of it reaches the console. */
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
