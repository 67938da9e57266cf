/** The outcome of a promise. */
export type Settled = { readonly value: unknown } | { readonly error: unknown };

/** Resolves with the outcome of a promise, be it a value or an error. */
export function settled(promise: Promise<unknown>): Promise<Settled> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

/** The outcome of a promise so far; updated when the promise settles. */
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

/** A promise, typed as the result of a callback that ignores its type. */
export function promised(error?: Error): undefined {
  return (error === undefined ? Promise.resolve() : Promise.reject(error)) as unknown as undefined;
}
