import { expect, it } from '@jest/globals';
import { serve } from '../../src/node.js';
import { createPair } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';

collectLogs();

// Vue wraps each object with the tag of a plain object in a Proxy. The Proxy has no private fields and another identity.
it('Peer, Stream and MuxServer have tags other than the tag of plain objects', async () => {
  const { dialer } = createPair();
  const server = serve({ port: 0, handler: () => undefined });
  await server.listening;
  await server.close();
  const tags = [dialer, dialer.open('p'), server].map((object) => Object.prototype.toString.call(object));
  expect(tags).toEqual(['[object Peer]', '[object Stream]', '[object MuxServer]']);
});
