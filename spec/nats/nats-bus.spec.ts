import { describe, expect, it } from '@jest/globals';
import { natsBus, natsLog } from '../../src/nats.js';
import type { NatsConnection, NatsLogOptions } from '../../src/nats.js';
import { promisesSettled } from '../../src/testing/virtual-time.js';

interface Options {
  readonly callback: (error: Error | null, message: { string(): string }) => void;
}

/** A connection whose server knows subjects only. */
function connection() {
  const subjects = new Map<string, Options>();
  const published: string[] = [];
  let close = (): void => undefined;
  const nc = {
    isClosed: () => false,
    status: async function* () {
      await new Promise(() => undefined);
      yield { type: 'close' };
    },
    subscribe: (subject: string, options: Options) => {
      subjects.set(subject, options);
      const closed = new Promise<void>((resolve) => (close = resolve));
      return { closed, unsubscribe: () => subjects.delete(subject) };
    },
    publish: (subject: string, text: string) => {
      published.push(`${subject} ${text}`);
      subjects.get(subject)?.callback(null, { string: () => text });
    },
    flush: () => Promise.resolve(),
  };
  return { nc: nc as unknown as NatsConnection, subjects, published, close: () => close() };
}

describe('a bus over NATS', () => {
  it('A channel is one token of a subject, with one subscription for all subscribers', async () => {
    const { nc, subjects, published } = connection();
    const bus = natsBus(nc);
    const received: unknown[] = [];
    const subscriptions = [1, 2].map(() => bus.on('user:a.*>').subscribe((value) => received.push(value)));
    await bus.send('user:a.*>', { n: 1 });
    expect(published).toEqual(['rxmux.user%3Aa%2e%2a%3E {"n":1}']);
    expect([received, subjects.size]).toEqual([[{ n: 1 }, { n: 1 }], 1]);
    for (const subscription of subscriptions) subscription.unsubscribe();
    expect(subjects.size).toBe(0);
  });

  it('A channel with half a surrogate pair is a token too, and no other one', async () => {
    const { nc, subjects, published } = connection();
    const bus = natsBus(nc);
    const subscriptions = ['\u{1f600}\ud800', '\ud801', ''].map((channel) => bus.on(channel).subscribe());
    await bus.send('\ud801', 1);
    expect([...subjects.keys()]).toEqual(['rxmux.%F0%9F%98%80%d800', 'rxmux.%d801', 'rxmux.%']);
    expect(published).toEqual(['rxmux.%d801 1']);
    for (const subscription of subscriptions) subscription.unsubscribe();
  });

  it('A refused subject is an error of its channel, and so is the end of the connection', async () => {
    const { nc, subjects, close } = connection();
    const errors: unknown[] = [];
    const bus = natsBus(nc, 'app');
    bus.on('a').subscribe({ error: (error: unknown) => errors.push(error) });
    subjects.get('app.a')?.callback(Object.assign(new Error('no'), { name: 'PermissionViolationError' }), { string: () => '' });
    bus.on('b').subscribe({ error: (error: unknown) => errors.push(error) });
    close();
    await promisesSettled();
    expect(errors).toMatchObject([{ code: 'BROKER_FORBIDDEN' }, { code: 'BROKER_CLOSED' }]);
  });
});

describe('a log over NATS', () => {
  it.each<readonly [unknown, string]>([
    [{ stream: 'T', subject: 'topics.*' }, "subject: expected a name without wildcards and spaces, got 'topics.*'"],
    [{ stream: '', subject: 'topics.a' }, "stream: expected a name without wildcards and spaces, got ''"],
    [undefined, 'options: expected an object, got undefined'],
  ])('The options %p are refused: %s', (options, message) => {
    expect(() => natsLog(connection().nc, options as NatsLogOptions)).toThrow(new TypeError(message));
  });
});
