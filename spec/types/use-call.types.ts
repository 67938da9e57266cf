import type { Observable } from 'rxjs';
import { client, contract, request, shared, stream } from '../../src/contract.js';
import type { Issue } from '../../src/contract.js';
import type { Peer } from '../../src/index.js';
import { useCall, useStream, useSuspenseStream } from '../../src/react.js';
import type { FailureOf } from '../../src/react.js';
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
  Expect<Equal<NonNullable<typeof booking.failure>['name'], 'TAKEN' | 'CLOSED' | 'INVALID' | 'UNKNOWN'>>,
  Expect<Equal<Taken['data'], { by: string }>>,
  Expect<Equal<Extract<FailureOf<typeof api.book>, { readonly name: 'INVALID' }>['data'], readonly Issue[]>>,
  Expect<Equal<NonNullable<typeof plain.failure>['name'], 'INVALID' | 'UNKNOWN'>>,
  Expect<Equal<typeof value.value, number>>,
  Expect<Equal<typeof stated.value, number | undefined>>,
];

if (booking.failure?.name === 'TAKEN') booking.failure.data.by.toUpperCase();
