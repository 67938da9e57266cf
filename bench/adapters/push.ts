import type { Socket } from 'node:net';

const PER_TURN = 64;
const MOST_BUFFERED = 256 * 1024;

/** Emits like a server that pushes: 64 items a turn, and none while the socket holds more than 256 KiB. */
export function pushItems(items: Iterable<unknown>, socket: Socket, send: (item: unknown) => void, end: () => void): void {
  const iterator = items[Symbol.iterator]();
  // Each stream of a connection adds a listener of its own, and Node warns of more than ten.
  socket.setMaxListeners(0);
  const turn = (): void => {
    for (let n = 0; n < PER_TURN; n++) {
      const { done, value } = iterator.next() as IteratorResult<unknown, undefined>;
      if (done === true) {
        end();
        return;
      }
      send(value);
    }
    if (socket.writableLength > MOST_BUFFERED) socket.once('drain', () => setImmediate(turn));
    else setImmediate(turn);
  };
  turn();
}
