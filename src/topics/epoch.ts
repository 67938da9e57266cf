/** Makes a name for a life of a log: the cursors of another life are lost. */
export function newEpoch(): string {
  return Math.random().toString(36).slice(2, 10);
}

/** The number in a cursor such as `k3f:12`; NaN for another text. */
export function numberOf(cursor: string): number {
  return Number(/^[a-z0-9]+:(\d+)$/.exec(String(cursor))?.[1]);
}
