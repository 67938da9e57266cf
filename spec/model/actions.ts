import { RefusedError, ResetError } from '../../src/wire/errors.js';
import { ABSENT } from '../../src/wire/frame.js';
import { ResetCode } from '../../src/wire/codes.js';
import { isOf, rawFrame } from './commands.js';
import type { Act, Command } from './commands.js';
import type { Held } from './held.js';
import { PLANS } from './orders.js';
import type { Order } from './orders.js';
import type { Side } from './side.js';
import type { World } from './world.js';

const CODES = [ResetCode.CANCEL, ResetCode.APPLICATION_ERROR, 300, ResetCode.NO_ERROR, ResetCode.INTERNAL_ERROR];
const TIMEOUTS_MS = [50, 1_000, 3_600_000];
const DRAINS_MS = [0, 200, 5_000];
const DELAYS_MS = [1, 60, 1_100, 7_000, 31_000];

/** Performs one command. Returns `false` when there was nothing to perform it on. */
export function perform(world: World, command: Command): boolean {
  if (!isOf(world.config.mood, command.act)) return false;
  return DEEDS[command.act](world, world.sides[command.side], command);
}

type Deed = (world: World, side: Side, command: Command) => boolean;

/** Everything except `advance` and `tick`, which take time. */
const DEEDS: Readonly<Record<Act, Deed>> = {
  open: (world, side, command) => {
    if (isInVain(world, command)) return false;
    const headers = command.n % 3 === 0 ? { h: command.n, text: 'é"' } : null;
    side.opens(headers, (opened) => {
      const payload = command.n % 5 === 0 ? undefined : orderOf(world, command);
      const abort = abortOf(side, command);
      const stream = side.peer.open(payload, { end: command.n % 4 === 1, ...(headers === null ? {} : { headers }), ...signalOf(abort) });
      const held = opened(stream);
      held.abort = abort;
      world.awaits(stream.closed, `closed of ${held.name}`);
      if (command.pick % 2 === 0) held.subscribe();
    });
    return true;
  },
  request: (world, side, command) => {
    if (isInVain(world, command)) return false;
    side.opens(null, (opened) => {
      const abort = abortOf(side, command);
      const answer = side.peer.request(orderOf(world, command), {
        timeoutMs: TIMEOUTS_MS[command.n % 3],
        retry: command.n % 2 === 0 ? { count: 5, delay: 20 } : false,
        onOpen: (stream) => {
          Object.assign(opened(stream), { reader: 'request', timed: true, abort });
        },
        ...signalOf(abort),
      });
      world.awaits(answer, `the answer of a request of side ${side.end}`);
    });
    return true;
  },
  notify: (world, side, command) => {
    side.notifies(orderOf(world, command));
    return true;
  },
  send: (world, side, command) =>
    choose(command.n % 9 === 0 ? side.held : unsealed(side), command, (held) => {
      side.send(held, world.value(command), { end: false, ...answerHeaders(held, command) });
    }),
  sendAll: (world, side, command) =>
    choose(unsealed(side), command, (held) => {
      function* values(): Generator {
        for (let left = command.n % 5; left > 0; left--) {
          const value = world.value({ ...command, n: left });
          if (!held.sealed) held.model.accepted.push(value);
          yield value;
        }
      }
      held.model.answered = true;
      world.awaits(held.stream.sendAll(values()), `sendAll on ${held.name}`);
    }),
  end: (world, side, command) =>
    choose(command.n % 9 === 0 ? side.held : unsealed(side), command, (held) => {
      const trailers = command.n % 2 === 0 ? { trailers: { t: command.n } } : {};
      const value = command.n % 4 < 2 ? world.value(command) : ABSENT;
      side.send(held, value, { end: true, ...trailers, ...answerHeaders(held, command) });
    }),
  reset: (world, side, command) =>
    choose(side.live, command, (held) => {
      held.acted = true;
      held.stream.reset(CODES[command.n % CODES.length], 'r'.repeat(command.size), command.n % 2 === 0 ? undefined : world.value(command));
    }),
  read: (_, side, command) =>
    choose(readerless(side), command, (held) => {
      if (command.n % 2 === 0) held.subscribe();
      else held.iterate();
    }),
  pull: (world, side, command) =>
    choose(
      side.held.filter(({ reader }) => reader === 'loop'),
      command,
      (held) => pull(world, held),
    ),
  leave: (_, side, command) =>
    choose(
      side.held.filter(({ reader }) => reader === 'subscriber' || reader === 'loop'),
      command,
      (held) => {
        held.leave();
      },
    ),
  settle: (world, side, command) =>
    choose(
      side.held.filter(({ work }) => work !== null),
      command,
      (held) => settle(world, held, command),
    ),
  abort: (_, side, command) =>
    choose(side.aborts, command, (abort) => {
      abort.abort();
    }),
  deliver: (world, side, command) => {
    let delivered = false;
    for (let left = 1 + (command.n % 12); left > 0 && world.pipe.deliver(side.end); left--) {
      delivered = true;
      world.check();
    }
    return delivered;
  },
  tick: () => true,
  advance: () => true,
  stall: (world, side) => {
    world.pipe.stall(side.end);
    return true;
  },
  unstall: (world, side) => {
    world.pipe.unstall(side.end);
    return true;
  },
  ping: (world, side) => {
    world.awaits(side.peer.ping(), `a ping of side ${side.end}`);
    return true;
  },
  close: (world, side, command) => {
    world.awaits(side.peer.close({ drainMs: DRAINS_MS[command.n % 3], reason: 'closed by the script' }), `close of side ${side.end}`);
    return true;
  },
  cut: (world, side, command) => {
    world.pipe.cut(side.end, command.n % 2 === 0);
    return true;
  },
  breakPayload: (_, side) => {
    side.break('encodePayload');
    return true;
  },
  breakEnvelope: (_, side) => {
    side.break('encodeWith');
    return true;
  },
  breakOpen: (_, side) => {
    side.breaksOpen = true;
    return true;
  },
  breakReply: (_, side) => {
    side.breaksReply = true;
    return true;
  },
  raw: (world, side, command) => {
    const frame = rawFrame(command, world.config.codec);
    if (frame.stream != null) world.taint(frame.stream);
    side.inject(frame);
    return true;
  },
};

