import { log } from '../logger.js';
import { guard } from '../rx/subscribers.js';
import { isError, isPlainObject } from '../util/check.js';
import { LazyMap } from '../util/collections.js';
import { FIRST_APPLICATION_CODE, ResetCode, resetCodeName } from '../wire/codes.js';
import type { CloseReason } from '../wire/codes.js';
import { CancelledError, ConnectionLostError, RefusedError, RemoteError, ResetError, isMuxError } from '../wire/errors.js';
import type { MuxError, StreamError } from '../wire/errors.js';
import { refuseThenable } from './promises.js';
import type { StreamCore } from './stream-core.js';

/** The cause that ended a stream. A closed stream remembers exactly one cause. */
export type CloseCause =
  | {
      /** Both sides ended. */
      readonly how: 'ended';
    }
  | {
      /** A reset ended it. */
      readonly how: 'reset';
      /** The actor: this program, this library on its own account, or the remote. */
      readonly by: 'user' | 'library' | 'remote';
      /** Any integer; `null` if the reset carried no code. */
      readonly code: ResetCode | null;
      /** The text beside the code; empty if the reset carried no text. */
      readonly reason: string;
      /** The payload of the reset; `null` if the reset carried none. */
      readonly payload: unknown;
    }
  | {
      /** Its socket ended. */
      readonly how: 'lost';
      /** Why the socket ended. */
      readonly reason: CloseReason;
    };

/** Returns the cause of a stream that this library refuses, or resets with another code. */
export function libraryReset(reason: string, code: ResetCode = ResetCode.REFUSED): CloseCause {
  return { how: 'reset', by: 'library', code, reason, payload: null };
}

/** Counts frames, bytes and streams over all sockets of one owner. */
export class Tally {
  sentFrames = 0;
  /** Bytes of the sockets that have ended. Each open socket counts its own. */
  sentBytes = 0;
  receivedFrames = 0;
  receivedBytes = 0;
  opened = 0;
  /** How many streams have ended on both sides. Most streams do, and a Map takes some 200 bytes. */
  #ended = 0;
  /** How many streams have ended by another cause. */
  readonly #others = new LazyMap<string, number>();

