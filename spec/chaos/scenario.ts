import type { Claim } from './claim.js';
import type { Sizes } from './sizes.js';
import type { World } from './world.js';

/** One kind of bad weather, and what must hold in it. */
export interface Scenario {
  readonly name: string;
  run(world: World, sizes: Sizes): Promise<readonly Claim[]>;
}
