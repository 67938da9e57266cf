import { resolve } from 'node:path';
import { ADAPTER_NAMES, OWN_ADAPTERS } from './harness/adapter-names.js';
import type { AdapterName } from './harness/adapter-names.js';
import { parseOptions } from './harness/command-line.js';
import { workloads } from './workloads/index.js';
import type { Workload } from './workloads/workload.js';

export interface Options {
  readonly adapters: readonly AdapterName[];
  readonly workloads: readonly Workload[];
  /** W8. */
  readonly bundles: boolean;
  readonly growth: {
    readonly streams: readonly { readonly adapter: AdapterName; readonly counts: readonly number[]; readonly ms: number }[];
    readonly connections: readonly { readonly adapter: AdapterName; readonly counts: readonly number[] }[];
  };
  readonly rounds: number;
  /** The factor for the durations and counts of a full run. */
  readonly scale: number;
  readonly seed: number;
  readonly browser: boolean;
  /** The directory for CPU profiles. */
  readonly profile: string | null;
  /** The directory for the results. With `null` the run only prints them. */
  readonly out: string | null;
  /** Whether the run needs packages that are only installed in bench/. */
  readonly needsPeers: boolean;
}

const QUICK_SCALE = 0.4;
const LIVE_STREAMS = [1, 10, 100, 1_000, 10_000, 100_000];
const CONNECTIONS = [500, 1_000, 2_000, 5_000];
const GROWTH_MS = 600;
const GROWING: readonly AdapterName[] = ['floor-a', 'rxmux-json', 'rxmux-msgpack', 'rsocket'];
const CONNECTING: readonly AdapterName[] = ['ws', 'floor-a', 'rxmux-json', 'rxmux-msgpack', 'socket.io'];
/** The bare socket is left out: it has no streams, and is only there for the memory of a connection. */
const COMPARED: readonly AdapterName[] = ADAPTER_NAMES.filter((name) => name !== 'ws');
const DOCS = 'docs/benchmarks';
/** A quick run leaves these out, unless they are named. */
const LEFT_OUT_OF_QUICK = /^growth|^W4@|^W10/;
const OTHERS = ['W8', 'growth-streams', 'growth-connections'];

/**
 * @param root the project's directory; a whole run writes its pages anew
 * @throws TypeError for an option or a name that does not exist
 */
export function readOptions(args: readonly string[], root: string): Options {
  const values = parseOptions(args, {
    quick: { type: 'boolean', default: false },
    browser: { type: 'boolean', default: false },
    workloads: { type: 'string' },
    adapters: { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    profile: { type: 'string' },
    out: { type: 'string' },
  });
  const { quick } = values;
  const named = values.adapters?.split(',').map(adapterName);
  const wanted = values.workloads?.split(',').map(workloadName);
  const isWanted = (id: string): boolean => wanted?.some((name) => belongs(id, name)) ?? !(quick && LEFT_OUT_OF_QUICK.test(id));
  const adapters = (named ?? (quick ? OWN_ADAPTERS : COMPARED)).filter((name) => COMPARED.includes(name));
  const among = (names: readonly AdapterName[]): readonly AdapterName[] => names.filter((name) => named?.includes(name) ?? true);
  const scaled = (counts: readonly number[]): readonly number[] => (quick ? counts.slice(0, -1) : counts);
  const growth = {
    streams: (isWanted('growth-streams') ? among(GROWING) : []).map((adapter) => ({
      adapter,
      counts: scaled(LIVE_STREAMS),
      ms: GROWTH_MS,
    })),
    connections: (isWanted('growth-connections') ? among(CONNECTING) : []).map((adapter) => ({ adapter, counts: scaled(CONNECTIONS) })),
  };
  const bundles = isWanted('W8');
  const isWhole = !quick && named === undefined && wanted === undefined;
  const out = values.out === undefined ? (isWhole ? resolve(root, DOCS) : null) : resolve(values.out);
  const used = [...adapters, ...growth.streams.map(({ adapter }) => adapter), ...growth.connections.map(({ adapter }) => adapter)];
  return {
    adapters,
    workloads: workloads.filter(({ id }) => isWanted(id)),
    bundles,
    growth,
    rounds: count('rounds', values.rounds ?? (quick ? '1' : '5')),
    scale: quick ? QUICK_SCALE : 1,
    seed: count('seed', values.seed),
    browser: values.browser,
    profile: values.profile ?? null,
    out,
    needsPeers: out !== null || bundles || used.some((name) => !OWN_ADAPTERS.includes(name)),
  };
}

/** Whether a name means a workload: `W2` means all whose id begins with it. */
function belongs(id: string, name: string): boolean {
  return id === name || id.startsWith(`${name}@`);
}

function adapterName(name: string): AdapterName {
  const found = ADAPTER_NAMES.find((known) => known === name);
  if (found === undefined) throw new TypeError(`--adapters: expected some of ${ADAPTER_NAMES.join(', ')}, got '${name}'`);
  return found;
}

function workloadName(name: string): string {
  const known = [...workloads.map(({ id }) => id), ...OTHERS];
  if (!known.some((id) => belongs(id, name))) throw new TypeError(`--workloads: expected some of ${known.join(', ')}, got '${name}'`);
  return name;
}

function count(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new TypeError(`--${name}: expected a positive whole number, got '${text}'`);
  return value;
}
