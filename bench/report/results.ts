import { cpus, platform } from 'node:os';
import type { ConnectionsPoint } from '../growth/connections.js';
import type { StreamsPoint } from '../growth/streams.js';
import { versionOf } from '../harness/place.js';
import type { Reading } from '../harness/rounds.js';
import type { BundleSize } from '../workloads/bundle.js';

/** All results of a run, as the file keeps them. */
export interface Results {
  readonly seed: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  readonly readings: readonly Reading[];
  readonly bundles: readonly BundleSize[];
  readonly streams: readonly StreamsPoint[];
  readonly connections: readonly ConnectionsPoint[];
}

const PACKAGES = [
  'ws',
  'rxjs',
  '@msgpack/msgpack',
  'rsocket-core',
  'socket.io',
  'graphql',
  'graphql-ws',
  '@trpc/server',
  'capnweb',
  '@grpc/grpc-js',
  'esbuild',
];

/** The machine, and the day of the measurement. */
export function environment(): Results['environment'] {
  const [cpu] = cpus();
  const day = new Date().toISOString().slice(0, '2026-11-28'.length);
  return { node: process.version, platform: platform(), cpu: `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}`, day };
}

export function versions(): Results['versions'] {
  return Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)]));
}
