// A declared error, whose data a page shows.
import assert from 'node:assert/strict';
import { answering, client, contract, fail, isFailure, request } from 'rxmux/contract';
import { connect, serve } from 'rxmux/node';
import { z } from 'zod';

const api = contract({
  add: request({ payload: z.object({ id: z.string() }), reply: z.number(), errors: { EXISTS: z.object({ id: z.string() }) } }),
});
const ids = new Set<string>();

await using server = serve({
  port: 0,
  ...answering(api, {
    add: ({ id }) => {
      if (ids.has(id)) throw fail(api.add, 'EXISTS', { id });
      return ids.add(id).size;
    },
  }),
});
await server.listening;
await using peer = connect(server.url);
const { add } = client(peer, api);

const shown: string[] = [];
for (const id of ['a', 'a']) {
  try {
    shown.push(`${await add.promise({ id })} rows`);
  } catch (error) {
    shown.push(isFailure(api.add, 'EXISTS', error) ? `${error.payload.data.id} is there already` : String(error));
  }
}
assert.deepEqual(shown, ['1 rows', 'a is there already']);
