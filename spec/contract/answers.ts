import { count, lastValueFrom, map, range } from 'rxjs';
import type { Answers } from '../../src/contract.js';
import { fail } from '../../src/contract.js';
import { api } from './api.js';

/** Answers for the contract of the specs. */
export const answers: Answers<typeof api> = {
  square: ({ n }) => n * n,
  now: () => Promise.resolve('noon'),
  words: (text) => text.split(' '),
  count: ({ from }) => range(from, 3),
  store(_, { input }) {
    return lastValueFrom(input.pipe(count()));
  },
  chat: { shout: (_, { input }) => input.pipe(map((text) => text.toUpperCase())) },
  book({ seat }) {
    if (seat === '12A') throw fail(api.book, 'TAKEN', { by: 'ann' });
    if (seat === '13A') throw fail(api.book, 'CLOSED');
    return { seat, price: 40 };
  },
  sums: (_, { input }) => input.pipe(map((n) => n + 1)),
  async total(_, { input }) {
    let sum = 0;
    for await (const n of input) sum += n;
    return sum;
  },
};
