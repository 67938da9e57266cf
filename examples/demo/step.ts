import type { Peer, StreamHandler } from 'rxmux';
import type { Terminal } from './terminal.js';

/** One thing that the demo shows, both ends of it in one file. */
export interface Step {
  readonly title: string;
  /** What the server answers, by the `op` of the payload that a stream was opened with. */
  readonly answers: Readonly<Record<string, StreamHandler>>;
  /** What the dialer does. It rejects when something that it checks does not hold. */
  run(peer: Peer, terminal: Terminal): Promise<void>;
}
