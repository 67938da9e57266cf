import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { StreamCore } from '../../src/stream/stream-core.js';
import { MemoryClock } from '../../src/testing/memory-clock.js';
import { ResetCode } from '../../src/wire/codes.js';
import { plant, weed } from './plant.js';
import type { Fault } from './plant.js';
import { CUTS, SmallWorld } from './small-world.js';
import type { Choice, Programs } from './small-world.js';

/** The figures of a search. */
interface Search {
  /** The number of different worlds that were reached. */
  readonly states: number;
  /** The number of worlds that were played from the beginning. */
  readonly runs: number;
  /** The number of cuts, each in a different state or of a different kind. */
  readonly cuts: number;
}

interface Reached {
  readonly path: readonly Choice[];
  /** The kind of cut that comes first there, and the number of cuts made there. */
  readonly first: number;
  cuts: number;
}

/** Plays everything that can happen, and up to `kinds` kinds of cut in each state. Equal states are continued only once. */
function explore(programs: Programs, kinds: number): Search {
  const reached = new Map<string, Reached>();
  const todo: (readonly Choice[])[] = [[]];
  let runs = 0;
  const play = (path: readonly Choice[]): SmallWorld => {
    runs++;
    const world = new SmallWorld(programs);
    for (const choice of path) world.do(choice);
    return world;
  };
  const cut = (world: SmallWorld, state: Reached): void => {
    if (state.cuts === kinds) return;
    const kind = CUTS[(state.first + state.cuts++) % CUTS.length] ?? 'cut lost 0';
    world.do(kind);
    world.check();
  };
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    const world = play(path);
    let known = reached.get(world.key);
    while (known === undefined) {
      reached.set(world.key, { path, first: reached.size, cuts: 0 });
      world.check();
      const [next, ...others] = world.choices;
      if (next === undefined) break;
      for (const other of others) todo.push([...path, other]);
      path = [...path, next];
      world.do(next);
      known = reached.get(world.key);
    }
    // A run that reaches a known state makes a cut there.
    if (known !== undefined) cut(world, known);
  }
  for (const state of reached.values()) while (state.cuts < kinds) cut(play(state.path), state);
  return { states: reached.size, runs, cuts: reached.size * kinds };
}

const ALL_KINDS = CUTS.length;

const ROWS: readonly { readonly what: string; readonly programs: Programs; readonly kinds: number }[] = [
  {
    what: 'both sides send and end',
    programs: [
      ['value', 'value', 'end'],
      ['value', 'end'],
    ],
    kinds: ALL_KINDS,
  },
  {
    what: 'the opener cancels',
    programs: [
      ['value', 'value', 'cancel'],
      ['value', 'end'],
    ],
    // One cut in each state, each kind in a third of the states.
    kinds: 1,
  },
  {
    what: 'the answerer fails after a value',
    programs: [
      ['value', 'end'],
      ['value', 'fail'],
    ],
    kinds: ALL_KINDS,
  },
  {
    what: 'both cancel',
    programs: [
      ['value', 'cancel'],
      ['value', 'cancel'],
    ],
    kinds: ALL_KINDS,
  },
];

/** Each fault shows when both sides send and end. */
const FAULTS: readonly Fault[] = [
  {
    fault: 'a stream that loses its socket after its answer began is not told',
    shows: 'a stream ends once',
    sow: () => {
      plant(StreamCore.prototype, 'lose', (stream, lose: StreamCore['lose'], ...how: Parameters<StreamCore['lose']>) => {
        if (stream.phase !== 'halfClosedLocal') lose(...how);
      });
    },
  },
  {
    fault: 'a stream is reset for an end that comes after its own',
    shows: 'resets have a reason',
    sow: () => {
      plant(StreamCore.prototype, 'next', (live, next: StreamCore['next'], value: Parameters<StreamCore['next']>[0]) => {
        if (live.phase === 'halfClosedLocal' && 'end' in value && value.end) live.resetForViolation(ResetCode.PROTOCOL_ERROR, 'planted');
        else next(value);
      });
    },
  },
];

describe('two streams, one opened by each side', () => {
  const clock = new MemoryClock();

  beforeAll(() => {
    clock.install();
  });

  afterEach(weed);

  afterAll(() => {
    clock.uninstall();
  });

  it.each(ROWS)(
    'Two streams keep every invariant in all orders and at all cuts when $what',
    ({ what, programs, kinds }) => {
      const search = explore(programs, kinds);
      // A person has to judge this figure: how much of the world the search has seen.
      process.stdout.write(`${what}: ${search.states} states, ${search.cuts} cuts, ${search.runs} runs\n`);
      expect(search.states).toBeGreaterThan(100);
    },
    120_000,
  );

  it.each(FAULTS)('Two streams break an invariant when $fault', ({ shows, sow }) => {
    sow();
    const { programs, kinds } = ROWS[0] ?? { programs: [[], []], kinds: 0 };
    expect(() => explore(programs, kinds)).toThrow(shows);
  });
});
