/** What the opener of a stream tells the handler to do. */
export interface Order {
  /** Different for every call; the same when a call is made again. */
  readonly call: number;
  readonly plan: Plan;
  readonly text: string;
}

/** Waits to be told; returns at once; fails; answers at once; refuses when it is asked for the first time, and then waits. */
export type Plan = 'hold' | 'return' | 'throw' | 'echo' | 'refuse';

export const PLANS: readonly Plan[] = ['hold', 'hold', 'hold', 'return', 'throw', 'echo', 'refuse'];

/** The order that an open carried; `null` for what no opener of the model sent. */
export function orderOf(payload: unknown): Order | null {
  return typeof payload === 'object' && payload !== null && 'call' in payload ? (payload as Order) : null;
}
