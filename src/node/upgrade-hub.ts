import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import { GOING_AWAY } from '../acceptor/judge.js';
import { PREFIX } from '../wire/codec.js';
import { answerOrdinary, intercept } from './intercept.js';
import { ignoreErrors, pathOf } from './refusal.js';

/** Since Node 22.21 and 24.9 a server asks its `shouldUpgradeCallback` before it stops reading HTTP. */
interface Judging {
  shouldUpgradeCallback?: (request: IncomingMessage) => boolean;
}

/**
 * Makes a server upgrade only requests that also pass `judge`. Returns a function that undoes this, or `null` if this Node has no such
 * callback.
 */
export function judgeUpgrades(server: HttpServer | HttpsServer, judge: (request: IncomingMessage) => boolean): (() => void) | null {
  const judging = server as Judging & typeof server;
  const before = judging.shouldUpgradeCallback;
  if (before === undefined) return null;
  const both = (request: IncomingMessage): boolean => before.call(server, request) && judge(request);
  judging.shouldUpgradeCallback = both;
  return () => {
    if (judging.shouldUpgradeCallback === both) judging.shouldUpgradeCallback = before;
  };
}

/**
 * Returns an upgrade request to its HTTP server. The server reads it again as an ordinary request, with its body and with the requests
 * that follow on the connection. An older Node stops reading HTTP at each upgrade once a server has one `upgrade` listener.
 */
export function handBack(server: HttpServer | HttpsServer, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.unshift(Buffer.concat([Buffer.from(headOf(request), 'latin1'), head]));
  server.emit(server instanceof TlsServer ? 'secureConnection' : 'connection', socket);
}

