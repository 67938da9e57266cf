import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { afterEach, beforeEach, expect } from '@jest/globals';
import { watchResources } from './leaks.js';
import { closing, listening } from './listening.js';

/**
 * An HTTP server for each test of a file, on a free port. After the test it closes with its last connection, and must leave nothing.
 *
 * @param ending runs before it is closed
 */
export function httpServer(ending: (server: Server) => void = () => undefined): { readonly now: Server } {
  let leaks: ReturnType<typeof watchResources>;
  let now: Server;
  beforeEach(async () => {
    leaks = watchResources();
    now = await listening(createServer());
  });
  afterEach(async () => {
    ending(now);
    await closing(now);
    expect(await leaks()).toEqual({});
  });
  return {
    get now() {
      return now;
    },
  };
}
