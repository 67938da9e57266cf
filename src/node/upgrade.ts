import { STATUS_CODES } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { catchError, defer, filter, fromEvent, map, merge, of, take } from 'rxjs';
import type { BehaviorSubject, Observable } from 'rxjs';
import { log } from '../logger.js';
import { messageOf } from '../peer/error-serializer.js';
import { guard, observableOf } from '../peer/guard.js';
import type { PeerContext } from '../peer/options.js';
import type { Transport } from '../transport/transport.js';
import { offersFirst } from '../wire/subprotocol.js';
import { originAllowed } from './origin.js';
import type { Origins } from './origin.js';

/**
 * What `verify` finds: `true` or a context lets the peer in, 401 asks for credentials, and anything else forbids with 403 (V6).
 *
 * @example
 * ```ts
 * serve({ port: 8080, verify: ({ headers }) => headers.authorization === 'Bearer s3cret' || 401 });
 * // a dialer of Node without that header: ConnectError { status: 401 }
 * ```
 */
export type Verdict = boolean | 401 | 403 | (PeerContext & object);

/** Completes the upgrades that were found good. Names no type of `ws`, whose types an application need not have. */
export interface Upgrader {
  readonly protocol: string;
  /**
   * Gives the transport, or what is wrong with a handshake that is malformed after all.
   *
   * @throws Error where the socket was upgraded before
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Transport | string;
}

/** How an upgrade request is judged. */
export interface UpgradePolicy {
  readonly upgrader: Upgrader;
  readonly verify?: ((request: IncomingMessage) => Verdict | Promise<Verdict>) | undefined;
  readonly origins?: Origins | undefined;
  /** Whether this side takes nobody any more. */
  readonly draining$: BehaviorSubject<boolean>;
}

/** What became of an upgrade request; one of them is called, once. */
export interface UpgradeHandlers {
  /** @param context what `verify` found out, if anything */
  accepted(transport: Transport, context: PeerContext | undefined): void;
  refused(status: number, reason: string): void;
  /** Nothing was answered: the dialer has gone without waiting for it, or somebody else has answered before. */
  unanswered(reason: string): void;
}

/** The answer to an upgrade request, before it is given. */
type Ruling =
  | { readonly answer: 'accept'; readonly context: PeerContext | undefined }
  | { readonly answer: 'refuse'; readonly status: number; readonly reason: string }
  | { readonly answer: 'none' };

/**
 * Judges an upgrade before it happens, and answers: 101, or the HTTP status that says what is wrong. Nothing is upgraded
 * and then closed, because a dialer could not tell that from a lost connection.
 */
export function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, policy: UpgradePolicy, handlers: UpgradeHandlers): void {
  ignoreErrors(socket);
  const refuse = (status: number, reason: string): void => {
    if (UPGRADED.has(socket)) {
      handlers.unanswered('the socket was upgraded before');
      return;
    }
    if (answerHttp(socket, status, reason)) handlers.refused(status, reason);
    else handlers.unanswered('the socket has ended');
  };
  const leave = (): void => {
    socket.destroy();
    handlers.unanswered('the dialer left before it was answered');
  };
  const complete = (): Transport | string => {
    try {
      const upgraded = policy.upgrader.upgrade(request, socket, head);
      if (typeof upgraded !== 'string') UPGRADED.add(socket);
      return upgraded;
    } catch (error) {
      // The socket is left as it is: it belongs to whoever was faster.
      handlers.unanswered(messageOf(error));
      throw error;
    }
  };
  const accept = (context: PeerContext | undefined): void => {
    const upgraded = complete();
    if (typeof upgraded !== 'string') handlers.accepted(upgraded, context);
    else refuse(400, upgraded);
  };
  const conclude = (ruling: Ruling): void => {
    guard('an upgrade', () => {
      if (ruling.answer === 'accept') accept(ruling.context);
      else if (ruling.answer === 'refuse') refuse(ruling.status, ruling.reason);
      else leave();
    });
  };
  const { verify, draining$ } = policy;
  const objection = objectionTo(request, policy);
  if (objection !== null) conclude(objection);
  else if (verify === undefined) conclude({ answer: 'accept', context: undefined });
  else verified(request, socket, verify, draining$).subscribe(conclude);
}

/** Lets a socket fail that nobody has upgraded yet, which would end the process if nobody listened. */
export function ignoreErrors(socket: Duplex): void {
  if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
}

/**
 * Answers a request that will not be upgraded, and ends its connection; its errors are ignored already. `false` where the dialer has gone,
 * or another listener has answered: what is on its way then is left alone.
 */
export function answerHttp(socket: Duplex, status: number, reason: string): boolean {
  if (!socket.writable) return false;
  const body = `${reason}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Sec-WebSocket-Version: 13',
  ];
  // Half closed it would be kept for as long as the other side likes.
  socket.once('finish', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  return true;
}

/** What `verify` finds, unless this side goes away or the dialer leaves before that. */
function verified(
  request: IncomingMessage,
  socket: Duplex,
  verify: NonNullable<UpgradePolicy['verify']>,
  draining$: Observable<boolean>,
): Observable<Ruling> {
  const closing$ = draining$.pipe(
    filter((draining) => draining),
    map(() => GOING_AWAY),
  );
  const left$ = merge(fromEvent(socket, 'end'), fromEvent(socket, 'close')).pipe(map((): Ruling => ({ answer: 'none' })));
  const verdict$ = defer(() => observableOf(verify(request))).pipe(map(rulingOf));
  return merge(closing$, left$, verdict$).pipe(
    take(1),
    catchError((error: unknown) => of(unjudged(error))),
  );
}

function objectionTo(request: IncomingMessage, policy: UpgradePolicy): Ruling | null {
  if (policy.draining$.value) return GOING_AWAY;
  const { protocol } = policy.upgrader;
  const offered = request.headers['sec-websocket-protocol'];
  if (!offersFirst(offered, protocol)) {
    const got = offered === undefined ? 'none' : `'${offered}'`;
    return refusal(400, `expected the subprotocol '${protocol}' in first place, got ${got}`);
  }
  try {
    // A function that lets a page in may have closed this side.
    if (originAllowed(request, policy.origins)) return policy.draining$.value ? GOING_AWAY : null;
  } catch (error) {
    return unjudged(error);
  }
  log('warn', `refused a page from ${String(request.headers.origin)}; name it in the option 'origins' to let it in`);
  return refusal(403, 'this origin is not allowed');
}

function unjudged(error: unknown): Ruling {
  log('error', 'an upgrade request could not be judged', error);
  return refusal(500, 'the request could not be judged');
}

// A program without types may give anything; only what clearly lets the peer in does.
function rulingOf(verdict: unknown): Ruling {
  if (verdict === true) return { answer: 'accept', context: undefined };
  if (typeof verdict === 'object' && verdict !== null) return { answer: 'accept', context: verdict };
  return refusal(verdict === 401 ? 401 : 403, 'verify refused the request');
}

function refusal(status: number, reason: string): Ruling {
  return { answer: 'refuse', status, reason };
}

/** Sockets upgraded here. They speak WebSocket: an HTTP answer would be read as a frame. */
const UPGRADED = new WeakSet<Duplex>();

const GOING_AWAY = refusal(503, 'this side is going away');

function ignore(): void {
  // The end of the socket says it all.
}
