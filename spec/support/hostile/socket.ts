import { encodedLength } from '../../../src/wire/length.js';
import type { HostilePeer } from './peer.js';

/** From here on the peer's socket buffers everything it sends, because the remote does not read. */
export function stopTaking({ socket }: HostilePeer): void {
  const give = socket.send.bind(socket);
  socket.send = (data) => {
    give(data);
    socket.bufferedAmount += encodedLength(data);
  };
}
