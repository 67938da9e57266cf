/** Makes a name for a life of a log: the cursors of another life are lost. */
export function newEpoch(): string {
  return Math.random().toString(36).slice(2, 10);
}

/** The number in a cursor such as `k3f:12`; NaN for any other value. */
export function numberOf(cursor: unknown): number {
  return typeof cursor === 'string' ? Number(/^[a-z0-9]+:(\d+)$/.exec(cursor)?.[1]) : NaN;
}
