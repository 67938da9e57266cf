import { contract, isFailure, request } from 'rxmux/contract';
import { z } from 'zod';

/** Version 1 with an optional field of a payload, a field of a reply, and a procedure. */
export const api = contract({
  price: request({
    payload: z.object({ symbol: z.string(), factor: z.number().optional() }),
    reply: z.object({ cents: z.number(), factor: z.number().optional() }),
  }),
  book: request({ payload: z.object({ seat: z.string() }), reply: z.string() }),
});

export const answers = {
  price: ({ symbol, factor = 1 }) => ({ cents: symbol.length * factor, factor }),
  book: ({ seat }) => `booked ${seat}`,
};

export const ask = async (calls) => ({
  price: await calls.price.promise({ symbol: 'ACME', factor: 10 }),
  book: await calls.book.promise({ seat: '12A' }).catch((error) => (isFailure(api.book, 'UNKNOWN', error) ? 'unknown' : error.message)),
});
