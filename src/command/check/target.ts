import type { Step } from './rows.js';
import type { Run } from './steps.js';
import type { Wire } from './wire.js';

/** The address of an acceptor, and the headers for each handshake with it. */
export interface ServerAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The steps that only a dialer's rows have. */
export interface DialerSteps {
  /** Starts the program, and answers its handshakes as the step says. */
  accept(step: Step, run: Run): Promise<void>;
  /** Waits for the end of the program, which must have succeeded or not. */
  expectExit(ok: boolean, withinMs: number): Promise<void>;
  /** Counts the handshakes of the program up to its end. */
  expectDials(dials: number, withinMs: number): Promise<void>;
}

/** The peer that is checked, for one run of one row. */
export interface Target {
  readonly server?: ServerAddress;
  readonly dialer?: DialerSteps;
  /** Returns a raw connection. An acceptor is dialed; a dialer dials. */
  connect(run: Run): Promise<Wire>;
  /** Ends all that the run has made. */
  dispose(): void;
}
