import { QueryClient } from '@tanstack/query-core';
import type { Observable } from 'rxjs';
import { client, contract, request, shared, stream } from '../../src/contract.js';
import type { Issue } from '../../src/contract.js';
import type { Peer } from '../../src/index.js';
import { useCall, useStream, useSuspenseStream } from '../../src/react.js';
import type { FailureOf } from '../../src/react.js';
import * as solid from '../../src/solid.js';
import * as svelte from '../../src/svelte.js';
import { queries } from '../../src/tanstack.js';
import * as vue from '../../src/vue.js';
import type { Equal, Expect } from './expect.js';

declare const peer: Peer;
const api = contract({
  book: request<{ seat: string }, number, { TAKEN: { by: string }; CLOSED: void }>(),
  price: stream<{ symbol: string }, number>(),
  all: stream<void, number>(),
});
const calls = client(peer, api);

const price = shared(calls.price, { keep: 5, peer });
const all = shared(calls.all);
price({ symbol: 'A' });
price({ symbol: 'A' }, { retry: 'safe' });
all();
// @ts-expect-error: a payload of another type
price({ symbol: 1 });

const booking = useCall(calls.book, { errors: api.book });
const plain = useCall(calls.book);
const value = useSuspenseStream(calls.price, [{ symbol: 'A' }]);
const stated = useStream(price, [{ symbol: 'A' }], { initialValue: 5 });
// @ts-expect-error: an initial value of another type
useStream(calls.price, [{ symbol: 'A' }], { initialValue: 'none' });
void booking.call({ seat: '1A' });
// @ts-expect-error: a payload of another type
void booking.call({ seat: 1 });

type Taken = Extract<FailureOf<typeof api.book>, { readonly name: 'TAKEN' }>;

export type CallsAreTyped = [
  Expect<Equal<ReturnType<typeof price>, Observable<number>>>,
  Expect<Equal<ReturnType<typeof booking.call>, Promise<number>>>,
  Expect<Equal<typeof booking.data, number | undefined>>,
  Expect<Equal<NonNullable<typeof booking.failure>['name'], 'TAKEN' | 'CLOSED' | 'INVALID' | 'UNKNOWN' | 'INTERNAL'>>,
  Expect<Equal<Taken['data'], { by: string }>>,
  Expect<Equal<Extract<FailureOf<typeof api.book>, { readonly name: 'INVALID' }>['data'], readonly Issue[]>>,
  Expect<Equal<NonNullable<typeof plain.failure>['name'], 'INVALID' | 'UNKNOWN' | 'INTERNAL'>>,
  Expect<Equal<typeof value.value, number>>,
  Expect<Equal<typeof stated.value, number | undefined>>,
];

if (booking.failure?.name === 'TAKEN') booking.failure.data.by.toUpperCase();

const inVue = vue.useStream(calls.price, () => [{ symbol: 'A' }]);
const inSvelte = svelte.useStream(calls.price, () => [{ symbol: 'A' }]);
const inSolid = solid.useStream(calls.price, () => [{ symbol: 'A' }]);
const bookingInVue = vue.useCall(calls.book, { errors: api.book });
if (bookingInVue.failure.value?.name === 'TAKEN') bookingInVue.failure.value.data.by.toUpperCase();
const bookingInSvelte = svelte.useCall(calls.book, { errors: api.book });
if (bookingInSvelte.failure?.name === 'TAKEN') bookingInSvelte.failure.data.by.toUpperCase();
// @ts-expect-error: a payload of another type
vue.useStream(calls.price, () => [{ symbol: 1 }]);

const q = queries(peer, api);
// @ts-expect-error: a stream has no mutations
export type MutationsOfStream = (typeof q.price)['mutationOptions'];
const booked = new QueryClient().getQueryData(q.book.queryOptions({ seat: '1A' }).queryKey);
const prices = new QueryClient().query(q.price.streamedOptions({ symbol: 'A' }));
const last = q.price.streamedOptions({ symbol: 'A' }, { reducer: (_: number | null, price) => price, initialValue: null });
const newest = q.price.streamedOptions({ symbol: 'A' }, { reducer: (kept, price) => [...kept, price].slice(-9) });
// @ts-expect-error: a reducer of a sum has to begin with a number, and not with the default, an empty array
q.price.streamedOptions({ symbol: 'A' }, { reducer: (sum: number, price) => sum + price });
// @ts-expect-error: without a reducer the data are an array
q.price.streamedOptions({ symbol: 'A' }, { initialValue: 0 });

export type DoorsAreTyped = [
  Expect<Equal<typeof inVue.value.value, number | undefined>>,
  Expect<Equal<typeof inSvelte.value, number | undefined>>,
  Expect<Equal<ReturnType<typeof inSolid.value>, number | undefined>>,
  Expect<Equal<typeof booked, number | undefined>>,
  Expect<Equal<typeof prices, Promise<readonly number[]>>>,
  Expect<Equal<Awaited<ReturnType<typeof last.queryFn>>, number | null>>,
  Expect<Equal<Awaited<ReturnType<typeof newest.queryFn>>, readonly number[]>>,
];
