// api.ts, which both ends import
import { contract, request, stream } from 'rxmux/contract';

export const api = contract({
  square: request<{ n: number }, number>(),
  countdown: stream<{ from: number }, number>(),
});
