/**
 * Peers in memory, marbles and virtual time.
 *
 * @example
 * ```ts
 * import { createPair, fakePeer } from 'rxmux/testing';
 * ```
 *
 * @module rxmux/testing
 */
import './index.js';

/* Two real peers, or a server, in memory */
export { createPair } from './testing/pair.js';
export type { ContractPair, ContractPairOptions, Pair, PairOptions } from './testing/pair.js';
export { createServer } from './testing/server.js';
export type { TestServer, TestServerOptions } from './testing/server.js';
export type { FaultScript, Link, LinkMessage } from './testing/link.js';
export type { Fault, Side } from './testing/memory-link.js';

/* Recordings */
export { replay } from './testing/replay.js';
export type { Replay, ReplayOptions } from './testing/replay.js';
export type { RecordedSide } from './inspect/script.js';

/* Time */
export { virtualTime } from './testing/virtual-time.js';
export type { VirtualTime } from './testing/virtual-time.js';

/* Marbles */
export { frameMarbles } from './testing/frames.js';
export type { FrameLetters } from './testing/frames.js';
export { peerFromMarbles } from './testing/peer-from-marbles.js';
export type { MarblePeer } from './testing/peer-from-marbles.js';
export { fakePeer } from './testing/fake-peer.js';
export type { ContractRow, FakeCall, FakePeer, FakePeerOptions, RowValue } from './testing/fake-peer.js';
export { printMarbles } from './testing/print-marbles.js';
