import { catchError } from 'rxjs';
import type { ObservableInput, ObservedValueOf, OperatorFunction } from 'rxjs';
import { declaredError } from '../stream/end.js';
import { RemoteError } from '../wire/errors.js';
import type { Arriving } from './client.js';
import type { Procedure, Sent } from './procedure.js';

/** One value that does not fit its schema, as the payload of `INVALID` has it. */
export interface Issue {
  /** The reason, for people. */
  readonly message: string;
  /** The keys and indices that lead to the place; empty for the value itself. */
  readonly path: readonly (string | number)[];
}

/** The errors that every procedure has. */
export interface CommonErrors {
  /** A value does not fit its schema. */
  readonly INVALID: readonly Issue[];
  /** The other side has no procedure of that name; the data are the near names. */
  readonly UNKNOWN: readonly string[];
  /** The answering side made a reply, an item or data of an error that do not fit their schema. Its log has the issues. */
  readonly INTERNAL: void;
}

/** The errors of a procedure, by their names: the declared ones, and the {@link CommonErrors}. */
export type ErrorsOf<X> = (X extends Procedure<infer E> ? E : never) & CommonErrors;

/** The data of one error, as its sender passes them. */
export type ErrorData<X, N extends keyof ErrorsOf<X>> = Sent<ErrorsOf<X>[N], X>;

/** The data of one error, as the caller gets them: as the answering side's schema makes them. */
export type CaughtData<X, N extends keyof ErrorsOf<X>> = Arriving<ErrorsOf<X>[N], false, X>;

/** A declared error, as the caller gets it. */
export interface Failure<Name extends string, Data> extends RemoteError {
  /** The payload of the reset. */
  readonly payload: {
    /** The declared name. */
    readonly name: Name;
    /** The text of the error. */
    readonly message: string;
    /** The declared data. `undefined` where the codec of the answering side could not carry them, which its log says. */
    readonly data: Data;
    /** Marks the error as declared. An older peer sends no mark. */
    readonly declared?: boolean;
  };
}

/**
 * Makes a declared error for an answer to throw. It reaches the caller as it is, also past an `errorSerializer`, and no log shows it.
 *
 * @param data as declared; left out where the error has none
 * @returns a RemoteError whose payload is `{ name, message, data, declared: true }`
 *
 * @example
 * ```ts
 * const api = contract({ book: request<{ seat: string }, string, { TAKEN: { by: string } }>() });
 * answer(api, { book: () => { throw fail(api.book, 'TAKEN', { by: 'ann' }); } });
 * // at the caller: a RemoteError whose `payload.data` is { by: 'ann' }
 * ```
 */
export function fail<X extends Procedure, N extends keyof ErrorsOf<X> & string>(
  procedure: X,
  name: N,
  ...data: [ErrorData<X, N>] extends [void] ? [] : [data: ErrorData<X, N>]
): RemoteError;
export function fail(_procedure: Procedure, name: string, data?: unknown): RemoteError {
  return failure(name, name, data);
}

/** A {@link fail} with a message of its own. */
export function failure(name: string, message: string, data?: unknown): RemoteError {
  return declaredError(new RemoteError(message, { name, message, ...(data === undefined ? {} : { data }), declared: true }));
}

/**
 * Whether a call failed with one declared error of its procedure. An error that `fail` did not make is none, whatever its name.
 *
 * @example
 * ```ts
 * try {
 *   await calls.book.promise({ seat: '12A' });
 * } catch (error) {
 *   if (isFailure(api.book, 'TAKEN', error)) console.log(error.payload.data.by);   // ann
 * }
 * ```
 */
export function isFailure<X extends Procedure, N extends keyof ErrorsOf<X> & string>(
  _procedure: X,
  name: N,
  error: unknown,
): error is Failure<N, CaughtData<X, N>> {
  // Not `instanceof`, because a program may load two copies of this package.
  const { code, payload } = (error ?? {}) as { readonly code?: unknown; readonly payload?: Partial<Failure<N, unknown>['payload']> | null };
  // A peer of an older version sends no mark, and of its declared errors only those without data look like other errors.
  return code === 'REMOTE' && payload?.name === name && (payload.declared ?? ('data' in payload || payload.message === name));
}

/**
 * Catches one declared error of a procedure, as `catchError` catches all. Other errors pass.
 *
 * @param project gets the data of the error
 *
 * @example
 * ```ts
 * calls.book({ seat: '12A' }).pipe(whenError(api.book, 'TAKEN', ({ by }) => of(`taken by ${by}`))).subscribe(console.log);
 * // taken by ann
 * ```
 */
export function whenError<X extends Procedure, N extends keyof ErrorsOf<X> & string, T, O extends ObservableInput<unknown>>(
  procedure: X,
  name: N,
  project: (data: CaughtData<X, N>, error: RemoteError) => O,
): OperatorFunction<T, T | ObservedValueOf<O>> {
  return catchError((error: unknown) => {
    if (isFailure(procedure, name, error)) return project(error.payload.data, error);
    throw error;
  });
}
