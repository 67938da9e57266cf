import type { CloseReason } from '../wire/close-reason.js';
import type { AnyMuxError } from '../wire/errors.js';

/** Where a peer's connection is. Attempts count from 1 since the last stable socket; delays are ms. */
export type PeerStatus =
  | { readonly state: 'connecting'; readonly attempt: number; readonly last: CloseReason | null }
  | { readonly state: 'open'; readonly reconnects: number }
  | { readonly state: 'waiting'; readonly attempt: number; readonly delayMs: number; readonly last: CloseReason; readonly offline: boolean }
  | { readonly state: 'draining'; readonly by: 'local' | 'remote' }
  | { readonly state: 'closed'; readonly reason: CloseReason; readonly error: AnyMuxError | null };
