import assert from 'node:assert/strict';
import type { Step } from '../step.js';

interface News {
  readonly headline: string;
}

/** Both ends open streams: a connected server can send its client requests. */
export const push: Step = {
  title: 'the server pushes, and the dialer answers it',
  file: 'steps/push.ts',
  checked: 'the server has read the answer, on a stream with the even id 2',

  answers: {
    async subscribe({ name }: { readonly name: string }, stream) {
      const read = await stream.peer.request<string>({ headline: `${name}, process ${process.pid} has news` });
      await stream.reply(read);
    },
  },

  async run(peer, terminal) {
    const ids: (number | null)[] = [];
    const remove = peer.onStream(({ headline }: News, stream) => {
      terminal.line(`pushed on stream ${String(stream.id)}: ${headline}`);
      ids.push(stream.id);
      return stream.reply(`read by process ${process.pid}`);
    });
    const read = await peer.request<string>({ op: 'subscribe', name: 'dear reader' });
    remove();
    terminal.line(`the server received: ${read}`);
    assert.equal(read, `read by process ${process.pid}`);
    assert.deepEqual(ids, [2], 'the streams of an acceptor have even ids');
  },
};
