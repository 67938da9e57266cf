// The program of the page: one client at a time, and the same tasks as in a process of Node.
import { connect, JsonCodec } from 'rxmux';
import { FloorClient } from '../adapters/floor-client.js';
import type { FloorMessage } from '../adapters/floor-client.js';
import { clientOf, raised } from '../adapters/rxmux-client.js';
import type { Client, Needs } from '../harness/adapter.js';
import { text } from '../harness/payloads.js';
import { runTask } from '../tasks/index.js';
import type { TaskArgs, TaskName } from '../tasks/index.js';
import type { TaskContext } from '../tasks/context.js';

const dialers = {
  'floor-a': async (url: string): Promise<Client> => {
    const socket = new WebSocket(url);
    const client = new FloorClient(
      (message) => {
        socket.send(JSON.stringify(message));
      },
      () => {
        socket.close();
      },
    );
    socket.onmessage = ({ data }) => {
      client.receive(JSON.parse(data as string) as FloorMessage);
    };
    await new Promise((resolve) => {
      socket.onopen = resolve;
    });
    return client;
  },
  'rxmux-json': async (url: string, needs: Needs): Promise<Client> => {
    const socket = (address: string, protocol: string) => new CountingSocket(address, protocol);
    const peer = connect(url, { codec: new JsonCodec(), limits: raised(needs), socket });
    await peer.opened;
    return clientOf(peer);
  },
};

/** How often the client has read the amount that waits in the socket. */
let looks = 0;
/** How many timers the client has set, of either kind. */
let timers = 0;

class CountingSocket extends WebSocket {
  override get bufferedAmount(): number {
    looks++;
    return super.bufferedAmount;
  }
}

let context: TaskContext | undefined;

/** The operations that the page runs on request. */
const operations = {
  async connect(adapter: keyof typeof dialers, url: string, needs: Needs): Promise<void> {
    const dial = () => dialers[adapter](url, needs);
    context = { client: await dial(), connect: dial };
  },

  task(name: TaskName, args: TaskArgs<TaskName>): Promise<unknown> {
    if (context === undefined) throw new Error('expected a connection before the first task');
    return runTask(name, context, args);
  },

  /** Sends one large payload, and counts the looks at the socket and the timers meanwhile. */
  async polling(bytes: number) {
    const { client } = context ?? {};
    const { setInterval, setTimeout } = globalThis;
    const counting =
      <A extends unknown[], R>(set: (...args: A) => R) =>
      (...args: A): R => {
        timers++;
        return set(...args);
      };
    Object.assign(globalThis, { setInterval: counting(setInterval), setTimeout: counting(setTimeout) });
    looks = timers = 0;
    const begun = performance.now();
    const length = await client?.request(text(bytes));
    const seconds = (performance.now() - begun) / 1_000;
    Object.assign(globalThis, { setInterval, setTimeout });
    if (length !== bytes) throw new Error(`a wrong answer: expected ${bytes}, got ${String(length)}`);
    return { seconds, looks, timers };
  },
};

export type Operations = typeof operations;
export type PageAdapter = keyof typeof dialers;

Object.assign(globalThis, { operations });
