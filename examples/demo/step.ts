import type { Peer, StreamHandler } from 'rxmux';
import type { Terminal } from './terminal.js';

/** One part of the demo, with both of its ends in one file. */
export interface Step {
  readonly title: string;
  /** Its file, below the folder of the demo. */
  readonly file: string;
  /** The facts that its checks show. */
  readonly checked: string;
  /** The server's handlers, by the `op` of a stream's payload. */
  readonly answers: Readonly<Record<string, StreamHandler>>;
  /** Runs the dialer's side. It rejects when one of its checks fails. */
  run(peer: Peer, terminal: Terminal): Promise<void>;
}
