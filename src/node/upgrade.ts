import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { NEVER, catchError, defer, filter, fromEvent, isObservable, map, merge, of, take, timer } from 'rxjs';
import type { BehaviorSubject, Observable } from 'rxjs';
import type { PeerContext } from '../peer/options.js';
import { guard } from '../rx/subscribers.js';
import { messageOf } from '../stream/end.js';
import { observableOf } from '../stream/promises.js';
import type { Transport } from '../transport/transport.js';
import { checkObject, isError, oneLine, optionError, quoted, tagOf } from '../util/check.js';
import { LONGEST_TIMER_MS } from '../util/time.js';
import { offersFirst } from '../wire/codec.js';
import { OFFER_REFUSED } from '../wire/errors.js';
import type { Refusal } from './mux-server.js';
import { originAllowed } from './origin.js';
import type { Origins } from './origin.js';
import { AnsweredRefusal } from './refusal.js';
import type { Objection, RefusalLog } from './refusal.js';
import type { Full, Seat } from './totals.js';

/** An answer to an upgrade request in place of 101. */
export interface HttpAnswer {
  readonly status: number;
  /** The body: one line of text for people. */
  readonly reason: string;
  /** Header lines in addition to the default ones; a line of the same name replaces the default. */
  readonly headers?: readonly HeaderLine[] | undefined;
}

export type HeaderLine = readonly [name: string, value: string];

/** Headers of every text that may quote a request: they stop browsers from rendering it as a page. */
export const PLAIN_TEXT = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' } as const;

/** Ignores errors of a socket that is not upgraded yet. Without a listener they would end the process. */
export function ignoreErrors(socket: Duplex): void {
  if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
}

/**
 * Answers a request that will not be upgraded, and ends its connection. The caller already ignores the socket's errors. Returns `false`
 * if the dialer has left or another listener has answered.
 */
export function answerHttp(socket: Duplex, { status, reason, headers = [] }: HttpAnswer): boolean {
  if (!socket.writable) return false;
  const body = `${reason}\n`;
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...withDefaults(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  // A half closed socket would stay open until the other side ends it.
  socket.once('finish', () => socket.destroy());
  socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)]));
  return true;
}

function withDefaults(headers: readonly HeaderLine[]): readonly HeaderLine[] {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  return [...DEFAULT_HEADERS.filter(([name]) => !given.has(name.toLowerCase())), ...headers];
}

const DEFAULT_HEADERS: readonly HeaderLine[] = [...Object.entries(PLAIN_TEXT), ['Sec-WebSocket-Version', '13']];

function ignore(): void {
  // The socket ends too, and its end is all that callers need.
}

/**
 * Returns the lines of the HTTP headers of an option.
 *
 * @param option names the headers in errors
 * @throws TypeError for headers that Node would not send as they are
 */
export function headerLines(option: string, headers: OutgoingHttpHeaders): readonly HeaderLine[] {
  checkObject(option, headers);
  // The entries of `Headers` and of a Map are no properties, so Node would send none of them.
  if (Symbol.iterator in headers)
    throw new TypeError(
      `${option}: expected a plain object, got ${Object.prototype.toString.call(headers)}: pass Object.fromEntries(${option})`,
    );
  return Object.entries(headers).flatMap(([name, value]) => {
    validateHeaderName(name);
    return value === undefined ? [] : [value].flat().map((each): HeaderLine => [name, checkedValue(name, each)]);
  });
}

function checkedValue(name: string, value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw optionError(name, 'a string or a number', value);
  const text = String(value);
  validateHeaderValue(name, text);
  return text;
}