/** The original head of the request, without the token of `Connection` that makes it an upgrade. */
function headOf({ method = 'GET', url = '/', httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const kept = name.toLowerCase() === 'connection' ? withoutUpgrade(value) : value;
    if (kept !== null) lines.push(`${name}: ${kept}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function withoutUpgrade(connection: string): string | null {
  const tokens = connection.split(',').map((token) => token.trim());
  const kept = tokens.filter((token) => token !== '' && token.toLowerCase() !== 'upgrade');
  return kept.length === 0 ? null : kept.join(', ');
}

/** Answers the upgrades of one path, and health checks of another. */
export interface UpgradeTaker {
  /**
   * The path to answer; `undefined` answers every path that no other taker has. Beside listeners of others it then answers only dialers
   * that offer a subprotocol of the library.
   */
  readonly path: string | undefined;
  /** The path of its health checks, if it answers any. */
  readonly healthPath: string | undefined;
  /** Whether the taker now refuses every upgrade. */
  isDraining(): boolean;
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Refuses a request whose path none of the takers has, and which no other listener may answer. */
  refusePath(request: IncomingMessage, socket: Duplex, takers: Iterable<UpgradeTaker>): void;
}

/** Adds a taker that answers upgrades and health checks of a server. Returns a function that removes it. */
export function takeUpgrades(server: HttpServer | HttpsServer, taker: UpgradeTaker): () => void {
  const hub = HUBS.get(server) ?? new UpgradeHub(server);
  hub.add(taker);
  return () => {
    hub.remove(taker);
  };
}

/** The arguments of the event `upgrade`. */
type Upgrade = [request: IncomingMessage, socket: Duplex, head: Buffer];

/**
 * Answers the upgrades and health checks of a server for all its takers, and leaves the other requests to the listeners of the server. It
 * wraps the server once, so that takers may replace each other for ever.
 */
class UpgradeHub {
  readonly #takers = new Set<UpgradeTaker>();
  /** Removes the callback that decides whether Node upgrades; `null` where Node has none (before 22.21 and 24.9). */
  readonly #stopJudging: (() => void) | null;
  readonly #stopAnswering: () => void;

  constructor(private readonly server: HttpServer | HttpsServer) {
    HUBS.set(server, this);
    // Node emits upgrades only if somebody listens.
    server.on('upgrade', listen);
    // Each of them would take the socket for its own: a framework may end it, or another library write an HTTP error into its frames.
    this.#stopAnswering = intercept(server, (event, args) => {
      if (event === 'upgrade') return this.#answer(...(args as Upgrade));
      return event === 'request' && this.#answerHealth(...(args as [IncomingMessage, ServerResponse]));
    });
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
    this.#stopAnswering();
    this.server.off('upgrade', listen);
  }

  /** Returns `false` to leave a request to the listeners of the server. */
  readonly #answer = (...[request, socket, head]: Upgrade): boolean => {
    const [first] = this.#takers;
    if (first === undefined) return false;
    if (this.#stopJudging === null && this.#isOrdinary(request)) {
      handBack(this.server, request, socket, head);
      return true;
    }
    // The listener that answers this path may not handle socket errors. Unhandled, they would end the process.
    ignoreErrors(socket);
    const taker = this.#takerOf(request);
    if (taker !== undefined) taker.take(request, socket, head);
    else if (this.#isAlone()) first.refusePath(request, socket, this.#takers);
    else return false;
    return true;
  };

  /** Answers a health check by 200, and by 503 once all its takers drain. */
  #answerHealth(request: IncomingMessage, response: ServerResponse): boolean {
    const asked = this.#askedFor(request);
    if (asked.length === 0) return false;
    const isAway = asked.every((taker) => taker.isDraining());
    answerOrdinary(response, isAway ? GOING_AWAY : { status: 200, reason: 'ok' }, { 'Cache-Control': 'no-store' });
    return true;
  }

  /** The takers whose health a request asks for. */
  #askedFor(request: IncomingMessage): readonly UpgradeTaker[] {
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD') return [];
    return [...this.#takers].filter(({ healthPath }) => healthPath !== undefined && healthPath === pathOf(request));
  }

  /** Whether Node would emit `request` for this upgrade if this listener were not there, or a health check offers an upgrade, as Java's do. */
  #isOrdinary(request: IncomingMessage): boolean {
    if (isWebSocket(request)) return false;
    return this.#askedFor(request).length > 0 || (this.#isAlone() && this.server.listenerCount('request') > 0);
  }

  /** Whether only hubs listen, and no other copy of the package has an earlier one, which answers for the later ones. */
  #isAlone(): boolean {
    const listeners = this.server.listeners('upgrade');
    return listeners.every((listener) => HUB in listener) && (listeners[0] ?? listen) === listen;
  }

  /** The taker of a request. A taker of exactly its path ranks before a taker of all paths; a draining taker ranks last. */
  #takerOf(request: IncomingMessage): UpgradeTaker | undefined {
    const path = pathOf(request);
    const isOpen = this.#isAlone() || offersMux(request);
    const rank = (taker: UpgradeTaker): number => Number(taker.path === undefined) + 2 * Number(taker.isDraining());
    let best: UpgradeTaker | undefined;
    for (const taker of this.#takers)
      if ((taker.path === undefined ? isOpen : taker.path === path) && (best === undefined || rank(taker) < rank(best))) best = taker;
    return best;
  }
}

/** Marks the listener of a hub for other copies of the package. */
const HUB = Symbol.for('rxmux.upgradeHub');

/** Does nothing, because the hub answers before the listeners. */
const listen = Object.assign((): void => undefined, { [HUB]: true });

const HUBS = new WeakMap<object, UpgradeHub>();

const WEBSOCKET = /(^|,)\s*websocket\s*(,|$)/i;

function isWebSocket({ headers }: IncomingMessage): boolean {
  return WEBSOCKET.test(headers.upgrade ?? '');
}

/** Whether the dialer offers a subprotocol of the library, under whichever codec. */
function offersMux({ headers }: IncomingMessage): boolean {
  return (headers['sec-websocket-protocol'] ?? '').split(',').some((offer) => offer.trim().startsWith(PREFIX));
}
