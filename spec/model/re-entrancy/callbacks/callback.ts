import type { PairOptions } from '../../../../src/testing.js';
import type { Role, Run, Scene } from '../scene.js';

/** A place where the library calls the user's code. */
export interface Callback {
  readonly where: string;
  readonly options?: (run: Run, role: Role) => PairOptions;
  /** Registers it, and makes whatever calls it beside the scene's own traffic. */
  readonly hang: (scene: Scene, run: Run) => void;
  /** Who is told of what it throws, where that is not the call that it is part of: the log, or rxjs's `onUnhandledError`. */
  readonly throws?: 'log' | 'rxjs';
  /** Whether what it throws ends the connection. */
  readonly fatal?: true;
  /** The one side that can have it. */
  readonly role?: Role;
}