/** The verdict that {@link refuse} returns. */
export interface UpgradeRefusal {
  /** The HTTP status, from 400 to 599. */
  readonly status: number;
  /** The line of text in the answer. */
  readonly reason: string;
  /** The header lines of the answer. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The default reason. It reveals nothing about the cause. */
export const REFUSED_BY_VERIFY = 'verify refused the request';

/**
 * Makes a verdict of `verify` that answers any HTTP status, with headers (V6).
 *
 * @param status an integer from 400 to 599
 * @param headers as for `response.writeHead` of Node; the library sets `Connection`, `Content-Length` and `Transfer-Encoding`
 * @param reason the body, a line of text for people. Default `verify refused the request`
 * @throws TypeError for another status, and for a header that HTTP cannot carry
 *
 * @example
 * ```ts
 * serve({ port: 8080, verify: ({ socket }) => hasRoom(socket.remoteAddress) || refuse(429, { 'Retry-After': 5 }) });
 * // a dialer of Node fails with ConnectError { status: 429 } while there is no room
 * ```
 */
export function refuse(status: number, headers: OutgoingHttpHeaders = {}, reason: string = REFUSED_BY_VERIFY): UpgradeRefusal {
  if (!isRefusalStatus(status)) throw optionError('status', 'an integer from 400 to 599', status);
  if (typeof reason !== 'string') throw optionError('reason', 'a string', reason);
  const refusal: Branded = { status, reason, headers: linesOf(headers), [BRAND]: true };
  return refusal;
}

/**
 * Returns the answer that `verify` chose by {@link refuse}, or `null` for a context.
 *
 * @throws the verdict where it is an error, and TypeError where it is no context
 */
export function answerOf(verdict: object): HttpAnswer | null {
  if (BRAND in verdict) return verdict as Branded;
  // None of these says yes: a query that finds no user returns an empty list, and an error may be returned in place of thrown.
  if (isError(verdict)) throw verdict;
  if (Array.isArray(verdict)) throw new TypeError('verify: expected an object for the context, got an array');
  if (isObservable(verdict)) throw new TypeError('verify: expected a promise, got an Observable: return firstValueFrom(…)');
  if ('next' in verdict && (Symbol.iterator in verdict || Symbol.asyncIterator in verdict))
    throw new TypeError('verify: expected an object for the context, got an iterator, such as a generator that has not run');
  const tag = tagOf(verdict);
  if (BOXES.has(tag)) throw new TypeError(`verify: expected a boolean or an object for the context, got an object around a ${tag}`);
  // A refusal in the wrong form must not let the dialer in.
  if ('headers' in verdict && 'status' in verdict && isRefusalStatus(verdict.status))
    throw new TypeError(`verify: expected refuse(${verdict.status}, headers), got an object with a status and headers`);
  return null;
}

/** Objects around a primitive, such as `Object(false)`, which is truthy. */
const BOXES = new Set(['Boolean', 'Number', 'String', 'BigInt', 'Symbol']);

/** Returns what `verify` has thrown, for the log: `refuse` works only where it is returned. */
export function errorOf(thrown: unknown): unknown {
  if (typeof thrown !== 'object' || thrown === null || !(BRAND in thrown)) return thrown;
  return new TypeError(`verify: expected refuse(${(thrown as Branded).status}) to be returned, got it thrown`);
}

/** Registered globally, so that every copy of this package recognizes a refusal of another copy and does not use it as a peer's context. */
const BRAND = Symbol.for('rxmux.refuse');

interface Branded extends UpgradeRefusal {
  readonly [BRAND]: true;
}

/** Headers that determine where the answer ends. */
const FRAMING = ['connection', 'content-length', 'transfer-encoding'];

function linesOf(headers: OutgoingHttpHeaders): readonly HeaderLine[] {
  const lines = headerLines('headers', headers);
  for (const [name] of lines)
    if (FRAMING.includes(name.toLowerCase())) throw new TypeError(`headers: expected none that frames the answer, got ${name}`);
  return lines;
}

function isRefusalStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599;
}

/**
 * The verdict of `verify` (V6). `true` or a context admits the peer. 401 asks for credentials, and `refuse` answers any other status.
 * Every other value answers 403.
 *
 * @example
 * ```ts
 * serve({ port: 8080, verify: ({ headers }) => headers.authorization === 'Bearer s3cret' || 401 });
 * // a dialer of Node without that header: ConnectError { status: 401 }
 * ```
 */
export type Verdict = boolean | 401 | 403 | UpgradeRefusal | (PeerContext & object);

