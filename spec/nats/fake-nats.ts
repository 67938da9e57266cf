import type { NatsConnection } from '../../src/nats.js';
import { turn } from '../support/socket/leaks.js';

interface Options {
  readonly callback: (error: Error | null, message: { string(): string }) => void;
}

interface Subscription extends Options {
  readonly subject: string;
}

/** A server that knows subjects only. It answers a turn later, as a real one does. */
export class FakeNats {
  /** The subscriptions at the server. */
  readonly subscriptions = new Set<Subscription>();
  readonly published: string[] = [];
  #close = (): void => undefined;

  get subjects(): readonly string[] {
    return [...this.subscriptions].map(({ subject }) => subject);
  }

  /** Refuses the subscriptions of a subject. */
  refuse(subject: string, error: Error): void {
    for (const subscription of [...this.subscriptions])
      if (subscription.subject === subject) subscription.callback(error, { string: () => '' });
  }

  /** Closes the connection that has subscribed last. */
  close(): void {
    this.#close();
  }

  connect(): NatsConnection {
    const nc = {
      isClosed: () => false,
      status: async function* () {
        await new Promise(() => undefined);
        yield { type: 'close' };
      },
      subscribe: (subject: string, { callback }: Options) => {
        const subscription = { subject, callback };
        void turn().then(() => this.subscriptions.add(subscription));
        const closed = new Promise<void>((resolve) => (this.#close = resolve));
        return { closed, unsubscribe: () => void turn().then(() => this.subscriptions.delete(subscription)) };
      },
      publish: (subject: string, text: string) => {
        void turn().then(() => this.#take(subject, text));
      },
      flush: turn,
    };
    return nc as unknown as NatsConnection;
  }

  #take(subject: string, text: string): void {
    this.published.push(`${subject} ${text}`);
    for (const subscription of [...this.subscriptions])
      if (subscription.subject === subject) subscription.callback(null, { string: () => text });
  }
}
