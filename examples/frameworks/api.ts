import { channel, contract, request, stream } from 'rxmux/contract';

export interface Price {
  readonly symbol: string;
  readonly cents: number;
}

/** Both ends import it. */
export const api = contract({
  /** All prices first, and then those that change. */
  prices: stream<void, readonly Price[]>(),
  search: request<{ term: string }, readonly string[]>(),
  /** Emits how many bytes of the file have arrived. */
  store: channel<{ name: string }, Uint8Array, number>(),
});
