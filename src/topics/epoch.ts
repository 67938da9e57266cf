import { randomInt32 } from '../util/random.js';

/** Makes a name for a life of a log, of 64 random bits: the cursors of another life are lost. */
export function newEpoch(): string {
  return [randomInt32(), randomInt32()].map((bits) => (bits >>> 0).toString(36)).join('');
}

/** The number in a cursor such as `k3f:12`; NaN for any other value. */
export function numberOf(cursor: unknown): number {
  return typeof cursor === 'string' ? Number(/^[a-z0-9]+:(\d+)$/.exec(cursor)?.[1]) : NaN;
}
