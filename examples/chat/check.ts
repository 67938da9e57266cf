// Two clients talk while one server is killed and the other one drains. Each client has to hear every line once and in order.
import assert from 'node:assert/strict';
import {
  concat,
  filter,
  firstValueFrom,
  interval,
  lastValueFrom,
  map,
  of,
  Subject,
  takeUntil,
  takeWhile,
  timeInterval,
  toArray,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { client } from 'rxmux/contract';
import { connect } from 'rxmux/node';
import { api } from './api.js';
import { enter } from './chat.js';

/** A broker may have lines of an earlier check. */
const NAMES = ['ann', 'bob'].map((name) => `${name} ${process.pid}`);

/** @param ports$ the ports of the servers that listen */
export async function check(url: string, ports$: Observable<readonly number[]>): Promise<void> {
  const listening = (count: number) => firstValueFrom(ports$.pipe(filter(({ length }) => length === count)));
  const over$ = new Subject<void>();
  const talks = NAMES.map((name) => talk(url, name, over$));
  for (const [nth, signal] of (['SIGKILL', 'SIGTERM'] as const).entries()) {
    const ports = await listening(2);
    client(connect(`ws://127.0.0.1:${ports[nth]}/mux`), api).end.notify(signal);
    await listening(1);
  }
  over$.next();
  await Promise.all(talks);
}

/** Says a line each 5 ms until it is over. Checks all lines that it hears. */
async function talk(url: string, name: string, over$: Observable<void>): Promise<void> {
  const peer = connect(url, { reconnect: { maxAttempts: Infinity } });
  const { line$, present$, say } = enter(peer, 'lobby', name);
  const servers: string[] = [];
  const presence = present$.subscribe(({ server }) => server !== servers.at(-1) && servers.push(server));
  const line = (nth: number) => `line ${nth}`;
  const said = lastValueFrom(say(concat(interval(5).pipe(map(line), takeUntil(over$)), of('bye'))));
  let talking = NAMES.length;
  const all$ = line$.pipe(
    filter((heard) => NAMES.includes(heard.name)),
    takeWhile(({ text }) => text !== 'bye' || --talking > 0, true),
  );
  const heard = await lastValueFrom(all$.pipe(timeInterval(), toArray()));
  for (const writer of NAMES) {
    const numbers = heard.filter(({ value }) => value.name === writer).map(({ value }) => value.nth);
    assert.deepEqual(
      numbers,
      Array.from(numbers, (_, index) => index + 1),
    );
  }
  const silenceMs = Math.max(...heard.map((line) => line.interval));
  console.log(`${name} was on ${servers.join(', ')}: heard ${heard.length} lines once and in order, the longest silence ${silenceMs} ms`);
  presence.unsubscribe();
  await said;
  await peer.close();
}
