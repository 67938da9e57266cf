// A cookie that `verify` reads, and a token that expires.
import assert from 'node:assert/strict';
import { answering, client, contract, request } from 'rxmux/contract';
import { connect, serve } from 'rxmux/node';
import { renewing, sessionExpired, sessionRefused } from 'rxmux/session';

const api = contract({ me: request<void, string>() });
const tokens: Readonly<Record<string, 'good' | 'old'>> = { t1: 'old', t2: 'good' };

await using server = serve({
  port: 0,
  ...answering(api, { me: (_, { context }) => (context as { user: string }).user }),
  verify: ({ headers }) => (headers.cookie === 'user=ann' ? { user: 'ann' } : 401),
  onHello: ({ token }: { token: string }, stream) => {
    if (tokens[token] === undefined) throw sessionRefused('unknown token');
    if (tokens[token] === 'old') throw sessionExpired();
    return stream.reply();
  },
});
await server.listening;

const headers = { cookie: 'user=ann' };
const stranger = connect(server.url, { hello: () => ({ payload: { token: 't2' } }) });
await assert.rejects(stranger.opened, { code: 'CONNECT', status: 401 });

const asked: boolean[] = [];
const hello = renewing(({ expired }) => {
  asked.push(expired);
  return { payload: { token: expired ? 't2' : 't1' } };
});
await using ann = connect(server.url, { headers, hello, reconnect: true });
assert.equal(await client(ann, api).me.promise(), 'ann');
assert.deepEqual(asked, [false, true]);

const forger = connect(server.url, { headers, hello: () => ({ payload: { token: 't3' } }), reconnect: true });
await assert.rejects(client(forger, api).me.promise(), /unknown token/);
