import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { answer, answering, client, contract, request, stream } from '../../src/contract.js';
import { connect, refuse, serve } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';

const logs = collectLogs();

const api = contract({ me: request<void, string>(), square: request<number, number>() });
const pushes = contract({ news: request<{ text: string }>() });

const verify = ({ headers }: IncomingMessage) => {
  if (headers.cookie === undefined) return refuse(429);
  return Promise.resolve({ name: headers.cookie });
};

async function urlOf(server: ReturnType<typeof serve>): Promise<string> {
  const address = await server.listening;
  return `ws://127.0.0.1:${typeof address === 'object' ? address.port : address}`;
}

describe('answering', () => {
  it('A server answers a contract by one line, and its answers know who called', async () => {
    const server = serve({
      port: 0,
      host: '127.0.0.1',
      ...answering(api, { me: (_, { context }) => context.name, square: (n) => n * n }, { verify }),
    });
    const url = await urlOf(server);
    const peer = connect(url, { headers: { cookie: 'ann' } });
    const calls = client(peer, api);
    expect(await calls.me.promise()).toBe('ann');
    expect(await calls.square.promise(3)).toBe(9);
    const refused = connect(url);
    await expect(client(refused, api).me.promise()).rejects.toMatchObject({ code: 'CONNECT', status: 429 });
    await Promise.all([peer.close(), refused.close(), server.close()]);
    expect(logs.errors).toEqual([]);
  });

  it('A server without verify answers with the context of its options', async () => {
    const server = serve({
      port: 0,
      host: '127.0.0.1',
      context: { user: 'any' },
      ...answering(api, { me: (_, { context }) => JSON.stringify(context), square: (n) => n }),
    });
    const peer = connect(await urlOf(server));
    expect(await client(peer, api).me.promise()).toBe('{"user":"any"}');
    await Promise.all([peer.close(), server.close()]);
  });

  it('A client answers pushes of the server', async () => {
    const seen: string[] = [];
    const { dialer, acceptor } = createPair();
    dialer.streams$.pipe(answer(pushes, { news: ({ text }) => void seen.push(text) })).subscribe();
    const push = client(acceptor, pushes);
    await push.news.promise({ text: 'one' });
    push.news.notify({ text: 'two' });
    await acceptor.ping();
    expect(seen).toEqual(['one', 'two']);
    await expect(acceptor.request(['new'])).rejects.toMatchObject({ payload: { name: 'UNKNOWN', data: ['news'] } });
  });
});

describe('two versions of a contract', () => {
  const old = contract({ find: request<{ text: string }, { hits: number }>(), feed: stream<void, { id: number }>() });
  const young = contract({
    find: request<{ text: string; limit?: number }, { hits: number; more?: boolean }>(),
    feed: stream<void, { id: number; at?: string }>(),
    count: request<void, number>(),
  });

  it('An older client calls a newer server', async () => {
    const { dialer } = createPair(young, {
      find: ({ text, limit = 9 }) => ({ hits: Math.min(text.length, limit), more: false }),
      feed: () => [{ id: 1, at: 'now' }],
      count: () => 7,
    });
    const calls = client(dialer, old);
    expect(await calls.find.promise({ text: 'abc' })).toMatchObject({ hits: 3 });
    expect(await firstValueFrom(calls.feed())).toMatchObject({ id: 1 });
  });

  it('A newer client calls an older server, and learns that it lacks the new procedure', async () => {
    const { dialer } = createPair(old, { find: ({ text }) => ({ hits: text.length }), feed: () => [{ id: 1 }] });
    const calls = client(dialer, young);
    expect(await calls.find.promise({ text: 'abc', limit: 2 })).toEqual({ hits: 3 });
    expect(await firstValueFrom(calls.feed())).toEqual({ id: 1 });
    await expect(calls.count.promise()).rejects.toMatchObject({ retriable: false, payload: { name: 'UNKNOWN' } });
  });
});