/** The time that `advance` moves the clock, in ms. */
export const delayOf = ({ n }: Command): number => DELAYS_MS[n % DELAYS_MS.length] ?? 0;

/** Requests the next value of a loop. */
export function pull(world: World, held: Held): void {
  const pulled = held.pull();
  if (pulled !== null) world.awaits(pulled, `a pull of ${held.name}`);
}

/** A handler finishes its work on a stream, or fails. */
export function settle(world: World, held: Held, { n }: Pick<Command, 'n'>): void {
  const { work } = held;
  held.work = null;
  held.acted ||= n % 5 > 0;
  if (n % 5 === 1) work?.reject(new Error('the handler failed'));
  else if (n % 5 === 2) {
    if (held.call !== null) world.undone(held.call);
    work?.reject(new RefusedError('the handler refused'));
  } else if (n % 5 === 3) work?.reject(new ResetError(400, 'its own', { n }));
  else work?.resolve();
}

export function unsealed(side: Side): readonly Held[] {
  return side.held.filter(({ sealed, cause }) => !sealed && cause === null);
}

export function readerless(side: Side): readonly Held[] {
  return side.held.filter(({ reader }) => reader === 'none');
}

function choose<T>(among: readonly T[], { pick }: Command, act: (chosen: T) => void): boolean {
  const chosen = among[pick % Math.max(1, among.length)];
  if (chosen === undefined) return false;
  act(chosen);
  return true;
}

/** Whether a call would be refused here. A few refused calls are made on purpose. */
function isInVain(world: World, { n }: Command): boolean {
  return !world.connected && n % 8 > 0;
}

function orderOf(world: World, { pick, n, size }: Command): Order {
  const order: Order = { call: world.serial(), plan: PLANS[(pick + n) % PLANS.length] ?? 'hold', text: 'é"'.repeat(size / 3) };
  world.orders.set(order.call, order);
  return order;
}

function answerHeaders({ stream, model }: Held, { n }: Command): { readonly headers?: { readonly a: number } } {
  return n % 3 === 0 && !stream.local && !model.answered ? { headers: { a: n } } : {};
}

function abortOf(side: Side, { pick }: Command): AbortController | null {
  if (pick % 4 !== 0) return null;
  const abort = new AbortController();
  side.aborts.push(abort);
  return abort;
}

function signalOf(abort: AbortController | null): { readonly signal?: AbortSignal } {
  return abort === null ? {} : { signal: abort.signal };
}
