/** Bytes that are still in use once all garbage is gone. */
export async function heapUsed(): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('expected node --expose-gc, got no gc()');
  // What the first collection finalizes, the next one frees.
  for (let nth = 0; nth < 3; nth++) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  return process.memoryUsage().heapUsed;
}

/** A number of bytes as MB, with its sign. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(2)} MB`;
}
