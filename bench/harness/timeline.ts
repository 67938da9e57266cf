import { Server, Socket } from 'node:net';
import type { TaskContext } from '../tasks/context.js';
import type { Client } from './adapter.js';

/**
 * A moment on the way of a dial or a request. Moments of a socket are `written`, before the call to the system, and `read`, after its
 * answer. `upgraded` is a moment of a server, which has read the request for the upgrade. The others are moments of the caller.
 */
export type Moment = 'dialed' | 'connecting' | 'upgraded' | 'opened' | 'called' | 'written' | 'read' | 'answered';

export interface Mark {
  readonly moment: Moment;
  /** Connections count from 1 on either side, in the order of their dials. 0 stands for all earlier connections. */
  readonly connection: number;
  /** In µs, on the clock that all processes of a machine share. */
  readonly atUs: number;
}

/** Marks the moments of this process, from the construction of this object on. */
export class Timeline {
  readonly #marks: Mark[] = [];
  readonly #connections = new WeakMap<object, number>();
  #last = 0;

  constructor() {
    beforeEach(Socket.prototype, 'connect', (socket) => {
      this.#connections.set(socket, this.#last);
      this.#markSocket('connecting', socket);
    });
    for (const method of ['_write', '_writev'])
      beforeEach(Socket.prototype, method, (socket) => {
        this.#markSocket('written', socket);
      });
    beforeEach(Socket.prototype, 'push', (socket, chunk) => {
      if (chunk !== null) this.#markSocket('read', socket);
    });
    const watched = new WeakSet();
    beforeEach(Server.prototype, 'emit', (server, event, ...args) => {
      if (event !== 'connection') return;
      this.#connections.set(args[0] as Socket, ++this.#last);
      if (watched.has(server)) return;
      watched.add(server);
      // On the server itself: code that answers upgrades may have put its own `emit` there, which passes on no upgrade.
      beforeEach(server, 'emit', (_server, emitted, ...given) => {
        if (emitted === 'upgrade') this.#markSocket('upgraded', given[1] as Socket);
      });
    });
  }

  /** All marks so far, in the order of time. */
  get marks(): readonly Mark[] {
    return this.#marks;
  }

  /** Wraps the context of a task, and marks its calls. */
  watch({ client, connect }: TaskContext): TaskContext {
    return {
      client: this.#watchClient(client, this.#last),
      connect: async () => {
        const connection = ++this.#last;
        this.#mark('dialed', connection);
        const dialed = await connect();
        this.#mark('opened', connection);
        return this.#watchClient(dialed, connection);
      },
    };
  }

  #watchClient(client: Client, connection: number): Client {
    return {
      request: async (payload) => {
        this.#mark('called', connection);
        const answer = await client.request(payload);
        this.#mark('answered', connection);
        return answer;
      },
      stream: (ask, sink) => {
        client.stream(ask, sink);
      },
      close: () => client.close(),
    };
  }

  #markSocket(moment: Moment, socket: object): void {
    this.#mark(moment, this.#connections.get(socket) ?? 0);
  }

  #mark(moment: Moment, connection: number): void {
    const [seconds, nanoseconds] = process.hrtime();
    this.#marks.push({ moment, connection, atUs: seconds * 1e6 + nanoseconds / 1e3 });
  }
}

function beforeEach(target: object, method: string, tell: (self: object, ...args: readonly unknown[]) => void): void {
  const original = Reflect.get(target, method) as (...args: readonly unknown[]) => unknown;
  Reflect.set(target, method, function (this: object, ...args: readonly unknown[]) {
    tell(this, ...args);
    return Reflect.apply<object, readonly unknown[], unknown>(original, this, args);
  });
}
