import { describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { Server } from 'node:net';
import { listening } from '../../src/node/listen.js';

describe('listening', () => {
  it('`listening` resolves even if the event has arguments, as in Bun', async () => {
    const server = new Server();
    const address = { address: '::', family: 'IPv6', port: 8080 };
    jest.spyOn(server, 'address').mockReturnValue(address);
    const outcome = listening(server);
    server.emit('listening', null, 'localhost', 8080);
    expect(await outcome).toBe(address);
    expect(server.eventNames()).toEqual(new Server().eventNames());
  });

  it('`listening` resolves with the new address of a server that listens again', async () => {
    const server = new Server();
    for (const host of ['127.0.0.1', '0.0.0.0']) {
      await once(server.listen(0, host), 'listening');
      expect(await listening(server)).toMatchObject({ address: host });
      await once(server.close(), 'close');
    }
  });
});
