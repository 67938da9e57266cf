import { catchError, identity } from 'rxjs';
import { declaredError, isDeclared, report } from '../stream/end.js';
import { observableFrom, promisedBy, pullSource, refuseBytes } from '../stream/input.js';
import type { Source } from '../stream/input.js';
import { SharedPayload } from '../stream/payload.js';
import { Stream } from '../stream/stream.js';
import { isThenable, oneLine } from '../util/check.js';
import { RemoteError, isMuxError } from '../wire/errors.js';
import type { AnsweredCall } from './call.js';
import { CheckedItems } from './checked-items.js';
import type { Refine } from './checked-items.js';
import { failure } from './failure.js';
import type { CommonErrors, Failure } from './failure.js';
import { isReply } from './procedure.js';
import type { Kind, Procedure } from './procedure.js';
import { checkBy, checkEach, checkOr, isUnchecked } from './validate.js';
import type { Check } from './validate.js';

/** The most characters of the issues in a line of the log. */
const MOST_LOGGED = 2_000;

/** Makes the check of what an answer sends. A {@link SharedPayload} is checked once for all its streams, which still share its bytes. */
export function checkOutput({ kind, output }: Procedure, name: string): Check {
  const check = checkBy(output, `${outputOf(kind)} of '${name}'`);
  if (isUnchecked(check)) return check;
  const known = new WeakMap<SharedPayload, unknown>();
  return (value) => {
    if (!(value instanceof SharedPayload)) return check(value);
    if (known.has(value)) return known.get(value);
    const share = (made: unknown): SharedPayload => (made === value.value ? value : value.with(made));
    const checked = check(value.value);
    const shared = isThenable(checked) ? Promise.resolve(checked).then(share) : share(checked);
    known.set(value, shared);
    return shared;
  };
}

function outputOf(kind: Kind): string {
  return isReply(kind) ? 'the reply' : 'an item';
}

/** Returns the check of one call's output. */
export function checkFor(call: AnsweredCall, check: Check): Check {
  if (isUnchecked(check)) return check;
  const { kind, name } = call;
  const refuse = refuseFor(call, isReply(kind) ? 'reply' : 'item', `${outputOf(kind)} of '${name}'`);
  return (value) => checkOr(check, value, refuse);
}

/**
 * A value that does not fit is a fault of this side: its log shows the issues, and the caller gets `INTERNAL` without them, because they
 * may hold parts of the value.
 */
function refuseFor({ name, stream }: AnsweredCall, what: string, value: string): (error: unknown) => never {
  return (error) => {
    // Any other error is the schema's own, which the log shows like the error of an answer.
    if (!(error instanceof RemoteError)) throw error;
    const fault = new TypeError(oneLine(error.message, MOST_LOGGED));
    // No line of the stack is the program's.
    fault.stack = String(fault);
    report(fault, Stream.streamCore(stream), `'${name}' sends an invalid ${what}`);
    throw failure('INTERNAL', `${value} does not fit its schema: the answering side's log has the issues`);
  };
}

/** The checks of the data of declared errors, by the names of the errors. */
export type ErrorChecks = ReadonlyMap<string, Check>;

/** The library makes these errors, and a schema of their name decides about none of them. */
const COMMON: ReadonlySet<string> = new Set<keyof CommonErrors>(['INVALID', 'UNKNOWN', 'INTERNAL']);

/** Makes the checks of a procedure's declared errors; `null` where it has no schemas of errors. */
export function checkErrors({ errors = {} }: Procedure, name: string): ErrorChecks | null {
  const schemas = Object.entries(errors).filter(([error]) => !COMMON.has(error));
  return schemas.length === 0 ? null : new Map(schemas.map(([error, schema]) => [error, checkBy(schema, dataOf(error, name))]));
}

function dataOf(error: string, name: string): string {
  return `the data of the error '${error}' of '${name}'`;
}

/** Returns the check of one call's declared errors; `null` where nothing is checked. Other errors pass, and all of a call that has ended. */
export function refineFor(call: AnsweredCall, checks: ErrorChecks | null): Refine | null {
  if (checks === null) return null;
  return (error) => {
    const told = toldBy(error);
    const check = told === null || call.stream.cause !== null ? undefined : checks.get(told.name);
    if (told === null || check === undefined) throw error;
    const pass = (data: unknown): never => {
      throw data === told.data ? error : withData(error as RemoteError, told, data);
    };
    const data = checkOr(check, told.data, refuseFor(call, `error '${told.name}'`, dataOf(told.name, call.name)));
    return isThenable(data) ? Promise.resolve(data).then(pass) : pass(data);
  };
}

type Told = Failure<string, unknown>['payload'];

/** The payload of an error that the caller would see as a declared one: of `fail`, or passed on from another peer. */
function toldBy(error: unknown): Told | null {
  if (!isMuxError(error) || error.code !== 'REMOTE') return null;
  const payload = error.payload as Told | null;
  return payload?.declared === true ? payload : null;
}

function withData(error: RemoteError, { name, message }: Told, data: unknown): RemoteError {
  const payload = { name, message, ...(data === undefined ? {} : { data }), declared: true };
  const made = new RemoteError(error.reason, payload, { streamId: error.streamId, cause: error });
  return isDeclared(error) ? declaredError(made) : made;
}

/** Passes an answer's input on with its errors refined. An input that would be pulled stays so. */
export function refineInput(input: Source<unknown> | Blob, refine: Refine | null): Source<unknown> | Blob {
  if (refine === null) return input;
  const promise = promisedBy(input);
  if (promise !== null) return promise.catch(refine);
  refuseBytes(input);
  const source = pullSource(Object(input) as object);
  return source === null
    ? observableFrom(input as Source<unknown>).pipe(catchError((error: unknown) => refine(error)))
    : new CheckedItems(source, identity, refine);
}

/** Checks items on their way out. Items that would be pulled stay so. */
export function checkItems(items: Source<unknown> | Blob, check: Check): Source<unknown> | Blob {
  if (isUnchecked(check)) return items;
  refuseBytes(items);
  const source = pullSource(Object(items) as object);
  return source === null ? observableFrom(items as Source<unknown>).pipe(checkEach(check)) : new CheckedItems(source, check);
}
