// No file of this program imports `rxmux` itself.
import { answering, contract, request } from 'rxmux/contract';
import { serve } from 'rxmux/node';

declare module 'rxmux' {
  interface PeerContext {
    readonly user?: string;
  }
}

const api = contract({ me: request<void, string>() });
export const server = serve({ port: 0, ...answering(api, { me: (_, { context }) => context.user ?? 'a guest' }) });
