import { whenUntaken } from '../peer/answers.js';
import { isCall } from '../stream/end.js';
import type { Stream } from '../stream/stream.js';
import { checkObject, oneLine, optionError, refuseUnknown } from '../util/check.js';
import { didYouMean, nearNames } from '../util/near-names.js';
import { steadyNow } from '../util/time.js';
import type { RemoteError } from '../wire/errors.js';
import { failure } from './failure.js';
import type { CodecName, Over } from './carried.js';
import type { Kind, Procedure } from './procedure.js';

/** Procedures by their names. A namespace is a contract within a contract: `chat: { send }` is called `chat.send`. */
export interface Contract {
  readonly [name: string]: Procedure | Contract;
}

/** The names of all procedures, such as `'square' | 'chat.send'`. */
export type NamesOf<C> = { [N in keyof C & string]: C[N] extends Procedure ? N : `${N}.${NamesOf<C[N]>}` }[keyof C & string];

/** Options of a contract. */
export interface ContractOptions<K extends CodecName = CodecName> {
  /**
   * The codec of the peers that use the contract. Its types then say what arrives: over `json` a `Date` arrives as a text, and TypeScript
   * refuses bytes, a Map, a Set and a bigint. This names the codec for the types alone: the option `codec` of both ends sets it. Default
   * `'json'`.
   */
  readonly codec: K;
}

/**
 * Declares the calls that one peer answers. Both ends import it: `client` makes calls of it, and `answer` takes its answers.
 *
 * @param _options the codec of the peers, for the types alone. Default: a contract for `json`
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
export function contract<C extends Contract, K extends CodecName = 'json'>(
  api: C,
  _options?: ContractOptions<K>,
): K extends 'json' ? C : Over<C, K>;
export function contract(api: Contract): Contract {
  for (const [name, value] of Object.entries<unknown>(checkObject('contract', api))) {
    // A dot parts namespaces, and an object with a `then` would pass for a promise.
    if (/^(then)?$|\./.test(name)) throw new TypeError(`expected a name without dots other than 'then', got '${name}'`);
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

/** Names what each kind of procedure is declared with. */
const NAMES: Readonly<Record<Kind, object>> = {
  request: { payload: true, reply: true, errors: true },
  stream: { payload: true, item: true, errors: true },
  upload: { payload: true, input: true, reply: true, errors: true },
  channel: { payload: true, input: true, item: true, errors: true },
};

/** @throws TypeError for a misspelt schema, whose values would pass unchecked, and for a value that is no schema */
export function checkProcedure(name: string, procedure: Procedure): void {
  const { kind, ...members } = procedure;
  const schemas = new Map(Object.entries<unknown>(members));
  // A procedure has its reply or its item under this name, too. Another schema there is one that a program has misnamed.
  if (schemas.get('output') === (schemas.get('reply') ?? schemas.get('item'))) schemas.delete('output');
  const given = [...schemas].filter(([, value]) => value !== undefined);
  refuseUnknown(`${kind} '${name}'`, Object.fromEntries(given), NAMES[kind]);
  for (const [what, schema] of given) {
    if (what !== 'errors') checkSchema(`the ${what} of '${name}'`, schema);
    else for (const [error, data] of Object.entries(schema as object)) checkSchema(`the error '${error}' of '${name}'`, data);
  }
}

function checkSchema(what: string, schema: unknown): void {
  if (!('~standard' in Object(schema))) throw optionError(what, 'a schema', schema);
}

/** The header of an open that says how long its caller waits, in ms. */
export const TIMEOUT_HEADER = 'timeoutMs';

/** A contract opens a stream with the name of a procedure, and a value where there is one. */
export type Opened = readonly [name: string, value?: unknown];

/** The payload of an open. A name in the payload costs less than a name in a header. */
export function opening(name: string, value: unknown): Opened {
  return value === undefined ? [name] : [name, value];
}

/** The names of the contracts that have seen a stream and do not know its name. */
const knownNames = new WeakMap<Stream, readonly (readonly string[])[]>();

/** The most errors in {@link PERIOD_MS} that list near names: to find them costs several calls, and a remote chooses the names. */
const MOST_HINTS = 100;
const PERIOD_MS = 1_000;
const hints = { since: -Infinity, made: 0 };

function mayHint(): boolean {
  const now = steadyNow();
  if (now - hints.since >= PERIOD_MS) Object.assign(hints, { since: now, made: 0 });
  return hints.made++ < MOST_HINTS;
}

/**
 * Leaves a stream to other contracts and to the handler of its peer. Where none of them takes it, a call fails with `UNKNOWN`, and any
 * other payload is refused with the names of the calls.
 */
export function leaveUnknown(stream: Stream, opened: unknown, names: readonly string[]): void {
  const known = [...(knownNames.get(stream) ?? []), names];
  knownNames.set(stream, known);
  whenUntaken(stream, () => (isCall(opened) ? unknownName(opened[0], known) : noCall(known.flat())));
}

/** The most calls that a refusal names. */
const MOST_NAMED = 10;

function noCall(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  const [first = 'name'] = names;
  return `this side answers the contract calls ${names.slice(0, MOST_NAMED).join(', ')}${more}; a call is the payload ["${first}", value]`;
}

function unknownName(name: string, known: readonly (readonly string[])[]): RemoteError {
  const near = mayHint() ? nearNames(name, known.flat()) : [];
  return failure('UNKNOWN', `no '${oneLine(name)}'${didYouMean(near)}`, near);
}
