import { NEVER, catchError, defer, filter, map, merge, of, take, timer } from 'rxjs';
import type { BehaviorSubject, Observable } from 'rxjs';
import type { PeerContext } from '../peer/options.js';
import { observableOf } from '../stream/promises.js';
import { oneLine, quoted } from '../util/check.js';
import { LONGEST_TIMER_MS } from '../util/time.js';
import { offersFirst } from '../wire/codec.js';
import { OFFER_REFUSED } from '../wire/errors.js';
import { originAllowed } from './origin.js';
import type { Asked, OriginsOf } from './origin.js';
import type { SparseLog } from './sparse-log.js';
import type { Full, Seat } from './ledger.js';
import { REFUSED_BY_VERIFY, answerOf, errorOf } from './verdict.js';
import type { HeaderLine, HttpAnswer, Objection, Verdict } from './verdict.js';

/** The rules that judge an upgrade request. */
export interface Policy<Q> {
  /** The subprotocol that a dialer has to offer first. */
  readonly protocol: string;
  readonly verify?: ((request: Q) => Verdict | Promise<Verdict>) | undefined;
  /** How long `verify` may take, in ms; 0 is no limit. */
  readonly verifyTimeoutMs: number;
  readonly origins?: OriginsOf<Q> | undefined;
  /** Takes the place of one more connection, or says why there is none. */
  readonly seat: (request: Q) => Seat | Full;
  /** Whether this side refuses all upgrades because it drains. */
  readonly draining$: BehaviorSubject<boolean>;
  readonly log: SparseLog;
}

/** When the dialer should try again after a 503, in seconds. */
const RETRY_SOON: readonly HeaderLine[] = [['Retry-After', '1']];

/** The decision on an upgrade request, before it is sent. */
export type Ruling =
  | { readonly answer: 'accept'; readonly context: PeerContext | undefined }
  | { readonly answer: 'refuse'; readonly objection: Objection }
  | { readonly answer: 'none' };

const ACCEPTED: Ruling = { answer: 'accept', context: undefined };

export const GOING_AWAY: Objection = { status: 503, cause: 'draining', reason: 'this side is going away', headers: RETRY_SOON };
/** The answer to an ordinary request. */
export const UPGRADE_REQUIRED: HttpAnswer = { status: 426, reason: 'expected a WebSocket upgrade' };

/** Emits the ruling by `verify`, unless this side drains, the dialer leaves or the time is up first. */
function verified<Q>(
  request: Q,
  leaves$: Observable<unknown>,
  verify: NonNullable<Policy<Q>['verify']>,
  { draining$, verifyTimeoutMs }: Policy<Q>,
): Observable<Ruling> {
  const closing$ = draining$.pipe(
    filter((draining) => draining),
    map(() => refusing(GOING_AWAY)),
  );
  const left$ = leaves$.pipe(map((): Ruling => ({ answer: 'none' })));
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

function objectionTo<Q>(asked: Asked<Q>, policy: Policy<Q>): Objection | null {
  if (policy.draining$.value) return GOING_AWAY;
  const { protocol } = policy;
  const { offered, origin } = asked;
  if (!offersFirst(offered, protocol)) {
    const got = offered === undefined ? 'none' : `'${oneLine(offered)}'`;
    return { status: 400, cause: 'codec', reason: `${OFFER_REFUSED}${protocol}' in first place, got ${got}` };
  }
  try {
    if (originAllowed(asked, policy.origins)) return null;
  } catch (error) {
    return unjudged(error);
  }
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
function seatFor<Q>(request: Q, policy: Policy<Q>): Seat | Objection {
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

/** Refuses a request at once, or keeps a place for it while `verify` decides. */
export function seatOrObjection<Q>(asked: Asked<Q>, policy: Policy<Q>): Seat | Objection {
  return objectionTo(asked, policy) ?? seatFor(asked.request, policy);
}

/**
 * Emits the ruling on a request that has a place: at once where no `verify` is set.
 *
 * @param leaves$ emits when the dialer leaves before it is answered
 */
export function ruling$<Q>(request: Q, policy: Policy<Q>, leaves$: Observable<unknown>): Observable<Ruling> {
  if (policy.verify !== undefined) return verified(request, leaves$, policy.verify, policy);
  // A function of the user's, such as `origins` or `trustProxy`, may have closed this side.
  return of(policy.draining$.value ? refusing(GOING_AWAY) : ACCEPTED);
}
