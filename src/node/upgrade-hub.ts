import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { ignoreErrors } from './answer-http.js';
import { handBack, judgeUpgrades } from './hand-back.js';
import { pathOf } from './refusal.js';

/** Answers the upgrades of one path. */
export interface UpgradeTaker {
  /** `undefined` takes every path that no other taker has. */
  readonly path: string | undefined;
  /** Whether it refuses everything from now on. */
  isDraining(): boolean;
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** No taker has the request's path, and no other listener may. */
  refusePath(request: IncomingMessage, socket: Duplex): void;
}

/** Answers upgrades of a server, beside other takers. Returns a function that leaves the server. */
export function takeUpgrades(server: HttpServer | HttpsServer, taker: UpgradeTaker): () => void {
  const hub = HUBS.get(server) ?? new UpgradeHub(server);
  hub.add(taker);
  return () => {
    hub.remove(taker);
  };
}

/** The one `upgrade` listener of the library on a server, however many takers share it. */
class UpgradeHub {
  readonly #takers = new Set<UpgradeTaker>();
  /** `null` where Node asks nobody whether to upgrade: before 22.21 and 24.9. */
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
    // The listener that answers this path may not handle socket errors, which would end the process.
    ignoreErrors(socket);
    const [first] = this.#takers;
    const taker = this.#takerOf(pathOf(request));
    if (taker !== undefined) taker.take(request, socket, head);
    else if (this.#isAlone()) first?.refusePath(request, socket);
  };

  /** Whether Node would pass the request to `request` if this listener were not there. */
  #isOrdinary(request: IncomingMessage): boolean {
    return !isWebSocket(request) && this.#isAlone() && this.server.listenerCount('request') > 0;
  }

  #isAlone(): boolean {
    return this.server.listenerCount('upgrade') === 1;
  }

  /** A taker of exactly this path before one of all paths; a draining one last. */
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
