import { distinct, filter, firstValueFrom, lastValueFrom, skip, Subject, timer } from 'rxjs';
import type { Subscription } from 'rxjs';
import { connect } from '../../src/node.js';
import { reopenOnReconnect } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import type { Job } from './server-program.js';

const PAUSE_MS = 20;

/** One client: requests in sequence, and a subscription whose longest silence is measured. */
class Client {
  answered = 0;
  dials = 0;
  longestSilenceMs = 0;
  readonly failures: unknown[] = [];
  readonly #peer: Peer;
  readonly #ticks: Subscription;
  #heardAt = NaN;
  #asking: Promise<void> | null = null;
  #going = true;

  constructor(port: number, dialed: () => void, heard: (pid: number) => void) {
    const address = (): string => {
      this.dials++;
      dialed();
      return `ws://127.0.0.1:${port}`;
    };
    this.#peer = connect(address, {
      reconnect: { maxAttempts: Infinity },
      headers: { Authorization: 'Bearer token' },
    });
    const ticks: Job = { op: 'ticks' };
    this.#ticks = reopenOnReconnect(this.#peer, { open: () => this.#peer.open$<number>(ticks, { retry: 'safe' }) }).subscribe({
      next: (pid) => {
        this.#hear();
        heard(pid);
      },
      error: (error: unknown) => this.failures.push(error),
    });
  }

  async begin(): Promise<void> {
    await this.#peer.opened;
    this.#asking = this.#ask();
  }

  async end(): Promise<void> {
    this.#going = false;
    await this.#asking;
    this.#ticks.unsubscribe();
    await this.#peer.close();
  }

  #hear(): void {
    const now = performance.now();
    if (now - this.#heardAt > this.longestSilenceMs) this.longestSilenceMs = now - this.#heardAt;
    this.#heardAt = now;
  }

  async #ask(): Promise<void> {
    for (let n = 0; this.#going; n++) {
      const job: Job = { op: 'run', id: String(n) };
      await this.#peer.request(job, { retry: 'safe' }).then(
        () => this.answered++,
        (error: unknown) => this.failures.push(error),
      );
      await lastValueFrom(timer(PAUSE_MS));
    }
  }
}

/** Clients of one address, whose options are the defaults. */
export class Load {
  readonly #heard$ = new Subject<{ readonly client: number; readonly pid: number }>();
  readonly #dialed$ = new Subject<number>();
  readonly #clients: readonly Client[];

  private constructor(port: number, count: number) {
    this.#clients = Array.from({ length: count }, (_, client) => {
      const dialed = (): void => this.#dialed$.next(client);
      return new Client(port, dialed, (pid) => this.#heard$.next({ client, pid }));
    });
  }

  static async on(port: number, count: number): Promise<Load> {
    const load = new Load(port, count);
    await Promise.all(load.#clients.map((client) => client.begin()));
    return load;
  }

  get answered(): number {
    return this.#clients.reduce((sum, { answered }) => sum + answered, 0);
  }

  get failures(): readonly unknown[] {
    return this.#clients.flatMap(({ failures }) => failures);
  }

  /** Dials of all clients so far. */
  get dials(): number {
    return this.#clients.reduce((sum, { dials }) => sum + dials, 0);
  }

  get longestSilenceMs(): number {
    return Math.max(...this.#clients.map(({ longestSilenceMs }) => longestSilenceMs));
  }

  /** Resolves after `count` dials of all clients from here on. */
  dialed(count: number): Promise<number> {
    return firstValueFrom(this.#dialed$.pipe(skip(count - 1)));
  }

  /** Resolves once each client has dialed from here on. */
  redialed(): Promise<number> {
    return firstValueFrom(this.#dialed$.pipe(distinct(), skip(this.#clients.length - 1)));
  }

  /** Resolves once each client has received a tick of one of these processes. */
  heardFrom(pids: readonly number[]): Promise<unknown> {
    const clients$ = this.#heard$.pipe(
      filter(({ pid }) => pids.includes(pid)),
      distinct(({ client }) => client),
      skip(this.#clients.length - 1),
    );
    return firstValueFrom(clients$);
  }

  async end(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end()));
  }
}
