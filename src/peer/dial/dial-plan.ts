import type { Observable } from 'rxjs';
import type { Session } from '../../connection/connection.js';
import type { Connectivity } from '../../transport/connectivity.js';
import type { Transport } from '../../transport/transport.js';
import type { CloseReason } from '../../wire/close-reason.js';
import type { PeerCore } from '../core.js';
import type { Backoff } from './backoff.js';
import type { Hello, MakeHello } from '../hello.js';

/** A dial, and the history of the dials before it. */
export interface DialContext {
  /** 1, 2, … since the last stable socket. */
  readonly attempt: number;
  /** The number of sockets that were open before this dial. */
  readonly reconnects: number;
  /** Why the last socket ended, or the last dial failed. */
  readonly last: CloseReason | null;
  /** Aborts when the peer abandons this dial. */
  readonly signal: AbortSignal;
}

/** The first stream of every socket. */
export interface Greeting {
  readonly make: MakeHello;
  /** How long the hello and its reply may take together, in ms; 0 is no limit. */
  readonly timeoutMs: number;
  /** Sends the hello on a new session, and completes when it was answered. */
  send(core: PeerCore, session: Session, hello: Hello, timeoutMs: number): Observable<never>;
}

/** An address, or a function that returns the address for each dial. */
export type ConnectUrl = string | URL | ((context: DialContext) => string | URL | Promise<string | URL>);

/** How and where to dial. */
export interface DialPlan {
  readonly url: ConnectUrl;
  readonly open: (url: string, protocol: string) => Transport;
  /** `null` if the peer closes when its first socket ends. */
  readonly backoff: Backoff | null;
  /** `null` if calls are sent as soon as a socket is open. */
  readonly greeting: Greeting | null;
  readonly connectTimeoutMs: number;
  readonly lazy: boolean;
  /** How long a socket without an open stream stays, in ms; 0 is for ever. */
  readonly idleCloseMs: number;
  readonly connectivity: Connectivity;
}
