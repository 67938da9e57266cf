/** The instruction of a stream's opener to the handler. */
export interface Order {
  /** Different for every call. A repeated call keeps its number. */
  readonly call: number;
  readonly plan: Plan;
  readonly text: string;
}

/**
 * `hold` waits for a command, `return` returns at once, `throw` fails, `echo` answers at once.
 * `refuse` refuses the first time, and waits the next time.
 */
export type Plan = 'hold' | 'return' | 'throw' | 'echo' | 'refuse';

export const PLANS: readonly Plan[] = ['hold', 'hold', 'hold', 'return', 'throw', 'echo', 'refuse'];

/** The order in the payload of an open; `null` when no opener of the model sent it. */
export function orderOf(payload: unknown): Order | null {
  return typeof payload === 'object' && payload !== null && 'call' in payload ? (payload as Order) : null;
}
