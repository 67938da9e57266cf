import type { RunHelpers } from 'rxjs/testing';
import { isContract, namesIn } from '../contract/contract.js';
import type { Contract, NamesOf } from '../contract/contract.js';
import type { Arriving } from '../contract/client.js';
import { PEER_OPTIONS } from '../peer/options.js';
import type { PeerOptions } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import type { Metadata } from '../wire/frame.js';
import { isCall } from '../stream/end.js';
import { checkFunction, checkObject, optionError } from '../util/check.js';
import { checkOptions, refuseUnknown } from '../util/check.js';
import { fakeAnswers } from './fake-answers.js';

/** One call of the program under test. */
export interface FakeCall {
  /** The row that answered, such as `request sum`; the bare name of the call if no row did. */
  readonly row: string;
  /** The payload of the open; `null` if it had none. */
  readonly payload: unknown;
  /** The headers of the open. */
  readonly headers: Readonly<Metadata>;
  /** The values that the program sent after the open, in order. */
  readonly sent: readonly unknown[];
  /**
   * Whether the program ended the call before the answer was complete: it unsubscribed or aborted, its time was up, or its own input
   * failed.
   */
  readonly cancelled: boolean;
}

/** A peer for the program under test, and what the program did with it. */
export interface FakePeer<Row extends string = string> {
  /** The peer for the program under test. */
  readonly peer: Peer;
  /** The rows, by their keys. `expectSubscriptions` takes their subscriptions as for any cold Observable: there is one for each call. */
  readonly answers: Readonly<Record<Row, ReturnType<RunHelpers['cold']>>>;
  /** Every call so far, in order. */
  readonly calls: readonly FakeCall[];
}

/**
 * The row of one procedure: marbles, with the values of their letters and the error of `#` where it has its own. Make that error with
 * `fail`.
 */
export type ContractRow<Value> = string | readonly [marbles: string, values?: Readonly<Record<string, Value>> | undefined, error?: unknown];

type ContractRows = Readonly<Record<string, ContractRow<unknown>>>;

/** The type of the values that answer the procedure of a name. */
export type RowValue<C, Name extends string> = Name extends `${infer Space}.${infer Rest}`
  ? Space extends keyof C
    ? RowValue<C[Space], Rest>
    : never
  : Name extends keyof C
    ? Answered<C[Name]>
    : never;

type Answered<X> = X extends { readonly '~types'?: readonly [unknown, infer Output, unknown?] } ? Arriving<Output, true, X> : never;

/** Options of a fake peer. */
export interface FakePeerOptions extends PeerOptions {
  /** Values for the letters of all rows. If present, it must name every letter, as with rxjs's `cold`. Default: the letters themselves. */
  readonly values?: Readonly<Record<string, unknown>> | undefined;
  /**
   * The error of `#`, as a handler would throw it. The name and the message of an Error arrive; for a payload of your own, pass a
   * ResetError.
   */
  readonly error?: unknown;
  /** The name of a call. Default: the payload if it is a string, else its `op`. */
  readonly name?: ((payload: unknown) => string) | undefined;
}

/**
 * Makes a peer whose answers are rows of marbles, for testing a user interface without any frames. The key of a row is a word of your
 * choice and the name of a call. The row answers every call of that name, each from the start of the row.
 *
 * A call that no row answers is refused, with an error that lists the rows.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option and for two rows of one call's name
 *
 * @example
 * ```ts
 * scheduler.run((helpers) => {
 *   const { peer, answers, calls } = fakePeer(helpers, { 'open prices': '--a-b-|', 'request sum': '--r|' });
 *   helpers.expectObservable(peer.open$('prices').pipe(take(1))).toBe('--(a|)');
 *   helpers.expectSubscriptions(answers['open prices'].subscriptions).toBe('^-!');
 *   helpers.flush();
 *   calls;   // [{ row: 'open prices', payload: 'prices', headers: {}, sent: [], cancelled: true }]
 * });
 * ```
 */
