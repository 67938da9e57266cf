import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, Subject } from 'rxjs';
import type { NatsConnection } from '../../src/nats.js';
import { promisesSettled } from '../../src/testing/virtual-time.js';
import { linkOf, NatsDown } from '../../src/nats/nats-connection.js';

/** A connection whose status changes are the test's. */
function connection() {
  const status$ = new Subject<{ readonly type: string }>();
  const queue: { readonly type: string }[] = [];
  let wake = (): void => undefined;
  status$.subscribe((status) => {
    queue.push(status);
    wake();
  });
  async function* status() {
    for (;;) {
      const next = queue.shift();
      if (next === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else yield next;
    }
  }
  return { nc: { status } as unknown as NatsConnection, become: (type: string) => status$.next({ type }) };
}

describe('the link of a NATS connection', () => {
  it('Topics of one connection share its link', () => {
    const { nc } = connection();
    expect(linkOf(nc)).toBe(linkOf(nc));
    expect(linkOf(connection().nc)).not.toBe(linkOf(nc));
  });

  it.each(['disconnect', 'close'])('A question under way fails at a %s, and later ones fail at once', async (type) => {
    const { nc, become } = connection();
    const link = linkOf(nc);
    const asked = link.ask(() => new Promise(() => undefined));
    become(type);
    await expect(asked).rejects.toBeInstanceOf(NatsDown);
    await expect(link.ask(() => Promise.resolve(1))).rejects.toBeInstanceOf(NatsDown);
  });

  it('Questions are asked again after a reconnect', async () => {
    const { nc, become } = connection();
    const link = linkOf(nc);
    const lost = firstValueFrom(link.lost$);
    become('disconnect');
    await lost;
    become('reconnect');
    await promisesSettled();
    expect(await link.ask(() => Promise.resolve(1))).toBe(1);
  });
});
