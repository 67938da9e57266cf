import { Session } from 'node:inspector/promises';
import type { Profiler } from 'node:inspector';
import { findSourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The time of one function itself, in µs. */
export interface FunctionTime {
  readonly name: string;
  /** The source of the function: a path, a `node:` module, or nothing for native code. */
  readonly file: string;
  readonly us: number;
}

/** Between two samples, in µs. */
const INTERVAL_US = 250;

/** Samples this process until the returned function is called, which resolves with the times. */
export async function startProfile(): Promise<() => Promise<FunctionTime[]>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
  await session.post('Profiler.start');
  return async () => {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    return summed(profile, sourceOf);
  };
}

type Place = Pick<Profiler.ProfileNode['callFrame'], 'url' | 'lineNumber' | 'columnNumber'>;

/** Sums a profile up by function, the largest first. Idle time does not count. */
export function summed({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, source: (place: Place) => string): FunctionTime[] {
  const selfUs = new Map<number, number>();
  samples.forEach((id, n) => selfUs.set(id, (selfUs.get(id) ?? 0) + (timeDeltas[n] ?? 0)));
  const found = new Map<string, FunctionTime>();
  for (const { id, callFrame } of nodes) {
    const { functionName } = callFrame;
    const us = selfUs.get(id) ?? 0;
    if (us <= 0 || functionName === '(idle)') continue;
    const file = source(callFrame);
    const key = `${file} ${functionName} ${callFrame.lineNumber}`;
    found.set(key, { name: functionName, file, us: us + (found.get(key)?.us ?? 0) });
  }
  return [...found.values()].sort((one, other) => other.us - one.us);
}

/** The source file behind a place in built code. */
function sourceOf({ url, lineNumber, columnNumber }: Place): string {
  const entry = url.startsWith('file:') ? findSourceMap(url)?.findEntry(lineNumber, columnNumber) : undefined;
  const source = entry !== undefined && 'originalSource' in entry ? String(entry.originalSource) : url;
  return source.startsWith('file:') ? fileURLToPath(source) : source;
}
