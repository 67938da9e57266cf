/** Errors that belong to another call than the one that they ended. */
const disclaimed = new WeakSet();

/** Marks an error as another call's. Its `retriable` says nothing about this call, so this call is not repeated. */
export function disclaim(error: unknown): void {
  // Reads no property: a getter of a thrown value may throw.
  if (typeof error === 'object' && error !== null) disclaimed.add(error);
}

export function isDisclaimed(error: object): boolean {
  return disclaimed.has(error);
}
