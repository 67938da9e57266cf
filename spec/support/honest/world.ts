import { expect } from '@jest/globals';
import '../../../src/index.js';
import type { ConnectOptions, Peer, PeerOptions } from '../../../src/index.js';
import { Backoff } from '../../../src/peer/dial/backoff.js';
import type { DialPlan } from '../../../src/peer/dial/dialer.js';
import { Dialer } from '../../../src/peer/dial/dialer.js';
import { GivenSocket } from '../../../src/peer/dial/given-socket.js';
import { resolveOptions } from '../../../src/peer/options.js';
import { PeerCore } from '../../../src/peer/core.js';
import { Peer as PeerOf } from '../../../src/peer/peer.js';
import type { Connection } from '../../../src/connection/connection.js';
import { ALWAYS_ONLINE } from '../../../src/transport/connectivity.js';
import { MemoryLink } from '../../../src/testing/memory-link.js';
import type { Transport } from '../../../src/transport/transport.js';
import { FIRST_APPLICATION_CODE, ResetCode, resetCodeName } from '../../../src/wire/codes.js';
import { subprotocol } from '../../../src/wire/codec.js';
import { RoutedTransport } from './line.js';
import type { Route } from './line.js';
import { Machine } from './machine.js';
import type { PeerTime } from '../peer/time.js';

/** The reset codes that applications use. The library alone uses the others. */
const APPLICATIONS_OWN: readonly (number | null)[] = [ResetCode.NO_ERROR, ResetCode.CANCEL, ResetCode.APPLICATION_ERROR];

/** Enough for a closing handshake, and less than any other timeout of the library. Anything left afterwards has leaked. */
const CLOSING_MS = 5_000;

/** How one dial reaches its server. */
export interface DialOptions extends Omit<ConnectOptions, 'socket' | 'reconnect'> {
  readonly reconnect?: true;
  readonly up?: Route;
  readonly down?: Route;
  readonly machine?: Machine;
}

/** A server in memory, with the options of each peer that dials it. */
export interface HonestServer {
  readonly options: PeerOptions & { readonly machine?: Machine };
  /** The accepted peers, in order. */
  readonly peers: Peer[];
}

/** A core that keeps its sessions visible after they have ended. */
class ShownCore extends PeerCore {
  readonly adopted: Connection[] = [];

  override adopt(session: Connection): void {
    super.adopt(session);
    this.adopted.push(session);
  }
}

/** Honest peers with default options, and a record of how the library treats them. */
export class HonestWorld {
  /** How often a side wrongly reset a stream or ended a connection, by `<side> <frame> <code>`. */
  readonly punishments: Record<string, number> = {};
  /** How often sockets closed with each code, on both sides. */
  readonly closes: Record<number, number> = {};
  readonly #cores: ShownCore[] = [];
  readonly #ends: RoutedTransport[] = [];

  constructor(private readonly time: PeerTime) {}

  serve(options: HonestServer['options']): HonestServer {
    return { options, peers: [] };
  }

  dial(server: HonestServer, { up = {}, down = {}, machine = new Machine(), reconnect, ...options }: DialOptions = {}): Peer {
    const core = new ShownCore(resolveOptions(options, true));
    const plan: DialPlan = {
      url: 'wss://example.org/mux',
      open: () => this.#link(core, server, { up, down, machine }),
      backoff: reconnect === true ? new Backoff({}) : null,
      hello: options.hello,
      helloTimeoutMs: 10_000,
      connectTimeoutMs: 10_000,
      lazy: false,
      idleCloseMs: 0,
      connectivity: ALWAYS_ONLINE,
    };
    // As in a program, the dialer belongs to the machine that makes it.
    const dialer = machine.run(() => new Dialer(core, plan));
    const peer = this.#watch('dialer', core, new PeerOf(core, dialer));
    if (options.onStream !== undefined) peer.onStream(options.onStream);
    machine.run(() => {
      dialer.start();
    });
    return peer;
  }

  /** A machine and its sockets sleep for `ms`. */
  sleep(machine: Machine, ms: number): void {
    machine.sleep(ms);
    for (const end of this.#ends) if (end.machine === machine && end.closed === null) end.sleep(ms);
  }

  /** Expects the listed punishments and no others. After all peers have closed, expects that neither side holds anything. */
  async expectHonest(
    expected: { readonly punishments?: Record<string, unknown>; readonly closes?: Record<number, unknown> } = {},
  ): Promise<void> {
    expect(this.punishments).toEqual(expected.punishments ?? {});
    expect(this.closes).toEqual(expected.closes ?? {});
    const closed = this.#cores.map(({ peer }) => peer.close());
    await this.time.advance(CLOSING_MS);
    await Promise.all(closed);
    expect(this.#left()).toEqual({ streams: 0, places: 0, heldBytes: 0, unsentBytes: 0, queued: 0, sockets: 0, connections: 0, timers: 0 });
  }

  #link(core: ShownCore, server: HonestServer, way: Required<Pick<DialOptions, 'up' | 'down' | 'machine'>>): Transport {
    const { ends } = new MemoryLink({ protocol: subprotocol(core.codec) });
    const near = new RoutedTransport(ends.dialer, way.machine, way.up);
    const far = new RoutedTransport(ends.acceptor, server.options.machine ?? new Machine(), way.down);
    this.#ends.push(near, far);
    const accepted = new ShownCore(resolveOptions(server.options, false));
    const peer = this.#watch('acceptor', accepted, new PeerOf(accepted, new GivenSocket(accepted, far)));
    if (server.options.onStream !== undefined) peer.onStream(server.options.onStream);
    server.peers.push(peer);
    void far.machine.run(() => peer.serve());
    return near;
  }

  #watch(side: string, core: ShownCore, peer: Peer): Peer {
    this.#cores.push(core);
    const count = (what: string): void => {
      this.punishments[what] = (this.punishments[what] ?? 0) + 1;
    };
    peer.onFrame((direction, { type, code = null }) => {
      if (direction !== 'tx' || (type !== 'reset' && type !== 'goaway')) return;
      if (APPLICATIONS_OWN.includes(code) || (code !== null && code >= FIRST_APPLICATION_CODE)) return;
      count(`${side} ${type} ${resetCodeName(code)}`);
    });
    peer.onClose(({ code }) => {
      this.closes[code] = (this.closes[code] ?? 0) + 1;
    });
    return peer;
  }

  #left(): Record<string, number> {
    const sessions = this.#cores.flatMap(({ adopted }) => adopted);
    const sum = (of: (session: Connection) => number): number => sessions.reduce((total, session) => total + of(session), 0);
    return {
      streams: sum(({ streams }) => streams.size),
      places: sum(({ places }) => places),
      heldBytes: sum(({ budget }) => budget.held.used),
      unsentBytes: sum(({ outbound }) => outbound.bytes),
      queued: sum(({ outbound }) => outbound.frames),
      sockets: this.#ends.reduce((total, { left }) => total + left, 0),
      timers: this.time.pending,
      connections: this.#cores.reduce((total, { connections: open }) => total + open.length, 0),
    };
  }
}

/** The numbers from 0 on, `count` of them. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, nth) => nth);
}
