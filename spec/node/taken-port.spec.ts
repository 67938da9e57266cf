import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { logger } from '../../src/index.js';
import { serve } from '../../src/node.js';
import { nodePrograms } from '../support/process/node-child.js';
import { watchResources } from '../support/socket/leaks.js';
import { closing, listening } from '../support/socket/listening.js';

const run = nodePrograms();
let leaks: ReturnType<typeof watchResources>;
let taken: ReturnType<typeof createServer>;
let port: number;

beforeEach(async () => {
  leaks = watchResources();
  taken = await listening(createServer());
  ({ port } = taken.address() as AddressInfo);
});

afterEach(async () => {
  jest.restoreAllMocks();
  await closing(taken);
  expect(await leaks()).toEqual({});
});

describe('programs with a taken port', () => {
  it.each<readonly [what: string, rest: string]>([
    ['does nothing else', ''],
    ['waits for `closed`', 'await server.closed;'],
    ['has a signal handler', `process.once('SIGTERM', () => void server.close());`],
  ])('A program whose port is taken exits with code 1 and names the port if it never reads `listening` and %s', async (_what, rest) => {
    const { status, stderr } = await run(`const server = serve({ port: ${String(port)}, host: '127.0.0.1' }); ${rest}`);
    expect(status).toBe(1);
    expect(stderr).toContain(`address already in use 127.0.0.1:${String(port)}`);
  });

  it.each<readonly [what: string, program: string]>([
    ['handles `listening`', 'await server.listening.catch(({ code }) => console.log(code)); await server.closed;'],
    ['closes its server at once', `await server.close(); console.log('EADDRINUSE');`],
  ])('A program whose port is taken continues if it %s', async (_what, program) => {
    const { status, stdout } = await run(
      `logger.level = 'silent'; const server = serve({ port: ${String(port)}, host: '127.0.0.1' }); ${program}`,
    );
    expect([status, stdout]).toEqual([0, 'EADDRINUSE\n']);
  });
});

describe('servers that cannot listen', () => {
  it('A server that cannot listen rejects `listening`, completes its observables and settles `closed`', async () => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const server = serve({ port, host: '127.0.0.1' });
    const completed: string[] = [];
    server.peers$.subscribe({ complete: () => completed.push('peers$') });
    server.refusals$.subscribe({ complete: () => completed.push('refusals$') });
    await expect(server.listening).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await server.closed;
    expect(completed).toEqual(['peers$', 'refusals$']);
    expect(error.mock.calls).toEqual([['rxmux: the server failed', expect.objectContaining({ code: 'EADDRINUSE' })]]);
    expect(server.address()).toBeNull();
    await server.close();
  });
});
