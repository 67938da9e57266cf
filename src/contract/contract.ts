import { checkObject } from '../wire/check.js';
import type { Procedure } from './procedure.js';

/** Procedures by their names. A namespace is a contract within a contract: `chat: { send }` is called `chat.send`. */
export interface Contract {
  readonly [name: string]: Procedure | Contract;
}

/** The names of all procedures, such as `'square' | 'chat.send'`. */
export type NamesOf<C> = { [N in keyof C & string]: C[N] extends Procedure ? N : `${N}.${NamesOf<C[N]>}` }[keyof C & string];

/** A name may hold no dot, which parts namespaces. An object with a `then` would pass for a promise. */
const BAD_NAME = /^(then)?$|\./;

/**
 * Declares the calls that one peer answers. Both ends import it: `client` makes calls of it, and `answer` takes its answers.
 *
 * @returns `api`, frozen
 * @throws TypeError for a name that is empty, `then` or holds a dot; for a value other than procedures and namespaces; for an `api` that
 *   is no object
 *
 * @example
 * ```ts
 * export const api = contract({
 *   square: request<{ n: number }, number>(),
 *   chat: { lines: stream<{ room: string }, string>() },   // calls.chat.lines({ room: 'all' })
 * });
 * ```
 */
export function contract<C extends Contract>(api: C): C {
  for (const [name, value] of Object.entries<unknown>(checkObject('contract', api))) {
    if (BAD_NAME.test(name)) throw new TypeError(`expected a name without dots other than 'then', got '${name}'`);
    const entry = checkEntry(name, value as Procedure | Contract);
    if (!isProcedure(entry)) contract(entry);
  }
  // A module (`import * as chat`) is a namespace too. It cannot be frozen, and does not change.
  return Object.isExtensible(api) ? Object.freeze(api) : api;
}

/** @throws TypeError for a value that is neither a procedure nor a namespace, such as an answer in the place of its contract */
export function checkEntry(name: string, value: Procedure | Contract): Procedure | Contract {
  return checkObject(name, value, 'a procedure or a namespace');
}

/** Whether a value is a procedure, not a namespace. A namespace may hold a procedure named `kind`. */
export function isProcedure(value: Procedure | Contract): value is Procedure {
  return typeof value.kind === 'string';
}

/** Whether an object is a contract, at least one procedure in it. */
export function isContract(value: object): value is Contract {
  return Object.values(value).some(
    (entry: unknown) => typeof entry === 'object' && entry !== null && (isProcedure(entry as Contract) || isContract(entry)),
  );
}

/** The names of all procedures, such as `chat.lines`. */
export function namesIn(api: Contract, prefix = ''): string[] {
  return Object.entries(api).flatMap(([name, entry]) => (isProcedure(entry) ? [prefix + name] : namesIn(entry, `${prefix}${name}.`)));
}
