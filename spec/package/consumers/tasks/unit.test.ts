// Tests without a port: a component over a fake peer, and the answers of a server over a pair.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scan } from 'rxjs';
import type { Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { client, contract, request, stream } from 'rxmux/contract';
import type { Client } from 'rxmux/contract';
import { createPair, fakePeer } from 'rxmux/testing';

const api = contract({ square: request<{ n: number }, number>(), prices: stream<{ symbol: string }, number>() });
const highest = (calls: Client<typeof api>): Observable<number> =>
  calls.prices({ symbol: 'ACME' }).pipe(scan((high, price) => Math.max(high, price), 0));

test('the component shows the highest price', () => {
  new TestScheduler((actual, expected) => assert.deepEqual(actual, expected)).run((helpers) => {
    const { peer, calls } = fakePeer(helpers, api, { prices: ['-a-b-c|', { a: 2, b: 5, c: 3 }] });
    helpers.expectObservable(highest(client(peer, api))).toBe('-a-b-c|', { a: 2, b: 5, c: 5 });
    helpers.flush();
    assert.equal(calls.length, 1);
  });
});

test('the server squares', async () => {
  const { dialer } = createPair(api, { square: ({ n }) => n * n, prices: () => [] });
  assert.equal(await client(dialer, api).square.promise({ n: 12 }), 144);
});
