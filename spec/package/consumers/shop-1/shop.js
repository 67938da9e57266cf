import { contract, request } from 'rxmux/contract';
import { z } from 'zod';

export const api = contract({
  price: request({ payload: z.object({ symbol: z.string() }), reply: z.object({ cents: z.number() }) }),
});

export const answers = { price: ({ symbol }) => ({ cents: symbol.length }) };

export const ask = async (calls) => ({ price: await calls.price.promise({ symbol: 'ACME' }) });
