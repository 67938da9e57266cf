/** A point of a measured line. */
export interface Sample {
  readonly x: number;
  readonly y: number;
}

/** A straight line through samples, by least squares. */
export interface Slope {
  /** The rise of y per x. */
  readonly slope: number;
  readonly standardError: number;
  /** The distance of the slope from zero, in standard errors. */
  readonly t: number;
}

/** @throws RangeError for fewer than three samples, because a line fits any two */
export function slopeOf(samples: readonly Sample[]): Slope {
  const count = samples.length;
  if (count < 3) throw new RangeError(`expected three samples or more, got ${count}`);
  const meanX = mean(samples.map(({ x }) => x));
  const meanY = mean(samples.map(({ y }) => y));
  const spread = sum(samples.map(({ x }) => (x - meanX) ** 2));
  const slope = sum(samples.map(({ x, y }) => (x - meanX) * (y - meanY))) / spread;
  const residuals = sum(samples.map(({ x, y }) => (y - meanY - slope * (x - meanX)) ** 2));
  const standardError = Math.sqrt(residuals / (count - 2) / spread);
  return { slope, standardError, t: standardError === 0 ? Math.sign(slope) * Infinity || 0 : slope / standardError };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function mean(numbers: readonly number[]): number {
  return sum(numbers) / numbers.length;
}
