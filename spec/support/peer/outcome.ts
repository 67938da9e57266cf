/** What became of a promise. */
export type Settled = { readonly value: unknown } | { readonly error: unknown };

/** Resolves with what a promise came to, whichever it is. */
export function settled(promise: Promise<unknown>): Promise<Settled> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

/** What has become of a promise so far; filled in when it settles. */
export function progressOf(promise: Promise<unknown>): { readonly settled: boolean; readonly error: unknown } {
  const progress: { settled: boolean; error: unknown } = { settled: false, error: null };
  promise.then(
    () => {
      progress.settled = true;
    },
    (error: unknown) => {
      progress.settled = true;
      progress.error = error;
    },
  );
  return progress;
}
