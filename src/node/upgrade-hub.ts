import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { ignoreErrors } from './answer-http.js';
import { handBack, judgeUpgrades } from './hand-back.js';
import { pathOf } from './refusal.js';

/** Answers the upgrades of one path. */
export interface UpgradeTaker {
  /** The path to answer; `undefined` answers every path that no other taker has. */
  readonly path: string | undefined;
  /** Whether the taker now refuses every upgrade. */
  isDraining(): boolean;
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Refuses a request whose path no taker has, and which no other listener may answer. */
  refusePath(request: IncomingMessage, socket: Duplex): void;
}

/** Adds a taker that answers upgrades of a server. Returns a function that removes it. */
export function takeUpgrades(server: HttpServer | HttpsServer, taker: UpgradeTaker): () => void {
  const hub = HUBS.get(server) ?? new UpgradeHub(server);
  hub.add(taker);
  return () => {
    hub.remove(taker);
  };
}

/** The only `upgrade` listener that the library adds to a server, however many takers share it. */
class UpgradeHub {
  readonly #takers = new Set<UpgradeTaker>();
  /** Removes the callback that decides whether Node upgrades; `null` where Node has none (before 22.21 and 24.9). */
  readonly #stopJudging: (() => void) | null;

  constructor(private readonly server: HttpServer | HttpsServer) {
    HUBS.set(server, this);
    server.on('upgrade', this.#onUpgrade);
    this.#stopJudging = judgeUpgrades(server, (request) => !this.#isOrdinary(request));
  }

  add(taker: UpgradeTaker): void {
    this.#takers.add(taker);
  }

  remove(taker: UpgradeTaker): void {
    this.#takers.delete(taker);
    if (this.#takers.size > 0) return;
    HUBS.delete(this.server);
    this.#stopJudging?.();
    this.server.off('upgrade', this.#onUpgrade);
  }

  readonly #onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (this.#stopJudging === null && this.#isOrdinary(request)) {
      handBack(this.server, request, socket, head);
      return;
    }
    // The listener that answers this path may not handle socket errors. Unhandled, they would end the process.
    ignoreErrors(socket);
    const [first] = this.#takers;
    const taker = this.#takerOf(pathOf(request));
    if (taker !== undefined) taker.take(request, socket, head);
    else if (this.#isAlone()) first?.refusePath(request, socket);
  };

  /** Whether Node would emit `request` for this upgrade if this listener were not there. */
  #isOrdinary(request: IncomingMessage): boolean {
    return !isWebSocket(request) && this.#isAlone() && this.server.listenerCount('request') > 0;
  }

  #isAlone(): boolean {
    return this.server.listenerCount('upgrade') === 1;
  }

  /** The taker for a path. A taker of exactly this path ranks before a taker of all paths; a draining taker ranks last. */
  #takerOf(path: string): UpgradeTaker | undefined {
    const takers = [...this.#takers].filter((taker) => taker.path === path || taker.path === undefined);
    const rank = (taker: UpgradeTaker): number => Number(taker.path === undefined) + 2 * Number(taker.isDraining());
    return takers.sort((a, b) => rank(a) - rank(b))[0];
  }
}

const HUBS = new WeakMap<object, UpgradeHub>();

function isWebSocket({ headers }: IncomingMessage): boolean {
  const offered = headers.upgrade?.split(',') ?? [];
  return offered.some((protocol) => protocol.trim().toLowerCase() === 'websocket');
}
