// A server of a broker's topics, rooms and users. Its IPC channel reports the port, and SIGTERM drains it.
import type { ObservableInput } from 'rxjs';
import { mergeMap } from 'rxjs';
import { respond } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { serve } from '../../src/node.js';
import { answerTopic, presence, room, usersOf } from '../../src/topics.js';
import { KINDS } from './kinds.js';

/** The calls of clients. */
export type Call =
  | { readonly op: 'typing'; readonly since: string | null }
  | { readonly op: 'follow'; readonly since: string | null }
  | { readonly op: 'join'; readonly member: string }
  | { readonly op: 'login'; readonly id: string };

const LEASE_MS = 3_000;

async function run(name: string, brokerPort: number): Promise<void> {
  const kind = KINDS.find((each) => each.name === name);
  if (kind === undefined) throw new Error(`expected a kind of broker, got ${name}`);
  const broker = await kind.connect(brokerPort);
  const numbers = broker.log<number>('numbers');
  const typing = room(broker.bus, 'typing');
  const present = presence(broker.bus, { leaseMs: LEASE_MS });
  const users = usersOf(broker.bus);

  const answer = (peer: Peer, call: Call): ObservableInput<unknown> => {
    if (call.op === 'follow') return answerTopic(numbers, call.since);
    if (call.op === 'typing') return answerTopic(typing, call.since);
    if (call.op === 'join') present.join('lobby', call.member, peer);
    else users.add(call.id, peer);
    return [null];
  };
  const server = serve({ port: 0, host: '127.0.0.1' });
  server.peers$.pipe(mergeMap((peer) => peer.streams$.pipe(respond((call: Call) => answer(peer, call))))).subscribe();
  process.once('SIGTERM', () => {
    void server
      .close({ drainMs: 10_000 })
      .then(() => broker.close())
      .then(() => process.exit());
  });
  process.once('disconnect', () => process.exit());
  const { port } = await server.listening;
  process.send?.(port);
}

const [, , name = '', brokerPort] = process.argv;
void run(name, Number(brokerPort));
