import { getEventListeners } from 'node:events';
import { logger } from '../../src/logger.js';
import { MemoryClock } from '../../src/testing/memory-clock.js';
import { delayOf, perform, pull, readerless, settle, unsealed } from './actions.js';
import type { Command, Config } from './commands.js';
import { ENDS } from './pipe.js';
import { demand, Violation } from './violation.js';
import { World } from './world.js';

/** The rounds in which a run comes to rest. Each takes longer than any wait of the library. */
const ROUNDS = 12;
const ROUND_MS = 6_000;

/** The coverage of runs, so that a test can prove that they were not empty. */
export interface Tally {
  /** The number of commands that had an effect. */
  commands: number;
  readonly outcomes: Map<string, number>;
}

export const newTally = (): Tally => ({ commands: 0, outcomes: new Map() });

/**
 * Plays a script between two peers, waits for the end of everything, and checks the invariants all the way.
 *
 * @throws Violation for the first broken invariant
 */
export async function run(config: Config, commands: readonly Command[], tally: Tally = newTally()): Promise<void> {
  const clock = new MemoryClock();
  const unhandled: unknown[] = [];
  const failures: string[] = [];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
  const { level, error } = logger;
  logger.level = 'silent';
  logger.error = (message) => void failures.push(message);
  // For the soak, which then names the seed. Jest sees the rejection first, and fails the test.
  process.on('unhandledRejection', onUnhandled);
  clock.install();
  try {
    const world = new World(config, clock);
    for (const command of commands) await step(world, command, tally);
    await rest(world);
    await part(world);
    // Node reports an unhandled rejection after all microtasks.
    await new Promise((resolve) => setImmediate(resolve));
    demand(unhandled.length === 0, 'no unhandled rejection', () => unhandled.map(String).join());
    // The log shows the effects of a codec that fails on purpose, and of handlers that fail by a script.
    const unexpected = failures.filter(
      (message) => !/could not be encoded|a handler failed|a reply-headers interceptor failed/.test(message),
    );
    demand(unexpected.length === 0, 'no internal error', () => unexpected.join('; '));
    count(world, tally);
  } finally {
    clock.uninstall();
    process.off('unhandledRejection', onUnhandled);
    Object.assign(logger, { level, error });
  }
}

async function step(world: World, command: Command, tally: Tally): Promise<void> {
  if (perform(world, command)) tally.commands++;
  world.check();
  if (command.act === 'tick') await promisesRun();
  if (command.act === 'advance') await advance(world, delayOf(command));
  world.check();
}

/** Brings everything to its end: no stall, nothing in flight, no unfinished work, all ends sent, everything read. */
async function rest(world: World): Promise<void> {
  for (const side of world.sides) {
    side.break(null);
    side.breaksOpen = side.breaksReply = false;
  }
  for (let round = 0; round < ROUNDS; round++) {
    do {
      for (const end of ENDS) world.pipe.unstall(end);
      finishWork(world);
      await promisesRun();
    } while (deliverAll(world));
    await advance(world, ROUND_MS);
    world.check();
    if (world.pipe.isOver && world.clock.pending === 0) break;
  }
  if (world.hostile) return;
  world.checkReasons();
  if (!world.connected) return;
  checkEmpty(world, 'while connected');
  const held = world.held.filter(({ cause }) => cause === null);
  demand(held.length === 0, 'both sides agree', () => `${held.map(({ name, stream }) => `${name} is ${stream.phase}`).join()} for ever`);
}

function finishWork(world: World): void {
  for (const side of world.sides) {
    for (const held of side.held) settle(world, held, { n: 0 });
    for (const held of readerless(side)) held.subscribe();
    for (const held of unsealed(side)) held.stream.end().catch(() => undefined);
    for (const held of side.held) for (let left = held.model.arrived.length + 1 - held.pulled; left > 0; left--) pull(world, held);
  }
}

function deliverAll(world: World): boolean {
  let moved = world.pipe.turn();
  for (const end of ENDS)
    while (world.pipe.deliver(end)) {
      moved = true;
      world.check();
    }
  return moved;
}

/** Ends the connection, and checks that nothing of it is left. */
async function part(world: World): Promise<void> {
  for (const { peer } of world.sides) void peer.close();
  do await promisesRun();
  while (deliverAll(world));
  await advance(world, ROUND_MS);
  while (deliverAll(world)) await promisesRun();
  finishWork(world);
  await promisesRun();
  world.check();
  checkEmpty(world, 'after the end');
  demand(world.clock.step(Infinity) === false, 'no timer left', () => 'something is due after the end');
  for (const socket of world.pipe.sockets)
    demand(!socket.read && socket.closed !== null, 'no listener left', () => 'a socket is still read');
  demand(world.pending.length === 0, 'promises settle', () => `still pending: ${world.pending.join(', ')}`);
  for (const held of world.held) held.checkReading();
  world.checkPairs();
}

function checkEmpty(world: World, when: string): void {
  for (const side of world.sides) {
    const { streams, places, budget, outbound } = side.session;
    const kept = {
      streams: streams.size,
      places: places,
      held: budget.held.used,
      bytes: outbound.bytes,
      frames: outbound.frames,
    };
    demand(
      Object.values(kept).every((each) => each === 0),
      'nothing held',
      () => `side ${side.end} ${when}: ${JSON.stringify(kept)}`,
    );
    const listeners = side.aborts.reduce((sum, { signal }) => sum + getEventListeners(signal, 'abort').length, 0);
    demand(listeners === 0, 'no listener left', () => `side ${side.end} ${when}: ${listeners} on signals`);
  }
  const { keepalive } = world.config;
  demand(keepalive || world.clock.pending === 0, 'no timer left', () => `something is due ${when}`);
}

/** Advances the clock. Due tasks run in order, and promises settle between them. */
async function advance(world: World, ms: number): Promise<void> {
  const { clock } = world;
  const until = clock.now + ms;
  do await promisesRun();
  while (stepClock(world, until));
}

function stepClock({ clock }: World, until: number): boolean {
  try {
    return clock.step(until);
  } catch (error) {
    throw new Violation('no internal error', `thrown from a timer: ${String(error)}`);
  }
}

/** Runs enough turns of the microtask queue for the promise chains of the library and its users. */
export async function promisesRun(): Promise<void> {
  for (let turns = 6; turns > 0; turns--) await Promise.resolve();
}

function count(world: World, { outcomes }: Tally): void {
  const add = (what: string): void => void outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
  for (const { cause } of world.held)
    add(cause === null ? 'live' : cause.how === 'reset' ? `${cause.by} reset ${String(cause.code)}` : cause.how);
}
