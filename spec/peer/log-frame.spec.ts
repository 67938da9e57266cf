import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { logger } from '../../src/index.js';
import { createPair } from '../support/tracked.js';

describe('frame lines', () => {
  const lines: string[] = [];

  beforeEach(() => {
    lines.length = 0;
    jest.spyOn(console, 'debug').mockImplementation((line: string) => {
      lines.push(line);
    });
  });

  afterEach(() => {
    logger.level = 'warn';
    jest.restoreAllMocks();
  });

  const talk = async (): Promise<void> => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.reply('secret answer', { headers: { key: 'secret header' }, trailers: { sum: 'secret sum' } }));
    await dialer.request({ question: 'secret' }, { headers: { token: 'secret' } });
    await dialer.request('x'.repeat(70_000));
    await dialer.close({ reason: 'secret reason' });
  };

  it('are emitted at debug, one a frame and side, with what the frame is and where it goes', async () => {
    logger.level = 'debug';
    await talk();
    expect(lines.filter((line) => line.includes(' tx '))).toEqual([
      'rxmux: connection 1 tx open stream 1 end',
      'rxmux: connection 1 tx data stream 1 end',
      'rxmux: connection 1 tx open stream 3 fragment more',
      'rxmux: connection 1 tx open stream 3 fragment end',
      'rxmux: connection 1 tx data stream 3 end',
      'rxmux: connection 1 tx goaway code 0 last_stream 0',
    ]);
    expect(lines.filter((line) => line.includes(' rx '))).toHaveLength(6);
  });

  it('never carry what the application put into the frame', async () => {
    logger.level = 'debug';
    await talk();
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => line.includes('secret'))).toEqual([]);
  });

  it.each(['info', 'warn', 'error', 'silent'] as const)('are not emitted at %s', async (level) => {
    logger.level = level;
    await talk();
    expect(lines).toEqual([]);
  });
});
