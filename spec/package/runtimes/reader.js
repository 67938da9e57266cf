// Reads all chunks of a server, and ends. The first one is announced.
import { connect } from 'rxmux/node';
import { client } from 'rxmux/contract';
import { MANY_CHUNKS, api } from './app.js';

const peer = connect(process.argv[2]);
let read = 0;
await client(peer, api)
  .chunks()
  .forEach(() => {
    if (read++ === 0) console.log('reading');
  });
await peer.close();
if (read !== MANY_CHUNKS) throw new Error(`expected ${MANY_CHUNKS} chunks, got ${read}`);