/** Completes an upgrade that was judged acceptable. It names no type of `ws`, since an application need not install those types. */
export interface Upgrader {
  readonly protocol: string;
  /**
   * Returns the transport, or a text that says why the handshake is malformed after all.
   *
   * @throws Error if the socket was upgraded before
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Transport | string;
}

/** The rules that judge an upgrade request. */
export interface UpgradePolicy {
  readonly upgrader: Upgrader;
  readonly verify?: ((request: IncomingMessage) => Verdict | Promise<Verdict>) | undefined;
  /** How long `verify` may take, in ms; 0 is no limit. */
  readonly verifyTimeoutMs: number;
  readonly origins?: Origins | undefined;
  /** Takes the place of one more connection, or says why there is none. */
  readonly seat: (request: IncomingMessage) => Seat | Full;
  /** Whether this side refuses all upgrades because it drains. */
  readonly draining$: BehaviorSubject<boolean>;
  readonly log: RefusalLog;
}

/** When the dialer should try again after a 503, in seconds. */
export const RETRY_AFTER = '1';
const RETRY_SOON: readonly HeaderLine[] = [['Retry-After', RETRY_AFTER]];

/** The decision on an upgrade request, before it is sent. */
export type Ruling =
  | { readonly answer: 'accept'; readonly context: PeerContext | undefined }
  | { readonly answer: 'refuse'; readonly objection: Objection }
  | { readonly answer: 'none' };

export const ACCEPTED: Ruling = { answer: 'accept', context: undefined };

const GOING_AWAY: Objection = { status: 503, cause: 'draining', reason: 'this side is going away', headers: RETRY_SOON };

/** Emits the ruling by `verify`, unless this side drains, the dialer leaves or the time is up first. */
export function verified(
  request: IncomingMessage,
  socket: Duplex,
  verify: NonNullable<UpgradePolicy['verify']>,
  { draining$, verifyTimeoutMs }: UpgradePolicy,
): Observable<Ruling> {
  const closing$ = draining$.pipe(
    filter((draining) => draining),
    map(() => refusing(GOING_AWAY)),
  );
  const left$ = merge(fromEvent(socket, 'end'), fromEvent(socket, 'close')).pipe(map((): Ruling => ({ answer: 'none' })));
  const late$ = timeLimit(verifyTimeoutMs).pipe(map(() => refusing(undecided(verifyTimeoutMs))));
  const verdict$ = defer(() => observableOf(verify(request))).pipe(map(rulingOf));
  return merge(closing$, left$, late$, verdict$).pipe(
    take(1),
    catchError((thrown: unknown) => of(refusing(unjudged(errorOf(thrown))))),
  );
}

function timeLimit(ms: number): Observable<unknown> {
  return ms > 0 && ms <= LONGEST_TIMER_MS ? timer(ms) : NEVER;
}

export function objectionTo(request: IncomingMessage, policy: UpgradePolicy): Objection | null {
  if (policy.draining$.value) return GOING_AWAY;
  const { protocol } = policy.upgrader;
  const offered = request.headers['sec-websocket-protocol'];
  if (!offersFirst(offered, protocol)) {
    const got = offered === undefined ? 'none' : `'${oneLine(offered)}'`;
    return { status: 400, cause: 'codec', reason: `${OFFER_REFUSED}${protocol}' in first place, got ${got}` };
  }
  try {
    // The user's function that admits the page may also have closed this side.
    if (originAllowed(request, policy.origins)) return policy.draining$.value ? GOING_AWAY : null;
  } catch (error) {
    return unjudged(error);
  }
  const detail = `: ${quoted(String(request.headers.origin))}; name it in the option 'origins' to let it in`;
  return { status: 403, cause: 'origin', reason: 'this origin is not allowed', detail };
}

// A program without types may return anything. Only a clear yes admits the peer.
function rulingOf(verdict: unknown): Ruling {
  if (verdict === true) return ACCEPTED;
  if (typeof verdict !== 'object' || verdict === null)
    return refusing({ status: verdict === 401 ? 401 : 403, cause: 'verify', reason: REFUSED_BY_VERIFY, detail: unlikeVerdict(verdict) });
  const answer = answerOf(verdict);
  return answer === null ? { answer: 'accept', context: verdict } : refusing({ ...answer, cause: 'verify' });
}

/** Says why a value is no verdict. A text may be a secret, so only its type is shown. */
function unlikeVerdict(value: unknown): string {
  if (value === false || value === 401 || value === 403) return '';
  const got = value === null || typeof value === 'number' ? value : typeof value;
  return `: verify: expected a boolean, 401, 403, refuse(…) or an object for the context, got ${got}`;
}

function refusing(objection: Objection): Ruling {
  return { answer: 'refuse', objection };
}

/** A seat counts while `verify` decides, so that no burst of upgrades passes a limit together. */
export function seatFor(request: IncomingMessage, policy: UpgradePolicy): Seat | Objection {
  try {
    const seat = policy.seat(request);
    return 'reason' in seat ? { ...seat, status: 503, cause: 'limit', headers: RETRY_SOON } : seat;
  } catch (error) {
    return unjudged(error);
  }
}

function unjudged(error: unknown): Objection {
  return { status: 500, cause: 'unjudged', reason: 'the request could not be judged', thrown: { error } };
}

function undecided(ms: number): Objection {
  const detail = `: verify took longer than verifyTimeoutMs (${ms} ms)`;
  return { status: 503, cause: 'time-out', reason: 'the request could not be judged in time', detail, headers: RETRY_SOON };
}

/** Receives the outcome of an upgrade request: exactly one method is called, once. */
export interface UpgradeHandlers {
  /** @param context the context that `verify` returned, if any */
  accepted(transport: Transport, context: PeerContext | undefined, seat: Seat): void;
  refused(refusal: Refusal): void;
  /** The request got no answer here: the dialer left first, or another listener answered first. */
  unanswered(reason: string): void;
}

/**
 * Judges an upgrade before it happens, and answers 101 or an HTTP status that says what is wrong. It never upgrades and then closes: a
 * dialer cannot distinguish that from a lost connection.
 */
export function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, policy: UpgradePolicy, handlers: UpgradeHandlers): void {
  ignoreErrors(socket);
  new Upgrade(request, socket, head, policy, handlers).judge();
}

