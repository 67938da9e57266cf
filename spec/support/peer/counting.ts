import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, jest } from '@jest/globals';
import { Observable } from 'rxjs';
import type { Subscription } from 'rxjs';
import { HookList } from '../../../src/rx/values.js';
import { PeerCore } from '../../../src/peer/core.js';
import { MemorySocket } from '../../../src/testing/memory-socket.js';
import type { PeerTime } from './time.js';

/** Counts what the library, rxjs and the test hold at one instant, on both sides. */
export interface Held {
  /** All open subscriptions. */
  readonly subscriptions: number;
  /** Callbacks in hook lists: hooks, subscribers of a peer and of its streams, and waiters for the end of a stream. */
  readonly hooks: number;
  /** Pending timers and turns of rxjs. */
  readonly timers: number;
  /** Listeners of sockets, and of the signals that were {@link Counting.watch watched}. */
  readonly listeners: number;
  /** Live streams of all sessions, and the stream places they occupy. */
  readonly streams: number;
  /** Bytes of opens that wait for a connection. */
  readonly waiting: number;
}

/** Both sides hold nothing. */
export const NOTHING: Held = { subscriptions: 0, hooks: 0, timers: 0, listeners: 0, streams: 0, waiting: 0 };

/** Counts everything made since the test began. */
export interface Counting {
  readonly held: () => Held;
  /** Counts the listeners of a signal too. */
  readonly watch: (signal: AbortSignal) => void;
}

/**
 * Counts for each test of a file. rxjs keeps no list of its subscriptions, so each test watches `Observable.subscribe`.
 * It watches the corresponding methods of hook lists, peers and sockets too.
 */
export function counting(time: PeerTime): Counting {
  const subscriptions = new Set<Subscription>();
  const lists = new Set<HookList<unknown>>();
  const cores = new Set<PeerCore>();
  /** The listeners of each event of each socket. As on any platform, removing an unknown listener is harmless. */
  const sockets = new Map<unknown, Map<unknown, Set<unknown>>>();
  const signals = new Set<AbortSignal>();
  const listenersOf = (socket: unknown, event: unknown): Set<unknown> => {
    const events = sockets.get(socket) ?? new Map<unknown, Set<unknown>>();
    const listeners = events.get(event) ?? new Set();
    sockets.set(socket, events.set(event, listeners));
    return listeners;
  };

  beforeEach(() => {
    watchCalls(Observable.prototype, 'subscribe', (_, made) => subscriptions.add(made as Subscription));
    watchCalls(HookList.prototype, 'add', (list) => lists.add(list as HookList<unknown>));
    watchCalls(PeerCore.prototype, 'belongTo', (core) => cores.add(core as PeerCore));
    watchCalls(MemorySocket.prototype, 'addEventListener', (socket, _, [event, listener]) => {
      listenersOf(socket, event).add(listener);
    });
    watchCalls(MemorySocket.prototype, 'removeEventListener', (socket, _, [event, listener]) => {
      listenersOf(socket, event).delete(listener);
    });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    for (const seen of [subscriptions, lists, cores, sockets, signals]) seen.clear();
  });

  const sessions = () => [...cores].flatMap((core) => [...core.connections]);
  return {
    held: () => ({
      subscriptions: count(subscriptions, ({ closed }) => (closed ? 0 : 1)),
      hooks: count(lists, ({ entries }) => entries.length),
      timers: time.pending,
      listeners:
        count(sockets.values(), (events) => count(events.values(), ({ size }) => size)) +
        count(signals, (signal) => getEventListeners(signal, 'abort').length),
      streams: count(sessions(), ({ streams, places }) => streams.size + places),
      waiting: count(cores, ({ waiting }) => waiting.bytes),
    }),
    watch(signal) {
      signals.add(signal);
    },
  };
}

function count<T>(things: Iterable<T>, weigh: (thing: T) => number): number {
  let sum = 0;
  for (const thing of things) sum += weigh(thing);
  return sum;
}

/** Calls `called` after each call of a method, which otherwise works as before. */
function watchCalls(prototype: object, name: string, called: (self: unknown, result: unknown, args: readonly unknown[]) => void): void {
  const methods = prototype as Record<string, (...args: unknown[]) => unknown>;
  const original = methods[name];
  if (original === undefined) throw new Error(`expected a method '${name}'`);
  jest.spyOn(methods, name).mockImplementation(function (this: unknown, ...args) {
    const result: unknown = Reflect.apply(original, this, args);
    called(this, result, args);
    return result;
  });
}
