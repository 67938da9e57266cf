import { z } from 'zod';
import { channel, contract, plain, request, stream, upload } from '../../src/contract.js';

/** A contract with every kind of procedure, by plain types and by schemas. */
export const api = contract({
  square: request<{ n: number }, number>(),
  now: request<void, string>(),
  words: request<string, readonly string[]>(),
  count: stream<{ from: number }, number>(),
  store: upload<{ name: string }, unknown, number>(),
  chat: { shout: channel<void, string, string>() },
  book: request({
    payload: z.object({ seat: z.string() }),
    reply: z.object({ seat: z.string(), price: z.number() }),
    errors: { TAKEN: z.object({ by: z.string() }), CLOSED: plain<void>() },
  }),
  sums: channel({ input: z.number(), item: z.number() }),
  total: upload({ input: z.number(), reply: z.number() }),
});
