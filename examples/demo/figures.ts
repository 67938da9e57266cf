const KIB = 1024;

/** `3.4 ms` */
export function milliseconds(ms: number): string {
  return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

/** `1.7 s` */
export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** `200 KiB`, `64.0 MiB`, `7.6 GiB` */
export function size(bytes: number): string {
  if (bytes < KIB ** 2) return `${(bytes / KIB).toFixed(0)} KiB`;
  if (bytes < KIB ** 3) return `${(bytes / KIB ** 2).toFixed(1)} MiB`;
  return `${(bytes / KIB ** 3).toFixed(1)} GiB`;
}

/** `p50 0.2 ms, max 3.4 ms` of some waits in ms. */
export function spread(waits: readonly number[]): string {
  const sorted = [...waits].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  return `p50 ${milliseconds(median)}, max ${milliseconds(sorted.at(-1) ?? NaN)}`;
}
