import { setTimeout as pause } from 'node:timers/promises';
import { Child } from './child.js';
import type { CLIENT_ANSWERS } from './clients.js';
import type { SERVER_ANSWERS } from './server.js';

export type ServerChild = Child<typeof SERVER_ANSWERS>;
export type ClientChild = Child<typeof CLIENT_ANSWERS>;

/** The processes of one scenario, which end with it. */
export class World {
  readonly #ends: (() => Promise<void>)[] = [];

  constructor(private readonly program: string) {}

  server(): ServerChild {
    return this.#child<typeof SERVER_ANSWERS>('server');
  }

  clients(): ClientChild {
    return this.#child<typeof CLIENT_ANSWERS>('clients');
  }

  /** Adds another part that ends with the scenario. */
  add<T extends { close(): Promise<void> }>(part: T): T {
    this.#ends.push(() => part.close());
    return part;
  }

  async end(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }

  #child<A extends typeof SERVER_ANSWERS | typeof CLIENT_ANSWERS>(role: string): Child<A> {
    const child = Child.start<A>(this.program, role);
    this.#ends.push(() => child.kill());
    return child;
  }
}

/** Returns the ms until `isSo` is true, or Infinity if that takes longer than `withinMs`. */
export async function untilSo(isSo: () => Promise<boolean>, withinMs: number): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const elapsed = performance.now() - begun;
    if (await isSo()) return elapsed;
    if (elapsed > withinMs) return Infinity;
    await pause(100);
  }
}
