/** Errors that say nothing about the call that they ended. */
const disclaimed = new WeakSet();

/** Marks an error that ended a call as another call's: `retriable` speaks of that other call, so this one is not made again. */
export function disclaim(error: unknown): void {
  // Reads no property: a getter of a thrown value may throw.
  if (typeof error === 'object' && error !== null) disclaimed.add(error);
}

export function isDisclaimed(error: object): boolean {
  return disclaimed.has(error);
}
