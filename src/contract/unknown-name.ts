import { whenUntaken } from '../peer/stream/untaken.js';
import type { Stream } from '../stream/stream.js';
import { oneLine } from '../wire/quoted.js';
import type { RemoteError } from '../wire/stream-errors.js';
import { failure } from './failure.js';
import { nearNames } from './near-names.js';

/** The names of the contracts that have seen a stream and do not know its name. */
const knownNames = new WeakMap<Stream, readonly string[]>();

/** Has a stream fail with `UNKNOWN` where no other contract and no handler of its peer takes it. */
export function leaveUnknown(stream: Stream, name: string, names: Iterable<string>): void {
  const known = [...(knownNames.get(stream) ?? []), ...names];
  knownNames.set(stream, known);
  whenUntaken(stream, () => unknownName(name, known));
}

function unknownName(name: string, known: readonly string[]): RemoteError {
  const near = nearNames(name, known);
  const hint = near.length === 0 ? '' : `; did you mean ${near.map((other) => `'${other}'`).join(' or ')}?`;
  return failure('UNKNOWN', `no '${oneLine(name)}'${hint}`, near);
}
