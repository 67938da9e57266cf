import { tap } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { respond } from '../peer/operators/respond.js';
import type { PeerOptions } from '../peer/base/options.js';
import type { Peer } from '../peer/peer.js';
import type { Stream } from '../peer/stream/stream.js';
import type { Metadata } from '../wire/frame.js';
import { checkFunction, checkObject, optionError } from '../wire/check.js';
import { ResetCode } from '../wire/reset-code.js';
import { createPair } from './pair.js';

/** One call of the program under test. */
export interface FakeCall {
  /** The row that answered, such as `request sum`; the bare name of the call if no row did. */
  readonly row: string;
  readonly payload: unknown;
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
  readonly peer: Peer;
  /** The rows, by their keys. `expectSubscriptions` takes their subscriptions as for any cold Observable: there is one for each call. */
  readonly answers: Readonly<Record<Row, ReturnType<RunHelpers['cold']>>>;
  /** Every call so far, in order. */
  readonly calls: readonly FakeCall[];
}

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
  options: FakePeerOptions = {},
): FakePeer<Row> {
  if (typeof (helpers as { readonly cold?: unknown } | null)?.cold !== 'function')
    throw optionError('helpers', 'those of TestScheduler.run', helpers);
  checkObject('rows', rows);
  checkObject('options', options);
  const { values, error, name = nameOf, ...shared } = options;
  checkFunction('name', name);
  const { dialer, acceptor } = createPair({ dialer: shared, ...(shared.codec === undefined ? {} : { codec: shared.codec }) });
  const calls: FakeCall[] = [];
  const named = rowsByName(rows);
  const answers: FakePeer['answers'] = Object.fromEntries(
    Object.entries<string>(rows).map(([row, answer]) => [row, helpers.cold<unknown>(answer, values, error)]),
  );
  acceptor.streams$
    .pipe(
      respond((payload, stream) => {
        const called = name(payload);
        const row = named.get(called);
        calls.push(callOf(row ?? called, stream));
        if (row !== undefined) return answers[row];
        stream.reset(ResetCode.REFUSED, `expected one of ${Object.keys(rows).join(', ')}, got a call named '${called}'`);
        return undefined;
      }),
    )
    .subscribe();
  return { peer: dialer, answers, calls };
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

/** Returns the record of a call. A test compares it with a literal object, so it has the call's own data and nothing else. */
function callOf(row: string, stream: Stream): FakeCall {
  const sent: unknown[] = [];
  stream.pipe(tap((value) => sent.push(value))).subscribe({ error: () => undefined });
  return {
    row,
    payload: stream.payload,
    headers: stream.headers,
    sent,
    get cancelled() {
      const { cause } = stream;
      return cause?.how === 'reset' && cause.by === 'remote';
    },
  };
}

function nameOf(payload: unknown): string {
  if (typeof payload === 'string') return payload;
  const op: unknown = typeof payload === 'object' && payload !== null && 'op' in payload ? payload.op : null;
  return typeof op === 'string' ? op : JSON.stringify(payload);
}