export function fakePeer<Row extends string>(
  helpers: Pick<RunHelpers, 'cold'>,
  rows: Readonly<Record<Row, string>>,
  options?: FakePeerOptions,
): FakePeer<Row>;
/**
 * A peer whose answers to a contract are rows of marbles. A row's key is the name of a procedure, such as `price` or `chat.lines`, and
 * its values have the type that the procedure declares.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option and for a row of an unknown procedure
 *
 * @example
 * ```ts
 * scheduler.run((helpers) => {
 *   const { peer, calls } = fakePeer(helpers, api, { price: ['--a-b-|', { a: 11, b: 12 }] });
 *   helpers.expectObservable(client(peer, api).price({ symbol: 'X' }).pipe(take(1))).toBe('--(a|)', { a: 11 });
 *   helpers.flush();
 *   calls;   // [{ row: 'price', payload: { symbol: 'X' }, headers: {}, sent: [], cancelled: true }]
 * });
 * ```
 */
export function fakePeer<C extends Contract, Row extends NamesOf<C>>(
  helpers: Pick<RunHelpers, 'cold'>,
  api: C,
  rows: { readonly [Name in Row]: ContractRow<RowValue<C, Name>> },
  options?: Omit<FakePeerOptions, 'name'>,
): FakePeer<Row>;
export function fakePeer(
  helpers: Pick<RunHelpers, 'cold'>,
  given: Contract | Readonly<Record<string, string>>,
  second: object = {},
  third: FakePeerOptions = {},
): FakePeer {
  if (typeof (helpers as { readonly cold?: unknown } | null)?.cold !== 'function')
    throw optionError('helpers', 'the helpers of TestScheduler.run', helpers);
  checkObject('rows', given);
  return isContract(given) ? fakeContract(helpers, given, second as ContractRows, third) : fakeRows(helpers, given, second);
}

/** The names of options that a contract's rows take, beyond the options of the peer. */
const CONTRACT_NAMES = { values: true, error: true };

function fakeRows(helpers: Pick<RunHelpers, 'cold'>, rows: Readonly<Record<string, string>>, options: FakePeerOptions): FakePeer {
  checkOptions(options, { ...CONTRACT_NAMES, name: true }, PEER_OPTIONS);
  const { values, error, name = nameOf, ...shared } = options;
  checkFunction('name', name);
  const named = rowsByName(rows);
  const answers = Object.entries(rows).map(([row, answer]) => [row, helpers.cold<unknown>(answer, values, error)] as const);
  const fakes = { answers: Object.fromEntries(answers), rowOf: (called: string) => named.get(called), nameOf: name };
  return fakeAnswers({ ...fakes, payloadOf: (payload) => payload }, shared);
}

function fakeContract(
  helpers: Pick<RunHelpers, 'cold'>,
  api: Contract,
  rows: ContractRows,
  options: Omit<FakePeerOptions, 'name'>,
): FakePeer {
  refuseUnknown('rows', checkObject('rows', rows), Object.fromEntries(namesIn(api).map((name) => [name, true])));
  checkOptions(options, CONTRACT_NAMES, PEER_OPTIONS);
  const { values, error, ...shared } = options;
  const answers = Object.entries(rows).map(([row, given]) => {
    const [answer, ownValues = values, ownError = error] = Array.isArray(given) ? (given as Exclude<typeof given, string>) : [given];
    if (typeof answer !== 'string') throw optionError(`rows['${row}']`, 'marbles, or [marbles, values, error]', answer);
    return [row, helpers.cold<unknown>(answer, ownValues, ownError)] as const;
  });
  const fakes = { answers: Object.fromEntries(answers), rowOf: (called: string) => (Object.hasOwn(rows, called) ? called : undefined) };
  const nameOfCall = (payload: unknown): string => (isCall(payload) ? payload[0] : nameOf(payload));
  return fakeAnswers({ ...fakes, nameOf: nameOfCall, payloadOf: (payload) => (isCall(payload) ? (payload[1] ?? null) : payload) }, shared);
}

function rowsByName(rows: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  for (const [row, answer] of Object.entries(rows)) {
    if (typeof answer !== 'string') throw optionError(`rows['${row}']`, 'marbles', answer);
    const called = row.slice(row.indexOf(' ') + 1);
    const other = named.get(called);
    if (other !== undefined) throw new TypeError(`rows: expected one for calls named '${called}', got '${other}' and '${row}'`);
    named.set(called, row);
  }
  return named;
}

function nameOf(payload: unknown): string {
  if (typeof payload === 'string') return payload;
  const op: unknown = typeof payload === 'object' && payload !== null && 'op' in payload ? payload.op : null;
  return typeof op === 'string' ? op : JSON.stringify(payload);
}