/** One upgrade request, until it has its answer. */
class Upgrade {
  /** The seat of the connection; `null` without one. */
  #seat: Seat | null = null;

  constructor(
    private readonly request: IncomingMessage,
    private readonly socket: Duplex,
    private readonly head: Buffer,
    private readonly policy: UpgradePolicy,
    private readonly handlers: UpgradeHandlers,
  ) {}

  judge(): void {
    const { request, socket, policy } = this;
    const seat = objectionTo(request, policy) ?? seatFor(request, policy);
    if ('status' in seat) {
      this.#refuse(seat);
      return;
    }
    this.#seat = seat;
    if (policy.verify === undefined) this.#follow(ACCEPTED, seat);
    else
      verified(request, socket, policy.verify, policy).subscribe((ruling) => {
        this.#follow(ruling, seat);
      });
  }

  #follow(ruling: Ruling, seat: Seat): void {
    guard('an upgrade', () => {
      if (ruling.answer === 'accept') this.#accept(ruling.context, seat);
      else if (ruling.answer === 'refuse') this.#refuse(ruling.objection);
      else this.#dialerLeft();
    });
  }

  #accept(context: PeerContext | undefined, seat: Seat): void {
    const upgraded = this.#complete();
    if (typeof upgraded !== 'string') this.handlers.accepted(upgraded, context, seat);
    else this.#refuse({ status: 400, cause: 'handshake', reason: upgraded });
  }

  #complete(): Transport | string {
    const { request, socket, head, policy } = this;
    try {
      const upgraded = policy.upgrader.upgrade(request, socket, head);
      if (typeof upgraded !== 'string') UPGRADED.add(socket);
      return upgraded;
    } catch (error) {
      // Leave the socket alone: it belongs to the listener that upgraded it first.
      this.#unanswered(messageOf(error));
      throw error;
    }
  }

  #refuse(objection: Objection): void {
    const { request, socket, policy } = this;
    const isAnswered = refuseUpgrade(request, socket, objection, policy.log, (refusal) => {
      this.#seat?.leave();
      this.handlers.refused(refusal);
    });
    if (!isAnswered) this.#unanswered(UPGRADED.has(socket) ? 'the socket was upgraded before' : 'the socket has ended');
  }

  #dialerLeft(): void {
    this.socket.destroy();
    this.#unanswered('the dialer left before it was answered');
  }

  #unanswered(reason: string): void {
    this.#seat?.leave();
    this.handlers.unanswered(reason);
  }
}

/** Refuses a request, and logs the refusal. Returns `false` if the socket has ended or was upgraded before. */
export function refuseUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  objection: Objection,
  log: RefusalLog,
  refused: (refusal: Refusal) => void,
): boolean {
  if (UPGRADED.has(socket) || !answerHttp(socket, objection)) return false;
  const refusal = new AnsweredRefusal(objection, request);
  log.note(refusal, objection);
  refused(refusal);
  return true;
}

/** Sockets that were upgraded here. They speak WebSocket, so an HTTP answer would be read as a frame. */
const UPGRADED = new WeakSet<Duplex>();
