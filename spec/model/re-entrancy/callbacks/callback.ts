import type { PairOptions } from '../../../../src/testing.js';
import type { Role, Run, Scene } from '../scene.js';

/** A place where the library calls the user's code. */
export interface Callback {
  readonly where: string;
  readonly options?: (run: Run, role: Role) => PairOptions;
  /** Registers the callback, and causes a call of it beside the scene's own traffic. */
  readonly hang: (scene: Scene, run: Run) => void;
  /** Where its error is reported when not by the surrounding call: in the log, or to rxjs's `onUnhandledError`. */
  readonly throws?: 'log' | 'rxjs';
  /** Whether its error ends the connection. */
  readonly fatal?: true;
  /** The only side that can have it. */
  readonly role?: Role;
}
