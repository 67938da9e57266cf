/** The length of a run. */
export interface SoakOptions {
  /** Half a minute in all, for a smoke test. */
  readonly quick: boolean;
  /** The time for the parts that are measured by time. */
  readonly minutes: number;
  /** The number of commands for the part that plays them, instead of minutes; `null` uses minutes. */
  readonly commands: number | null;
  /** The seed of random commands. */
  readonly seed: number;
}

/** The result of one part. */
export interface SoakResult {
  /** One line for people. */
  readonly figures: string;
  /** The fault, or `null`. */
  readonly fault: string | null;
}

/** One part of the long run. It leaves nothing that keeps the process alive. */
export type SoakPart = (options: SoakOptions) => Promise<SoakResult>;
