import { Mismatch } from './mismatch.js';
import type { Plan } from './run.js';
import type { Run } from './steps.js';

/** The agreed payloads. `bye` comes last, because it ends the connection. */
const PROBES: readonly (readonly [name: string, payload: readonly unknown[]])[] = [
  ['echo', ['check.echo', 'probe']],
  ['sink', ['check.sink']],
  ['hold', ['check.hold', 0]],
  ['call', ['check.call', 'probe']],
  ['bye', ['check.bye']],
];

/** A target on a busy machine is given this long, in ms, because a missed answer would hide rows. */
const LEAST_WAIT_MS = 5_000;

/**
 * Tries the agreed payloads on one connection, and returns their names if the target sends data, right or wrong.
 *
 * @throws Mismatch if there is no connection
 */
export async function offeredBy({ codec, target: makeTarget, ...plan }: Plan): Promise<ReadonlySet<string>> {
  const withinMs = Math.max(plan.withinMs, LEAST_WAIT_MS);
  const target = makeTarget();
  const run: Run = {
    codec,
    each: null,
    count: 0,
    target,
    sent: [],
    withinMs,
    wire: () => Promise.reject(new Mismatch('one connection', 'two')),
  };
  const offered = new Set<string>();
  try {
    const wire = await target.connect(run);
    for (const [at, [name, payload]] of PROBES.entries()) {
      const stream = 2 * at + 1;
      wire.send(codec.encode({ type: 'open', stream, end: true, payload }));
      let got = await wire.take((frame) => frame['stream'] === stream || frame['type'] === 'open', withinMs);
      if (got?.['type'] === 'open') {
        wire.send(codec.encode({ type: 'data', stream: got['stream'], end: true, payload: null }));
        got = await wire.take((frame) => frame['stream'] === stream, withinMs);
      }
      if (got?.['type'] === 'data') offered.add(name);
    }
    return offered;
  } finally {
    target.dispose();
  }
}