  /** How many streams have ended, by cause. */
  get causes(): Record<string, number> {
    const others = Object.fromEntries(this.#others.entries());
    return this.#ended === 0 ? others : { ended: this.#ended, ...others };
  }

  /** A stream has ended. */
  ended(cause: CloseCause): void {
    if (cause.how === 'ended') this.#ended++;
    else {
      const name = cause.how === 'reset' ? `${cause.by} reset ${nameOf(cause.code ?? ResetCode.NO_ERROR)}` : cause.how;
      this.#others.set(name, (this.#others.get(name) ?? 0) + 1);
    }
  }
}

/** A remote chooses its codes, so all codes without a meaning in the protocol share one name. */
function nameOf(code: number): string {
  return code >= 0 && code < FIRST_APPLICATION_CODE ? resetCodeName(code) : 'other';
}

/** The cause of a stream that ended on both sides. */
export const ENDED: CloseCause = { how: 'ended' };

/** Whether this side had ended. Either the remote had ended too, or the library stopped its unread upload with NO_ERROR. */
export function endedHere(cause: CloseCause | null): boolean {
  return cause?.how === 'ended' || (cause?.how === 'reset' && cause.by === 'library' && cause.code === ResetCode.NO_ERROR);
}

/**
 * The error that a consumer of the stream sees for a cause, or `null` where the stream simply completes.
 *
 * @param unsent whether no frame of the stream ever left, so that the caller may safely repeat the call
 */
export function causeError(cause: CloseCause, streamId: number | null, unsent: boolean): StreamError | null {
  if (cause.how === 'ended') return null;
  if (cause.how === 'lost') return new ConnectionLostError(cause.reason, { streamId, retriable: unsent });
  const { code, reason, payload, by } = cause;
  if (code === ResetCode.APPLICATION_ERROR) return new RemoteError(reason, payload, { streamId });
  if (code === ResetCode.REFUSED) return new RefusedError(reason, by === 'remote' ? code : null, { streamId });
  if (code === ResetCode.CANCEL && by !== 'remote') return new CancelledError(reason === '' ? 'cancelled' : reason, { streamId });
  return new ResetError(code, reason, payload, { streamId });
}

/**
 * Returns whether a reset drops its stream's queued frames and goes ahead of all data. A reset by an application, or after an answer, takes
 * its turn instead. So no reset ever destroys the answer before it.
 */
export function overtakes(code: ResetCode | null): boolean {
  return code !== ResetCode.APPLICATION_ERROR && code !== ResetCode.NO_ERROR && (code === null || code < FIRST_APPLICATION_CODE);
}

/**
 * Turns an error of a handler or an input into the payload of the reset; `null` or `undefined` sends no payload. The `message` of the
 * returned value, if it has one, is the reset's reason.
 *
 * A serializer of yours decides everything but the code: no other part of the error reaches the caller, even if another peer sent it.
 * Without a `message` the reason is `'internal error'`. If a serializer throws or returns a promise, the reset has that reason and no
 * payload, and the error is logged.
 *
 * @example
 * ```ts
 * serve({ port, handler, errorSerializer: () => ({ message: 'try again later' }) });
 * // at the caller: RemoteError { reason: 'try again later', payload: { message: 'try again later' } }
 * ```
 */
export type ErrorSerializer = (error: unknown) => unknown;

/** An error of a system has a text as its code; a DOMException has a number. */
interface CodedError extends Error {
  readonly code?: unknown;
}

/**
 * The default error serializer: returns the error's name and message. Without a message it returns the error's code, or its name again.
 *
 * @example
 * ```ts
 * defaultErrorSerializer(new RangeError('too big'));   // { name: 'RangeError', message: 'too big' }
 * defaultErrorSerializer('nope');                      // { name: 'Error', message: 'nope' }
 * ```
 */
export const defaultErrorSerializer: ErrorSerializer = (error) => ({
  name: isError(error) ? error.name : 'Error',
  message: messageOf(error),
});

/**
 * The message of any thrown value, which is never empty; the code or the name of an error without one. Errors inside it may hold secrets.
 * Never throws.
 */
export function messageOf(error: unknown): string {
  try {
    const text = isError(error) ? error.message || codeOrName(error) : textOf(error);
    // The message of an error may be anything.
    if (text) return String(text);
  } catch {
    // A value that has no text, such as an object without a prototype.
  }
  return 'unknown error: throw an Error';
}

/** The text of a thrown value that is no error: an object's `message`, or its `code`. A function would show its source. */
function textOf(thrown: unknown): string {
  const text = toldBy(thrown) ?? String(thrown);
  return text.includes('[object ') ? '' : text;
}

/** `null` for a value that has a text of its own. */
function toldBy(thrown: unknown): string | null {
  if (thrown === undefined || typeof thrown === 'function') return '';
  if (typeof thrown !== 'object' || thrown === null) return null;
  const { message, code }: { readonly message?: unknown; readonly code?: unknown } = thrown;
  return [message, code].find((text): text is string => typeof text === 'string' && text !== '') ?? null;
}

function codeOrName({ code, name }: CodedError): string {
  return typeof code === 'string' ? code : name;
}

/** The reset that reports an error of a handler or an input to the remote. */
export interface ErrorReset {
  readonly code: ResetCode | null;
  readonly reason: string;
  /** `null` for none. */
  readonly payload: unknown;
}

/** The reason if the owner's serializer names none. An error's own text may hold secrets. */
const NO_REASON = 'internal error';

/** Errors that are part of a contract. */
const declared = new WeakSet();

/** Marks an error as part of a contract. The error then reaches the remote unchanged, past any serializer of the owner. Returns `error`. */
export function declaredError<E extends MuxError>(error: E): E {
  declared.add(error);
  return error;
}

export function isDeclared(error: object): boolean {
  return declared.has(error);
}

/**
 * Turns a thrown error into a reset. An integer `resetCode` of the error becomes the reset's code. REFUSED is the exception, because it
 * promises that no work was done.
 *
 * The default serializer sends the error's message, and passes on an error that is itself a reset. An owner's serializer receives every
 * error, and the remote receives only the code of the error itself. The payload is then the serializer's value, and the reason is that
 * value's `message`.
 */
export function resetOf(error: unknown, serializer: ErrorSerializer): ErrorReset {
  const code = markedCode(error) ?? ResetCode.APPLICATION_ERROR;
  if (serializer !== defaultErrorSerializer && !declared.has(error as object)) return redacted(error, serializer, code);
  return tryRead(() => ownReset(error)) ?? plain(error, code);
}

/** Returns whether an error is meant for the remote, as a reset or with an integer `resetCode`. REFUSED is the exception. */
export function isForRemote(error: unknown): boolean {
  return markedCode(error) !== null || tryRead(() => ownReset(error)) !== null;
}

function markedCode(error: unknown): ResetCode | null {
  return tryRead(() => {
    if (!isError(error) || !('resetCode' in error)) return null;
    const { resetCode: code } = error;
    return typeof code === 'number' && Number.isSafeInteger(code) && code !== ResetCode.REFUSED ? code : null;
  });
}

/** Reads from a thrown value; a getter that throws counts as absent. */
function tryRead<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** Returns the reset that an error itself describes, or `null`. */
function ownReset(error: unknown): ErrorReset | null {
  if (!isMuxError(error) || !('resetCode' in error) || error.code === 'REFUSED') return null;
  const { resetCode: code, reason } = error;
  // An error of another copy of the package, or a look-alike of another library, may hold any values.
  if ((code !== null && !Number.isSafeInteger(code)) || typeof reason !== 'string' || code === ResetCode.REFUSED) return null;
  return { code, reason, payload: 'payload' in error ? error.payload : null };
}

function plain(error: unknown, code: ResetCode): ErrorReset {
  return { code, reason: messageOf(error), payload: tryRead(() => defaultErrorSerializer(error)) };
}

/** Whether a contract opened a stream. */
export function isCall(payload: unknown): payload is readonly [name: string, value?: unknown] {
  return Array.isArray(payload) && typeof payload[0] === 'string' && payload.length <= 2;
}

/** Marks the payload of an undeclared error that looks like a declared one of an older peer: without data, and its message is its name. */
export function undeclared(payload: unknown): unknown {
  const isAlike = isPlainObject(payload) && typeof payload['name'] === 'string' && payload['name'] === payload['message'];
  return isAlike && Object.keys(payload).length === 2 ? { ...payload, declared: false } : payload;
}

function redacted(error: unknown, serializer: ErrorSerializer, code: ResetCode): ErrorReset {
  try {
    const payload = serializer(error) ?? null;
    refuseThenable('the error serializer', payload);
    const text: unknown = typeof payload === 'object' && payload !== null && 'message' in payload ? payload.message : null;
    return { code, reason: typeof text === 'string' ? text : NO_REASON, payload };
  } catch (failure) {
    log('warn', `an error serializer failed, and the remote gets '${NO_REASON}'`, failure);
    return { code, reason: NO_REASON, payload: null };
  }
}

/** Errors that the log has shown. */
const logged = new WeakSet();

/** Reports the error of a handler or an answer to the error observers of its peer. Without an observer, logs the error behind `what`. */
export function report(error: unknown, stream: StreamCore, what = 'a handler failed'): void {
  const { errors } = stream.owner.hooks;
  if (errors.entries.length === 0) logOnce(error, `${stream.label}: ${what}`);
  for (const { hook } of errors.entries) guard('onError', () => hook(error, stream.facade));
}

/** Returns whether an error concerns this side. Such an error is not meant for the opener, and does not stem from the end of the stream. */
export function isUnexpected(error: unknown, { cause, failure }: StreamCore): boolean {
  if (isForRemote(error)) return false;
  return cause === null || cause.how === 'ended' || !stemsFrom(error, failure);
}

/** Returns whether an error is the end of a stream, or follows from an abort by its signal. */
function stemsFrom(error: unknown, end: unknown): boolean {
  try {
    const seen = new Set<unknown>();
    for (let each = error; each !== undefined && !seen.has(each); each = isError(each) ? each.cause : undefined) {
      if (each === end || (isError(each) && each.name === 'AbortError')) return true;
      seen.add(each);
    }
  } catch {
    // A getter of the error has thrown.
  }
  return false;
}

function logOnce(error: unknown, message: string): void {
  if (typeof error === 'object' && error !== null) {
    if (logged.has(error)) return;
    logged.add(error);
  }
  log('error', message, error);
}

/** Errors that belong to another call than the one that they ended. */
const disclaimed = new WeakSet();

/** Marks an error as another call's. Its `retriable` says nothing about this call, so this call is not repeated. */
export function disclaim(error: unknown): void {
  // Reads no property: a getter of a thrown value may throw.
  if (typeof error === 'object' && error !== null) disclaimed.add(error);
}

export function isDisclaimed(error: object): boolean {
  return disclaimed.has(error);
}
