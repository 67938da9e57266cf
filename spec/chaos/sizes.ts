/** The sizes of a run. */
export interface Sizes {
  /** Sockets that lose their server at once. */
  readonly sockets: number;
  /** Keepalive of server and clients in the scenario that freezes the server. */
  readonly keepalive: { readonly idleMs: number; readonly timeoutMs: number };
  /** A freeze that keepalive must tolerate, and one that it must notice, in ms. */
  readonly shortFreezeMs: number;
  readonly longFreezeMs: number;
  readonly frozenSockets: number;
  /** Bytes that the server offers to slow readers. */
  readonly offeredBytes: number;
  readonly slowReaders: number;
  readonly slowMs: number;
  /** Pages that read slowly, and the pieces that each reads. */
  readonly pages: number;
  readonly pagePieces: number;
  readonly uploaders: number;
  readonly uploadMs: number;
  readonly drainedClients: number;
  readonly restarts: number;
}

const MIB = 1024 * 1024;

export const FULL: Sizes = {
  sockets: 2_000,
  keepalive: { idleMs: 20_000, timeoutMs: 10_000 },
  shortFreezeMs: 15_000,
  longFreezeMs: 40_000,
  frozenSockets: 100,
  offeredBytes: 4_096 * MIB,
  slowReaders: 40,
  slowMs: 40_000,
  pages: 10,
  pagePieces: 1_000,
  uploaders: 24,
  uploadMs: 45_000,
  drainedClients: 200,
  restarts: 10,
};

export const QUICK: Sizes = {
  sockets: 200,
  keepalive: { idleMs: 2_000, timeoutMs: 1_000 },
  shortFreezeMs: 1_000,
  longFreezeMs: 4_500,
  frozenSockets: 20,
  offeredBytes: 256 * MIB,
  slowReaders: 10,
  slowMs: 4_000,
  pages: 4,
  pagePieces: 100,
  uploaders: 8,
  uploadMs: 5_000,
  drainedClients: 30,
  restarts: 3,
};
