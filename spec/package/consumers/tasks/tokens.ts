// The tokens of a model: its reader loses the socket, goes on, and stops.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { finalize, firstValueFrom, interval, Subject, take, takeUntil, tap, toArray } from 'rxjs';
import { answering, client, contract, stream } from 'rxmux/contract';
import { connect, serve } from 'rxmux/node';
import { replayable, topic } from 'rxmux/topics';
import type { Replayable, TopicItem } from 'rxmux/topics';

const api = contract({ ask: stream<{ id: string; since: string | null }, TopicItem<number, string>>() });
const http = createServer();
const sockets = new Set<Socket>();
http.on('connection', (socket) => sockets.add(socket));

const ended = new Subject<string>();
const answers = new Map<string, Replayable<number>>();
const begin = (id: string, tokens: number): Replayable<number> => {
  const source = interval(2).pipe(
    take(tokens),
    finalize(() => ended.next(id)),
  );
  const answer = replayable(source, { idleMs: 1_000 });
  answers.set(id, answer);
  return answer;
};
await using server = serve({
  server: http,
  ...answering(api, { ask: ({ id, since }) => (answers.get(id) ?? begin(id, id === 'short' ? 60 : 1e9)).after(since) }),
});
http.listen(0, '127.0.0.1');
await server.listening;
await using peer = connect(server.url, { reconnect: true });
const ask = (id: string) => topic(peer, (since: string | null) => client(peer, api).ask({ id, since }, { retry: 'safe' }));

const cut = (token: number): void => {
  if (token === 20) for (const socket of sockets) socket.destroy();
};
const tokens = await firstValueFrom(ask('short').pipe(tap(cut), take(60), toArray()));
assert.deepEqual(tokens, [...Array(60).keys()]);
assert.equal(sockets.size, 2);

const stopped = firstValueFrom(ended.pipe(take(1)));
const stop = new Subject<void>();
let read = 0;
ask('long')
  .pipe(takeUntil(stop))
  .subscribe(() => {
    if (++read === 5) stop.next();
  });
assert.equal(await stopped, 'long');
http.close();
