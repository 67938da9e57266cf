import { optionError } from '../wire/check.js';
import { refuseUnknown } from '../util/check.js';
import type { Kind, Procedure } from './procedure.js';

/** Names what each kind of procedure is declared with. */
const NAMES: Readonly<Record<Kind, object>> = {
  request: { payload: true, reply: true, errors: true },
  stream: { payload: true, item: true, errors: true },
  upload: { payload: true, input: true, reply: true, errors: true },
  channel: { payload: true, input: true, item: true, errors: true },
};

/** The members of a procedure beside its schemas. */
const OWN_KEYS: ReadonlySet<string> = new Set(['kind', 'output']);

/** @throws TypeError for a misspelt schema, whose values would pass unchecked, and for a value that is no schema */
export function checkProcedure(name: string, procedure: Procedure): void {
  const { kind } = procedure;
  const given = Object.entries(procedure).filter(([key, value]) => !OWN_KEYS.has(key) && value !== undefined);
  refuseUnknown(`${kind} '${name}'`, Object.fromEntries(given), NAMES[kind]);
  for (const [what, schema] of given)
    if (what !== 'errors' && !('~standard' in Object(schema))) throw optionError(`the ${what} of '${name}'`, 'a schema', schema);
}
