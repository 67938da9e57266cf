// An upload with its progress, and one that its user cancels.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { interval, map } from 'rxjs';
import { answering, client, contract, upload } from 'rxmux/contract';
import { MsgpackCodec } from 'rxmux/msgpack';
import { connect, serve } from 'rxmux/node';
import { withProgress } from 'rxmux/uploads';

const files = contract({ store: upload<{ name: string }, Uint8Array, number>() }, { codec: 'msgpack' });
const left = new EventTarget();

await using server = serve({
  port: 0,
  codec: new MsgpackCodec(),
  ...answering(files, {
    store: async (_, { input, signal }) => {
      signal.addEventListener('abort', () => left.dispatchEvent(new Event('left')));
      let bytes = 0;
      for await (const piece of input) bytes += piece.length;
      return bytes;
    },
  }),
});
await server.listening;
await using peer = connect(server.url, { codec: new MsgpackCodec() });
const { store } = client(peer, files);

let hasLeft = false;
left.addEventListener('left', () => (hasLeft = true));
const film = new Blob([new Uint8Array(4 * 1024 * 1024)]);
const progress: number[] = [];
const stored = await store.promise({ name: 'film' }, () => withProgress(peer, film, (bytes) => progress.push(bytes)));
await peer.ping(); // the last report may come after the answer
assert.deepEqual([stored, progress.at(-1), hasLeft], [film.size, film.size, false]);

const endless = interval(1).pipe(map(() => new Uint8Array(1_000)));
const cancelled = once(left, 'left');
const sending = store({ name: 'endless' }, endless).subscribe({ error: assert.fail });
await peer.ping();
sending.unsubscribe();
await cancelled;
