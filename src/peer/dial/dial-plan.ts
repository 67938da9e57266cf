import type { Connectivity } from '../../transport/connectivity.js';
import type { Transport } from '../../transport/transport.js';
import type { DialContext } from './attempt.js';
import type { Backoff } from './backoff.js';
import type { Hello } from './hello.js';

/** An address, or a function that returns the address for each dial. */
export type ConnectUrl = string | URL | ((context: DialContext) => string | URL | Promise<string | URL>);

/** How and where to dial. */
export interface DialPlan {
  readonly url: ConnectUrl;
  readonly open: (url: string, protocol: string) => Transport;
  /** `null` if the peer closes when its first socket ends. */
  readonly backoff: Backoff | null;
  readonly hello: ((context: DialContext) => Hello | Promise<Hello>) | undefined;
  readonly connectTimeoutMs: number;
  readonly helloTimeoutMs: number;
  readonly lazy: boolean;
  /** How long a socket without an open stream stays, in ms; 0 is for ever. */
  readonly idleCloseMs: number;
  readonly connectivity: Connectivity;
}
