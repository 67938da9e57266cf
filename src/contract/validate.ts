import { catchError, concatMap, identity, map } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { isThenable } from '../util/check.js';
import { failure } from './failure.js';
import type { Issue } from './failure.js';
import type { SchemaIssue, StandardSchemaV1 } from './procedure.js';

/**
 * Returns what a schema makes of `value`, as a promise where the schema needs time. Throws, or rejects with, the error `INVALID`, and a
 * TypeError where the schema's verdict is none: only a clear yes passes.
 */
export type Check = (value: unknown) => unknown;

/** Whether a check passes every value as it is. */
export function isUnchecked(check: Check): boolean {
  return check === identity;
}

/** @param what names the value in the error, such as `the payload of 'square'` */
export function checkBy(schema: StandardSchemaV1 | undefined, what: string): Check {
  if (schema === undefined) return identity;
  const check = (value: unknown, ofNull?: readonly SchemaIssue[]): unknown => {
    const settle = (verdict: unknown): unknown => {
      const given = Object(verdict) as { readonly issues?: unknown; readonly value?: unknown };
      const { issues } = given;
      if (issues === undefined && 'value' in given) return given.value;
      if (!Array.isArray(issues)) throw new TypeError(`the schema of ${what}: expected { value } or { issues }, got neither`);
      // `undefined` arrives as `null`, so a schema that refuses `null` may accept `undefined`.
      if (value === null) return check(undefined, issues);
      throw invalid(what, ofNull ?? issues);
    };
    const result = schema['~standard'].validate(value);
    return isThenable(result) ? Promise.resolve(result).then(settle) : settle(result);
  };
  return check;
}

/** Checks a value. `refuse` throws for a value that does not fit, at once or once a schema has decided. */
export function checkOr(check: Check, value: unknown, refuse: (error: unknown) => never): unknown {
  try {
    const checked = check(value);
    return isThenable(checked) ? Promise.resolve(checked).catch(refuse) : checked;
  } catch (error) {
    return refuse(error);
  }
}

/** Checks each value, in order. The error of the source waits its turn as a value does: `concatMap` alone would drop the values before it. */
export function checkEach(check: Check): MonoTypeOperatorFunction<unknown> {
  if (check === identity) return identity;
  return (source) =>
    source.pipe(
      map((value) => () => check(value)),
      catchError((error) => [
        () => {
          throw error;
        },
      ]),
      concatMap((run) => {
        const value = run();
        return isThenable(value) ? value : [value];
      }),
    );
}

/** Lists 100 issues at most: a small value may have a million. */
function invalid(what: string, all: readonly SchemaIssue[]): Error {
  const issues = all.slice(0, 100).map(toIssue);
  return failure('INVALID', `${what} is invalid: ${issues.map(({ message, path }) => path.concat(message).join(': ')).join(', ')}`, issues);
}

/** Keeps what the wire can carry: a schema's issues may hold the value itself, and keys that are symbols. */
function toIssue({ message, path = [] }: SchemaIssue): Issue {
  // Not `path.map`: the paths of arktype are a class of arrays, which makes a wrong copy of an empty one.
  const keyOf = (segment: PropertyKey | { readonly key?: PropertyKey }): PropertyKey =>
    (segment as { readonly key?: PropertyKey }).key ?? (segment as PropertyKey);
  return { message, path: Array.from(path, keyOf).map((key) => (typeof key === 'symbol' ? String(key) : key)) };
}
