import { concatMap, identity, of } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { isPromise } from '../wire/cross-realm.js';
import { failure } from './failure.js';
import type { Issue } from './failure.js';
import type { SchemaIssue, SchemaResult, StandardSchemaV1 } from './standard-schema.js';

/** Returns what a schema makes of `value`, as a promise where the schema needs time. Throws, or rejects with, the error `INVALID`. */
export type Check = (value: unknown) => unknown;

/** @param what names the value in the error, such as `the payload of 'square'` */
export function checkBy(schema: StandardSchemaV1 | undefined, what: string): Check {
  if (schema === undefined) return identity;
  const settle = (result: SchemaResult<unknown>): unknown => {
    if (result.issues) throw invalid(what, result.issues.map(toIssue));
    return result.value;
  };
  return (value) => {
    const result = schema['~standard'].validate(value);
    return isPromise(result) ? result.then(settle) : settle(result);
  };
}

/** Checks each value, in order. */
export function checkEach(check: Check): MonoTypeOperatorFunction<unknown> {
  if (check === identity) return identity;
  return concatMap((value) => {
    const checked = check(value);
    return isPromise(checked) ? checked : of(checked);
  });
}

function invalid(what: string, issues: readonly Issue[]): Error {
  const lines = issues.map(({ message, path }) => [...path, message].join(': '));
  return failure('INVALID', `${what} is invalid: ${lines.join(', ')}`, issues);
}

/** Keeps what the wire can carry: a schema's issues may hold the value itself, and keys that are symbols. */
function toIssue({ message, path = [] }: SchemaIssue): Issue {
  const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment));
  return { message, path: keys.map((key) => (typeof key === 'symbol' ? String(key) : key)) };
}
