import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { catchError, defer, filter, fromEvent, map, merge, NEVER, of, take, timer } from 'rxjs';
import type { BehaviorSubject, Observable } from 'rxjs';
import { observableOf } from '../peer/base/guard.js';
import type { PeerContext } from '../peer/options.js';
import type { Transport } from '../transport/transport.js';
import { LONGEST_TIMER_MS } from '../wire/longest-timer.js';
import { oneLine, quoted } from '../wire/quoted.js';
import { offersFirst } from '../wire/subprotocol.js';
import type { HeaderLine } from './answer-http.js';
import type { Full, Seat } from './totals.js';
import { originAllowed } from './origin.js';
import type { Origins } from './origin.js';
import type { Objection, RefusalLog } from './refusal.js';
import { answerOf, errorOf, REFUSED_BY_VERIFY } from './refuse.js';
import type { UpgradeRefusal } from './refuse.js';

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
    return { status: 400, cause: 'codec', reason: `expected the subprotocol '${protocol}' in first place, got ${got}` };
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
