import { z } from 'zod';
import { channel, contract, fail, request, stream, upload } from '../../src/contract.js';
import type { Answers } from '../../src/contract.js';

/** A contract that the tests call by names. */
export const api = contract({
  add: request({
    payload: z.object({ id: z.string() }),
    reply: z.object({ id: z.string(), count: z.number() }),
    errors: { EXISTS: z.object({ id: z.string() }) },
  }),
  count: request({ reply: z.number() }),
  rows: {
    watch: stream({ payload: z.object({ from: z.number() }), item: z.number() }),
    store: upload({ payload: z.object({ name: z.string() }), input: z.string(), reply: z.string() }),
    talk: channel({ input: z.string(), item: z.string() }),
  },
});

/** Answers that keep what was added. */
export function answers(): Answers<typeof api> {
  const ids = new Set<string>();
  return {
    add: ({ id }) => {
      if (ids.has(id)) throw fail(api.add, 'EXISTS', { id });
      ids.add(id);
      return { id, count: ids.size };
    },
    count: () => ids.size,
    rows: {
      watch: ({ from }) => [from, from + 1, from + 2],
      store: async ({ name }, { input }) => {
        let length = 0;
        for await (const piece of input) length += Buffer.from(piece, 'base64').length;
        return `${name}: ${length}`;
      },
      talk: (_, { input }) => input,
    },
  };
}
