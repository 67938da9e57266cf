import type { jetstream } from '@nats-io/jetstream';
import { firstValueFrom, from, map, merge, Subject } from 'rxjs';
import { checkBytes } from '../topics/bus.js';
import { optionError } from '../util/check.js';
import { getOrMake } from '../util/collections.js';

/** A connection of `@nats-io/transport-node`, or of another transport of that client. */
export type NatsConnection = Parameters<typeof jetstream>[0];

/** Thrown for a connection that is down. */
export class NatsDown extends Error {
  override readonly name = 'NatsDown';

  constructor() {
    super('the connection is lost');
  }
}

/** Whether a connection is up. The client itself ends a question only at its time-out, though its connection is gone. */
export class NatsLink {
  #isUp = true;
  readonly #lost$ = new Subject<void>();
  /** Emits when the connection is lost. */
  readonly lost$ = this.#lost$.asObservable();
  readonly #errors$ = new Subject<Error>();
  /** Emits errors that the server reports without a question, such as a subject that this user may not publish to. */
  readonly errors$ = this.#errors$.asObservable();

  constructor(nc: NatsConnection) {
    void this.#watch(nc);
  }

  /** Asks while the connection is up. @throws NatsDown */
  ask<R>(question: () => Promise<R>): Promise<R> {
    if (!this.#isUp) return Promise.reject(new NatsDown());
    const lost$ = this.#lost$.pipe(
      map(() => {
        throw new NatsDown();
      }),
    );
    return firstValueFrom(merge(lost$, from(question())));
  }

  async #watch(nc: NatsConnection): Promise<void> {
    for await (const status of nc.status()) {
      const { type } = status;
      if (type === 'reconnect') this.#isUp = true;
      else if (type === 'error') this.#errors$.next(status.error);
      else if (type === 'disconnect' || type === 'close') {
        this.#isUp = false;
        this.#lost$.next();
      }
    }
  }
}

const links = new WeakMap<NatsConnection, NatsLink>();

/**
 * Returns the link of a connection: one for all topics of the process.
 *
 * @throws TypeError unless `nc` is a connection: a program may pass the promise of one
 */
export function linkOf(nc: NatsConnection): NatsLink {
  if (!('status' in Object(nc))) throw optionError('nc', 'a connection of @nats-io/transport-node', nc);
  return getOrMake(links, nc, () => new NatsLink(nc));
}

/**
 * Returns `subject`: tokens between dots.
 *
 * @throws TypeError for wildcards, spaces, an empty token, or more bytes than a line of the server has room for
 */
export function checkSubject(name: string, subject: unknown, most: number): string {
  if (typeof subject === 'string') checkBytes(name, 'a subject', subject, most);
  const isSubject = typeof subject === 'string' && /^[^\s*>.]+(\.[^\s*>.]+)*$/.test(subject) && !/\p{Surrogate}/u.test(subject);
  if (isSubject) return subject;
  throw optionError(name, 'a name without wildcards, spaces and empty tokens', subject);
}
