// A chat over two servers and Redis. One server is killed while two members talk.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { firstValueFrom, take, timeout, toArray } from 'rxjs';
import { client } from 'rxmux/contract';
import { connect } from 'rxmux/node';
import { topic } from 'rxmux/topics';
import { api } from './chat-api.ts';

const start = async () => {
  const child = fork(new URL('chat-server.ts', import.meta.url), [process.argv[2] ?? '6379']);
  const [url] = (await once(child, 'message')) as [string];
  return { child, url };
};
const [first, second] = await Promise.all([start(), start()]);

const LINES = 20;

/** A member dials its own server first, and after a loss the other one. */
const member = (name: string, urls: readonly string[]) => {
  let dials = 0;
  const peer = connect(() => urls[dials++ % urls.length] ?? '', { reconnect: true });
  const calls = client(peer, api);
  const lines$ = topic(peer, (since: string | null) => calls.lines({ since }, { retry: 'safe' }));
  const heard = firstValueFrom(lines$.pipe(take(2 * LINES), toArray(), timeout(60_000)));
  const say = (n: number) => calls.say.promise({ line: `${name} ${n}`, key: `${name} ${n}` }, { retry: 'safe' });
  return { peer, heard, say, dials: () => dials };
};
const ann = member('ann', [first.url, second.url]);
const bob = member('bob', [second.url, first.url]);
for (let n = 0; n < LINES; n++) {
  if (n === LINES / 2) first.child.kill('SIGKILL');
  // A line that was on its way when its server was killed is said again: its key makes it one line.
  await ann.say(n).catch(() => ann.say(n));
  await bob.say(n);
}
const said = ['ann', 'bob'].flatMap((name) => Array.from({ length: LINES }, (_, n) => `${name} ${n}`));
const [atAnn, atBob] = await Promise.all([ann.heard, bob.heard]);
assert.deepEqual([...atAnn].sort(), said.sort());
assert.deepEqual(atAnn, atBob);
assert.ok(ann.dials() > 1);

for (const { peer } of [ann, bob]) await peer.close();
second.child.kill();
