/** Returns the bytes still in use after garbage collection. */
export async function heapUsed(): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('expected node --expose-gc, got no gc()');
  // The second collection frees what the first has finalized.
  for (let nth = 0; nth < 3; nth++) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  return process.memoryUsage().heapUsed;
}

/** Formats bytes as MB, with a sign. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(2)} MB`;
}
