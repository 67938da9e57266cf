import { connect, serve } from 'rxmux/node';
import { heapUsed, megabytes } from './heap.js';
import type { SoakPart } from './part.js';

const WARM_UP = 20_000;
const AT_ONCE = 64;
const MOST_GROWTH = 5_000_000;

/** A million requests on one connection, 64 at once, leave the heap as they found it. */
export const requests: SoakPart = async ({ quick }) => {
  const count = quick ? 100_000 : 1_000_000;
  const server = serve({ port: 0, host: '127.0.0.1', handler: (payload, stream) => stream.reply(payload) });
  const { port } = await server.listening;
  const peer = connect(`ws://127.0.0.1:${port}`);
  let next = 0;
  const ask = async (until: number): Promise<void> => {
    for (let nth = next++; nth < until; nth = next++) {
      const answer = await peer.request<{ readonly nth: number }>({ nth });
      if (answer.nth !== nth) throw new Error(`expected the answer to request ${nth}, got the answer to ${answer.nth}`);
    }
  };
  const askAll = async (until: number): Promise<void> => {
    await Promise.all(Array.from({ length: AT_ONCE }, () => ask(until)));
    next = until;
  };

  await askAll(WARM_UP);
  const before = await heapUsed();
  const began = performance.now();
  await askAll(WARM_UP + count);
  const seconds = (performance.now() - began) / 1_000;
  const growth = (await heapUsed()) - before;
  await peer.close();
  await server.close();
  const figures =
    `${count} requests in ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} a second; ` +
    `heap ${megabytes(before)} after the first ${WARM_UP}, ${megabytes(growth)} more in the end`;
  return { figures, fault: growth > MOST_GROWTH ? `expected at most ${megabytes(MOST_GROWTH)} more, got ${megabytes(growth)}` : null };
};
