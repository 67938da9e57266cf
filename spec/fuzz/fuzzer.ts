import { mutated } from './mutate.js';
import type { Input } from './mutate.js';
import { outcomeOf } from './oracle.js';
import { Random } from './random.js';
import { sizeOf } from './subjects.js';
import type { Tokens } from './tokens.js';
import type { Target } from './targets.js';
import type { Codec } from '../../src/wire/codec.js';

/** An input with a fault. */
export interface Find {
  readonly input: Input;
  readonly verdict: string;
}

/** Returns which code `run` reaches: 1 for each place that was reached. */
export interface Guide {
  reach(run: () => void): Uint8Array;
}

export interface FuzzerOptions {
  readonly codec: Codec;
  readonly target: Target;
  readonly seeds: readonly Input[];
  readonly tokens: Tokens;
  readonly seed: number;
  /** Without a guide, inputs are made of the seeds alone. */
  readonly guide?: Guide | undefined;
}

/** One query of the guide takes as long as some hundred executions. */
const BATCH = 512;
const SLOW_KEPT = 24;
/** Below this size a measured time depends more on the clock than on the input. */
const LEAST_TIMED_BYTES = 24;
const MOST_FINDS = 20;

/**
 * Runs a target on mutated inputs. It keeps the inputs that reach new code, and mutates them in turn.
 * Without a guide, one seed makes one run.
 */
export class Fuzzer {
  readonly finds: Find[] = [];
  executions = 0;
  readonly #pool: Input[];
  readonly #random: Random;
  readonly #kinds = new Set<string>();
  #known = new Uint8Array();
  #slow: { readonly input: Input; readonly msPerByte: number }[] = [];

  constructor(private readonly options: FuzzerOptions) {
    this.#random = new Random(options.seed);
    this.#pool = [...options.seeds];
    const { guide } = options;
    const runSeeds = (): void => {
      this.#runAll(options.seeds);
    };
    if (guide === undefined) runSeeds();
    else this.#note(guide.reach(runSeeds));
  }

  /** The seeds, and the inputs that have reached more code. */
  get pool(): readonly Input[] {
    return this.#pool;
  }

  /** Inputs that reached code which no seed reaches. */
  get discovered(): number {
    return this.#pool.length - this.options.seeds.length;
  }

  /** The inputs with the most time for each byte. */
  get slowest(): readonly Input[] {
    return this.#slow.map(({ input }) => input);
  }

  /** Runs one batch of mutated inputs. */
  step(): void {
    const batch = Array.from({ length: BATCH }, () => this.#next());
    if (this.options.guide === undefined) this.#runAll(batch);
    else this.#explore(batch, this.options.guide);
  }

  /** Runs some inputs, and runs again each half that reaches new code, down to the single input that does. */
  #explore(inputs: readonly Input[], guide: Guide): void {
    const reached = guide.reach(() => {
      this.#runAll(inputs);
    });
    if (!this.#isNew(reached)) return;
    const half = Math.ceil(inputs.length / 2);
    if (inputs.length === 1) this.#pool.push(...inputs);
    else for (const part of [inputs.slice(0, half), inputs.slice(half)]) this.#explore(part, guide);
    // Code that only several inputs together reach is credited to none of them.
    this.#note(reached);
  }

  #isNew(reached: Uint8Array): boolean {
    for (let at = 0; at < reached.length; at++) if (reached[at] === 1 && this.#known[at] !== 1) return true;
    return false;
  }

  #note(reached: Uint8Array): void {
    if (this.#known.length === 0) this.#known = new Uint8Array(reached.length);
    for (let at = 0; at < reached.length; at++) if (reached[at] === 1) this.#known[at] = 1;
  }

  #next(): Input {
    const pool = this.#pool;
    // The newest inputs are the likeliest to reach more.
    const recent = this.#random.below(2) === 0 ? Math.max(0, pool.length - SLOW_KEPT) : 0;
    const input = pool[recent + this.#random.below(pool.length - recent)] ?? [Buffer.alloc(0)];
    const other = pool[this.#random.below(pool.length)] ?? input;
    return mutated(input, other, this.options.tokens, this.#random);
  }

  #runAll(inputs: readonly Input[]): void {
    for (const input of inputs) this.#run(input);
  }

  #run(input: Input): void {
    const begun = performance.now();
    const verdict = this.#verdictOn(input);
    const msPerByte = (performance.now() - begun) / sizeOf(input);
    this.executions++;
    if (verdict !== null) this.#found(input, verdict);
    else if (sizeOf(input) >= LEAST_TIMED_BYTES && msPerByte > (this.#slow.at(-1)?.msPerByte ?? 0)) this.#keepSlow(input);
  }

  #verdictOn(input: Input): string | null {
    const outcome = outcomeOf(() => this.options.target(this.options.codec, input));
    return 'error' in outcome ? `expected a verdict, got ${String(outcome.error)}` : outcome.value;
  }

  #found(input: Input, verdict: string): void {
    const kind = kindOf(verdict);
    if (this.#kinds.has(kind) || this.finds.length >= MOST_FINDS) return;
    this.#kinds.add(kind);
    const shrunk = this.#shrunk(input, kind);
    this.finds.push({ input: shrunk, verdict: this.#verdictOn(shrunk) ?? verdict });
  }

  // A pause of the process slows any input once, so the best of several runs counts.
  #keepSlow(input: Input): void {
    const times = Array.from({ length: 4 }, () => {
      const begun = performance.now();
      this.#verdictOn(input);
      return performance.now() - begun;
    });
    const slow = [...this.#slow, { input, msPerByte: Math.min(...times) / sizeOf(input) }];
    this.#slow = slow.sort((a, b) => b.msPerByte - a.msPerByte).slice(0, SLOW_KEPT);
  }

  /** Removes messages, then bytes, for as long as the fault stays the same. */
  #shrunk(input: Input, kind: string): Input {
    const fails = (smaller: Input): boolean => smaller.length > 0 && kindOf(this.#verdictOn(smaller) ?? '') === kind;
    let smallest: Input = without([...input], (messages) => fails(messages));
    for (let at = 0; at < smallest.length; at++) {
      const put = (bytes: readonly number[]): Input => smallest.map((message, n) => (n === at ? Buffer.from(bytes) : message));
      smallest = put(without([...(smallest[at] ?? [])], (bytes) => fails(put(bytes))));
    }
    return smallest;
  }
}

/** The common part of two finds of one fault: everything except their values. */
function kindOf(verdict: string): string {
  return verdict.replace(/\d+/g, '0').slice(0, 60);
}

function without<T>(items: T[], suffices: (fewer: T[]) => boolean): T[] {
  let left = items;
  for (let width = Math.ceil(items.length / 2); width >= 1; width = Math.floor(width / 2)) {
    for (let from = 0; from < left.length;) {
      const fewer = [...left.slice(0, from), ...left.slice(from + width)];
      if (suffices(fewer)) left = fewer;
      else from += width;
    }
  }
  return left;
}
