import { expect, it } from '@jest/globals';
import { serve } from '../../src/node.js';
import { createPair } from '../../src/testing.js';

// Vue wraps each object with the tag of a plain one in a Proxy, which has no private fields and another identity.
it('The tags of a peer, a stream and a server are not those of plain objects', async () => {
  const { dialer } = createPair();
  const server = serve({ port: 0, handler: () => undefined });
  await server.listening;
  await server.close();
  const tags = [dialer, dialer.open('p'), server].map((object) => Object.prototype.toString.call(object));
  expect(tags).toEqual(['[object Peer]', '[object Stream]', '[object MuxServer]']);
});
