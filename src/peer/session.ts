import { asyncScheduler } from 'rxjs';
import { declaredError } from '../stream/end.js';
import { Stream } from '../stream/stream.js';
import { checkNumber, optionError, readObject } from '../util/check.js';
import type { Options } from '../util/check.js';
import { RemoteError } from '../wire/errors.js';
import { HelloAcceptor } from './hello.js';
import { Peer } from './peer.js';

/**
 * Makes an error for `onHello` to throw: this client may not connect. The client stops dialing, unless its `shouldRetry` says otherwise.
 *
 * Any other error of `onHello` counts as a fault of the server: its log shows the error, and the client dials again, up to 20 times in a row.
 *
 * A client's `hello` may throw it too, for a user who has to log in again. Any other error of `hello` is a failed dial, and the next one follows.
 *
 * @param message for people; the client gets it
 * @returns a RemoteError whose payload is `{ name: 'REFUSED', message, declared: true }`
 *
 * @example
 * ```ts
 * serve({ port: 8080, onHello: ({ token }) => { if (!isKnown(token)) throw sessionRefused('unknown token'); } });
 * // at the client: peer.opened rejects with a RemoteError 'unknown token'
 * ```
 */
export function sessionRefused(message = 'the session was refused'): RemoteError {
  return answer('REFUSED', message);
}

/**
 * Makes an error for `onHello` to throw: the token has expired, and a fresh one may do. The client dials once more, with `expired: true` in
 * the context of its `hello`. It stops dialing when the fresh hello has expired too.
 *
 * @param message for people; the client gets it
 * @returns a RemoteError whose payload is `{ name: 'EXPIRED', message, declared: true }`
 *
 * @example
 * ```ts
 * connect(url, { reconnect: true, hello: async ({ expired }) => ({ payload: { token: await tokens.get({ fresh: expired }) } }) });
 * ```
 */
export function sessionExpired(message = 'the session has expired'): RemoteError {
  return answer('EXPIRED', message);
}

/** A declared error has no stack of use, and passes an `errorSerializer`. */
function answer(name: 'REFUSED' | 'EXPIRED', message: string): RemoteError {
  return declaredError(new RemoteError(message, { name, message, declared: true }));
}

/** Options of {@link sessionEnds}. */
export interface SessionEndOptions {
  /**
   * How long before the end the server asks for a fresh hello, in ms; at most half of the time that is left. It asks only a client whose
   * hello is `renewing`. Default 30 000.
   */
  readonly askBeforeMs?: number | undefined;
}

const OPTIONS: Options<SessionEndOptions, { askBeforeMs: number }> = { askBeforeMs: [checkNumber, 30_000] };

/** Times below this one are seconds, such as the `exp` of a JWT: as milliseconds they lie before 1973. */
const EARLIEST_MS = 1e11;

/**
 * Sets the end of the session that a hello has begun; `onHello` calls it. A client whose hello is {@link renewing} gets a question for a
 * fresh hello before, which `onHello` answers as any hello. Without a fresh hello the server closes the connection at the end, in good
 * order: a client with `reconnect` dials again, and says a new hello. Each accepted hello replaces the end of the one before.
 *
 * @param stream the stream that `onHello` has received
 * @param at a date, or ms since 1970; Infinity sets no end
 * @throws the error of {@link sessionExpired} for a time that is over; TypeError for another stream, and for a time in seconds
 *
 * @example
 * ```ts
 * const onHello = async ({ token }: { token: string }, stream: Stream) => {
 *   const { sub, exp } = await verifyJwt(token);
 *   sessionEnds(stream, exp * 1000);
 *   await stream.reply({ name: sub });
 * };
 * ```
 */
export function sessionEnds(stream: Stream, at: Date | number, options: SessionEndOptions = {}): void {
  const { askBeforeMs } = readObject('options', options, OPTIONS);
  const core = Stream.streamCore(stream);
  const gate = Peer.core(stream.peer)?.incoming.gate;
  if (!(gate instanceof HelloAcceptor)) throw new TypeError('sessionEnds: expected a stream that onHello received, got another');
  const endsAt = checkTime(at);
  if (endsAt <= asyncScheduler.now()) throw sessionExpired();
  // A client that has left meanwhile has no session, and its timers would keep its peer until the end.
  if (stream.peer.status.state !== 'closed') gate.endSession(core, endsAt, askBeforeMs);
}

function checkTime(at: Date | number): number {
  const ms = typeof at === 'number' ? at : at instanceof Date ? at.getTime() : NaN;
  if (Number.isNaN(ms)) throw optionError('at', 'a valid Date, or ms since 1970', at);
  // A clock below is virtual.
  if (ms < EARLIEST_MS && ms > 0 && asyncScheduler.now() >= EARLIEST_MS)
    throw new TypeError(`at: expected ms since 1970, got ${ms}, which may be seconds: write ${ms} * 1000`);
  return ms;
}
