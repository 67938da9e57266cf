import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { connect, logger } from '../../../src/lean.js';
import { logger as shared } from '../../../src/logger.js';
import { FakeSocket } from '../../support/socket/fake.js';

afterEach(() => {
  jest.restoreAllMocks();
  shared.level = 'warn';
});

/** Sends a notification, and returns the lines of `debug` about it. */
function linesOfNotification(): string[] {
  const lines: string[] = [];
  jest.spyOn(console, 'debug').mockImplementation((line: string) => lines.push(line));
  const socket = new FakeSocket();
  const peer = connect('ws://x', { socket: () => socket });
  peer.notify(1);
  socket.emit('close', { code: 1000 }, 'CLOSED');
  return lines.filter((line) => line.includes('connection 1')).map((line) => line.replace(/peer \d+/, 'peer N'));
}

describe('the logger of rxmux/lean', () => {
  it('A page without it has no lines of frames and sockets', () => {
    shared.level = 'debug';
    expect(linesOfNotification()).toEqual([]);
  });

  it('Its level adds the lines of frames and sockets', () => {
    logger.level = 'debug';
    expect(linesOfNotification()).toEqual([
      'rxmux: peer N (ws://x) connection 1 opened',
      'rxmux: peer N (ws://x) connection 1 tx open stream 1 end',
      'rxmux: peer N (ws://x) connection 1 ended: 1000 CLEAN',
    ]);
    expect([shared.level, logger.level, logger.isEnabledFor('debug')]).toEqual(['debug', 'debug', true]);
  });

  it.each(['debug', 'info', 'warn', 'error'] as const)('A page replaces `%s` for the whole library', (level) => {
    const before = shared[level];
    const replaced = (): void => undefined;
    logger[level] = replaced;
    expect([shared[level], logger[level]]).toEqual([replaced, replaced]);
    logger[level] = before;
  });
});
