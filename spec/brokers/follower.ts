import { filter, firstValueFrom, Subject, tap } from 'rxjs';
import { connect } from '../../src/node.js';
import type { Peer } from '../../src/index.js';
import { topic } from '../../src/topics.js';
import type { TopicItem } from '../../src/topics.js';
import type { Server } from './servers.js';
import type { Call } from './server-program.js';

/** A client that follows the numbers. Each dial takes the next server that is alive. */
export class Follower {
  /** The number that comes next. */
  next = 0;
  /** The first thing that went wrong. */
  failure: unknown = null;
  isPlaced = false;
  readonly #peer: Peer;
  readonly #changed$ = new Subject<void>();

  constructor(nth: number, alive: readonly Server[]) {
    let dials = nth;
    const peer = connect(() => `ws://127.0.0.1:${alive[dials++ % alive.length]?.port ?? 0}`, { reconnect: true });
    this.#peer = peer;
    const open = (since: string | null) => {
      const call: Call = { op: 'follow', since };
      return peer.open$<TopicItem<number>>(call, { retry: 'safe' }).pipe(tap(() => this.#place()));
    };
    topic<number>(peer, open).subscribe({
      next: (value) => this.#take(value),
      error: (error: unknown) => this.#fail(error),
    });
  }

  /** Resolves once a condition holds. @throws the failure of the client */
  async until(holds: () => boolean): Promise<void> {
    const isDone = (): boolean => this.failure !== null || holds();
    if (!isDone()) await firstValueFrom(this.#changed$.pipe(filter(isDone)));
    if (this.failure !== null) throw this.failure as Error;
  }

  async end(): Promise<void> {
    await this.#peer.close();
  }

  #place(): void {
    this.isPlaced = true;
    this.#changed$.next();
  }

  #take(value: number): void {
    if (value !== this.next) this.#fail(new Error(`expected the number ${this.next}, got ${value}`));
    this.next = value + 1;
    this.#changed$.next();
  }

  #fail(error: unknown): void {
    this.failure ??= error;
    this.#changed$.next();
  }
}
