/** The value below which a share of the values lies. For an even number, the median is the mean of the two in the middle. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return NaN;
  const sorted = Float64Array.from(values).sort();
  const place = (sorted.length - 1) * share;
  const below = Math.floor(place);
  const [low = NaN, high = low] = sorted.subarray(below, below + 2);
  return low + (high - low) * (place - below);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The median of the ratios of one round each. Leaves out rounds that lack either figure. */
export function medianRatio(rounds: readonly (readonly [value: number | undefined, reference: number | undefined])[]): number {
  return median(rounds.map(([value = NaN, reference = NaN]) => value / reference).filter((ratio) => Number.isFinite(ratio)));
}

/** The straight line nearest to the points in least squares: `y = intercept + slope · x`. */
export function leastSquares(points: readonly (readonly [x: number, y: number])[]): { readonly slope: number; readonly intercept: number } {
  const meanX = mean(points.map(([x]) => x));
  const meanY = mean(points.map(([, y]) => y));
  const covariance = mean(points.map(([x, y]) => (x - meanX) * (y - meanY)));
  const variance = mean(points.map(([x]) => (x - meanX) ** 2));
  const slope = covariance / variance;
  return { slope, intercept: meanY - slope * meanX };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
