/** How long a run is to be. */
export interface SoakOptions {
  /** Half a minute in all, for a smoke test. */
  readonly quick: boolean;
  /** Of the parts that go by time. */
  readonly minutes: number;
  /** Of the part that plays commands, in place of minutes; `null` goes by minutes. */
  readonly commands: number | null;
}

/** What one part found. */
export interface SoakResult {
  /** One line for people. */
  readonly figures: string;
  /** What is wrong, or `null`. */
  readonly fault: string | null;
}

/** One part of the long run. It leaves nothing behind that keeps the process. */
export type SoakPart = (options: SoakOptions) => Promise<SoakResult>;
