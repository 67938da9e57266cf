import { expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { z } from 'zod';
import { answering, client, contract, fail, request, stream } from '../../src/contract.js';
import { connect, serve } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';

const logs = collectLogs();
const user = z.object({ name: z.string() });
const ROW = { name: 'ann', passwordHash: 'SECRET' };
const BAD = { name: 7, passwordHash: 'SECRET' } as never;

// `rxmux/node` bounds the lines of a process, hence a file of its own.
it('A field that the schema does not name stays at the server, by the defaults and over a real socket', async () => {
  const api = contract({ me: request({ reply: user }), all: stream({ item: user }) });
  const server = serve({ port: 0, host: '127.0.0.1', ...answering(api, { me: () => ROW, all: () => [ROW, BAD] }) });
  const address = await server.listening;
  const peer = connect(`ws://127.0.0.1:${typeof address === 'object' ? address.port : address}`);
  const received: unknown[] = [];
  peer.onFrame((direction, frame) => {
    if (direction === 'rx') received.push(frame.payload);
  });
  const calls = client(peer, api);
  expect(await calls.me.promise()).toEqual({ name: 'ann' });
  await expect(lastValueFrom(calls.all())).rejects.toMatchObject({ payload: { name: 'INTERNAL' } });
  expect(received).toContainEqual({ name: 'ann' });
  expect(JSON.stringify(received)).not.toMatch(/SECRET|passwordHash|expected string/);
  expect(logs.errors).toEqual([expect.stringMatching(/'all' sends an invalid item$/)]);
  await Promise.all([peer.close(), server.close()]);
});

it('Data of a declared error that the schema does not name stay at the server, by the defaults and over a real socket', async () => {
  const api = contract({ book: request({ errors: { TAKEN: user } }) });
  const book = (): never => {
    throw fail(api.book, 'TAKEN', ROW);
  };
  const server = serve({ port: 0, host: '127.0.0.1', ...answering(api, { book }) });
  await server.listening;
  const peer = connect(server.url);
  const error: unknown = await client(peer, api)
    .book.promise()
    .catch((thrown: unknown) => thrown);
  expect(error).toHaveProperty('payload', { name: 'TAKEN', message: 'TAKEN', data: { name: 'ann' }, declared: true });
  await Promise.all([peer.close(), server.close()]);
});
