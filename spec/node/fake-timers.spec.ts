import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { connect, serve } from '../../src/node.js';

describe('fake timers', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('Fake timers of a test runner do not hold up sockets', async () => {
    const server = serve({ port: 0, host: '127.0.0.1', handler: (payload, stream) => stream.reply(payload) });
    const address = await server.listening;
    const dialer = connect(`ws://127.0.0.1:${typeof address === 'string' ? address : address.port}`);
    expect(await dialer.request('x'.repeat(1_000_000))).toHaveLength(1_000_000);
    await dialer.close();
    await server.close();
  });
});
