import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { NEVER, catchError, defer, filter, fromEvent, map, merge, of, take, timer } from 'rxjs';
import type { BehaviorSubject, Observable } from 'rxjs';
import type { PeerContext } from '../peer/options.js';
import { guard } from '../rx/subscribers.js';
import { messageOf } from '../stream/end.js';
import { observableOf } from '../stream/promises.js';
import type { Transport } from '../transport/transport.js';
import type { WsUpgrader } from '../transport/ws/ws.js';
import { oneLine, quoted } from '../util/check.js';
import { LONGEST_TIMER_MS } from '../util/time.js';
import { offersFirst } from '../wire/codec.js';
import { OFFER_REFUSED } from '../wire/errors.js';
import type { SparseLog } from './log.js';
import type { Refusal } from './mux-server.js';
import { originAllowed } from './origin.js';
import type { Origins } from './origin.js';
import { REFUSED_BY_VERIFY, RETRY_AFTER, UPGRADED, answerOf, errorOf, refuseUpgrade } from './refusal.js';
import type { HeaderLine, Objection, UpgradeRefusal } from './refusal.js';
import type { Full, Seat } from './totals.js';

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

/** The rules that judge an upgrade request. */
export interface UpgradePolicy {
  readonly upgrader: WsUpgrader;
  readonly verify?: ((request: IncomingMessage) => Verdict | Promise<Verdict>) | undefined;
  /** How long `verify` may take, in ms; 0 is no limit. */
  readonly verifyTimeoutMs: number;
  readonly origins?: Origins | undefined;
  /** Takes the place of one more connection, or says why there is none. */
  readonly seat: (request: IncomingMessage) => Seat | Full;
  /** Whether this side refuses all upgrades because it drains. */
  readonly draining$: BehaviorSubject<boolean>;
  readonly log: SparseLog;
}

const RETRY_SOON: readonly HeaderLine[] = [['Retry-After', RETRY_AFTER]];

/** The decision on an upgrade request, before it is sent. */
type Ruling =
  | { readonly answer: 'accept'; readonly context: PeerContext | undefined }
  | { readonly answer: 'refuse'; readonly objection: Objection }
  | { readonly answer: 'none' };

const ACCEPTED: Ruling = { answer: 'accept', context: undefined };

const GOING_AWAY: Objection = { status: 503, cause: 'draining', reason: 'this side is going away', headers: RETRY_SOON };

/** Emits the ruling by `verify`, unless this side drains, the dialer leaves or the time is up first. */
function verified(
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

function objectionTo(request: IncomingMessage, policy: UpgradePolicy): Objection | null {
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
  const { origin } = request.headers;
  const detail = origin === undefined ? ': the request has none' : `: ${quoted(origin)}; name it in the option 'origins' to let it in`;
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
function seatFor(request: IncomingMessage, policy: UpgradePolicy): Seat | Objection {
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
 * dialer cannot distinguish that from a lost connection. The caller already ignores the socket's errors.
 */
export function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, policy: UpgradePolicy, handlers: UpgradeHandlers): void {
  const seat = objectionTo(request, policy) ?? seatFor(request, policy);
  const leave = (): void => {
    if (!('status' in seat)) seat.leave();
  };
  const unanswered = (reason: string): void => {
    leave();
    handlers.unanswered(reason);
  };
  const refuse = (objection: Objection): void => {
    const isAnswered = refuseUpgrade(request, socket, objection, policy.log, (refusal) => {
      leave();
      handlers.refused(refusal);
    });
    if (!isAnswered) unanswered(UPGRADED.has(socket) ? 'the socket was upgraded before' : 'the socket has ended');
  };
  if ('status' in seat) {
    refuse(seat);
    return;
  }
  const accept = (context: PeerContext | undefined): void => {
    let upgraded: Transport | string;
    try {
      upgraded = policy.upgrader.upgrade(request, socket, head);
    } catch (error) {
      // Leave the socket alone: it belongs to the listener that upgraded it first.
      unanswered(messageOf(error));
      throw error;
    }
    if (typeof upgraded === 'string') refuse({ status: 400, cause: 'handshake', reason: upgraded });
    else {
      UPGRADED.add(socket);
      handlers.accepted(upgraded, context, seat);
    }
  };
  const follow = (ruling: Ruling): void => {
    guard('an upgrade', () => {
      if (ruling.answer === 'accept') accept(ruling.context);
      else if (ruling.answer === 'refuse') refuse(ruling.objection);
      else {
        socket.destroy();
        unanswered('the dialer left before it was answered');
      }
    });
  };
  if (policy.verify === undefined) follow(ACCEPTED);
  else verified(request, socket, policy.verify, policy).subscribe(follow);
}
