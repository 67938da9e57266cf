export { createPair } from './testing/pair.js';
export type { Fault, FaultScript, Link, LinkMessage, Pair, PairOptions, Side } from './testing/pair.js';
