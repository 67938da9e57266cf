import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { ResetError } from '../../src/wire/errors.js';
import { ABSENT } from '../../src/wire/frame.js';
import { MemoryClock } from '../../src/testing/memory-clock.js';
import { valueOf } from './commands.js';
import type { Config } from './commands.js';
import type { Held } from './held.js';
import { ENDS, otherEnd } from './pipe.js';
import type { End } from './pipe.js';
import { promisesRun } from './run.js';
import { SEED } from './seeded.js';
import { World } from './world.js';
import { collectLogs } from '../support/peer/logs.js';

/** One stream from its open to its end, as both users want it. */
interface Exchange {
  readonly opener: End;
  /** The sizes of the values that each side sends. */
  readonly up: readonly number[];
  readonly down: readonly number[];
  readonly ending: 'end' | 'fail' | 'own reset';
}

/** The conditions of an exchange, which must not change its outcome. */
interface Carriage {
  readonly codec: Config['codec'];
  readonly cap: number;
  /** Chooses the next event: each number selects among the possible events. */
  readonly turns: readonly number[];
}

const sizes = fc.array(fc.oneof(fc.nat(20), fc.nat(900)), { maxLength: 4 });

const exchanges: fc.Arbitrary<readonly Exchange[]> = fc.array(
  fc.record({
    opener: fc.constantFrom<End[]>(0, 1),
    up: sizes,
    down: sizes,
    ending: fc.constantFrom<Exchange['ending'][]>('end', 'fail', 'own reset'),
  }),
  { minLength: 1, maxLength: 5 },
);

const carriage: fc.Arbitrary<Carriage> = fc.record({
  codec: fc.constantFrom<Config['codec'][]>('json', 'msgpack'),
  cap: fc.constantFrom(128, 200, 1_024, 65_536),
  turns: fc.array(fc.nat(1_000), { maxLength: 150 }),
});

const valuesOf = (at: number, given: readonly number[]): readonly unknown[] =>
  given.map((size, nth) => valueOf({ act: 'send', side: 0, pick: 0, n: size, size }, 100 * at + nth, 'json'));

/** One running exchange in a world. */
class Conversation {
  #opener: Held | null = null;
  #sent = 0;
  #answered = 0;
  readonly #up: readonly unknown[];
  readonly #down: readonly unknown[];

  constructor(
    private readonly world: World,
    private readonly exchange: Exchange,
    private readonly at: number,
  ) {
    this.#up = valuesOf(at, exchange.up);
    this.#down = valuesOf(at + 50, exchange.down);
  }

  /** The acts that its two users can do now. */
  get steps(): readonly (() => void)[] {
    const answerer = this.#answerer;
    return [
      ...(this.#sent <= this.#up.length + 1 ? [this.#send] : []),
      ...(answerer !== null && this.#canAnswer(answerer) ? [this.#answer] : []),
    ];
  }

  /** The values that both sides received and the ends of the stream, without ids. */
  get outcome(): unknown {
    return [this.#opener, this.#answerer].map((held) => [
      held?.model.arrived,
      held?.read,
      held?.cause?.how === 'reset' ? [held.cause.by, held.cause.code, held.cause.reason] : (held?.cause?.how ?? 'live'),
      held?.stream.headers,
      held?.stream.replyHeaders,
      held?.stream.trailers,
    ]);
  }

  get #answerer(): Held | null {
    const side = this.world.sides[otherEnd(this.exchange.opener)];
    return side.held.find(({ call }) => call === this.at) ?? null;
  }

  readonly #send = (): void => {
    const side = this.world.sides[this.exchange.opener];
    const nth = this.#sent++;
    if (this.#opener === null) {
      const order = { call: this.at, plan: 'hold', text: 'é"'.repeat(this.at * 40) } as const;
      this.world.orders.set(this.at, order);
      side.opens({ at: this.at }, (opened) => {
        this.#opener = opened(side.peer.open(order, { headers: { at: this.at } }));
        this.#opener.subscribe();
      });
    } else if (nth <= this.#up.length) side.send(this.#opener, this.#up[nth - 1], { end: false });
    else side.send(this.#opener, ABSENT, { end: true, trailers: { sent: nth } });
  };

  /** A failure waits until all values have arrived: how many values a reset overtakes is a matter of time. */
  #canAnswer(held: Held): boolean {
    if (this.#answered < this.#down.length) return true;
    return this.#answered === this.#down.length && (this.exchange.ending === 'end' || held.model.remoteEnded);
  }

  readonly #answer = (): void => {
    const held = this.#answerer;
    if (held === null) return;
    const side = this.world.sides[otherEnd(this.exchange.opener)];
    const nth = this.#answered++;
    if (held.reader === 'none') held.subscribe();
    if (nth < this.#down.length) side.send(held, this.#down[nth], { end: false, ...(nth === 0 ? { headers: { first: nth } } : {}) });
    else if (this.exchange.ending === 'end') side.send(held, null, { end: true, trailers: { answered: nth } });
    else held.work?.reject(this.exchange.ending === 'fail' ? new Error('failed') : new ResetError(400, 'its own', null));
  };
}

/** Plays exchanges to their end under one set of conditions, and returns the outcome of each. */
async function play(all: readonly (readonly [number, Exchange])[], { codec, cap, turns }: Carriage): Promise<readonly unknown[]> {
  const clock = new MemoryClock();
  clock.install();
  try {
    const world = new World({ codec, cap, tight: false, keepalive: false, mood: 'calm' }, clock);
    const talks = all.map(([at, exchange]) => new Conversation(world, exchange, at));
    const possible = (): readonly (() => void)[] => [
      ...talks.flatMap(({ steps }) => steps),
      ...ENDS.filter((end) => world.pipe.undelivered(end).length > 0).map((end) => () => void world.pipe.deliver(end)),
    ];
    let next = 0;
    for (let steps = possible(); steps.length > 0; steps = possible()) {
      steps[(turns[next++] ?? next) % steps.length]?.();
      await promisesRun();
      world.check();
    }
    world.checkPairs();
    return talks.map(({ outcome }) => outcome);
  } finally {
    clock.uninstall();
  }
}

describe('the outcome of a stream', () => {
  collectLogs();

  it('The outcome of a stream is independent of codec, cap, order of deliveries and other streams', async () => {
    let ended = 0;
    await fc.assert(
      fc.asyncProperty(exchanges, carriage, carriage, async (exchanged, one, other) => {
        const all = [...exchanged.entries()];
        const outcomes = await play(all, one);
        expect(JSON.stringify(outcomes)).not.toContain('"live"');
        expect(await play(all, other)).toEqual(outcomes);
        for (const [at, exchange] of all) expect(await play([[at, exchange]], other)).toEqual([outcomes[at]]);
        ended += all.length;
      }),
      { seed: SEED, numRuns: 30 },
    );
    expect(ended).toBeGreaterThan(60);
  });
});
