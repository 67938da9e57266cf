import type { Figures } from './figures.js';
import { CONNECT_TIMEOUT_MS } from './herd.js';

/** The plan's own numbers: chosen, not measured. */
export const CHOSEN = {
  connections: 1_000_000,
  /** The share of its core that a process may be busy with one process missing. */
  busy: 0.5,
  /** The memory of the connections of a process, with one process missing. */
  bytes: 1024 ** 3,
  connectionLifeS: 600,
  probeEveryS: 20,
  leaseS: 10,
  drainS: 10,
  /** `maxDelayMs` of the clients. With the default of 5 s, a million of them keeps few processes busy with dials that are abandoned. */
  maxDelayMs: 60_000,
};

/** A way to use a million connections. */
export interface Workload {
  readonly name: string;
  /** Messages that clients publish, for each second. */
  readonly published: number;
  /** The connections that follow one topic. */
  readonly followers: number;
  /** Whether all followers of a topic are at one process. */
  readonly together?: boolean;
}

export const TO_EACH_USER: Workload = { name: 'a message a minute to each user', published: CHOSEN.connections / 60, followers: 1 };

export const WORKLOADS: readonly Workload[] = [
  { name: 'connections that are silent', published: 0, followers: 0 },
  TO_EACH_USER,
  { name: 'rooms of 100 members, who each say a line a minute', published: CHOSEN.connections / 60, followers: 100 },
  { name: 'the same, with all members of a room at one process', published: CHOSEN.connections / 60, followers: 100, together: true },
  { name: 'one topic for all, with a message a second', published: 1, followers: CHOSEN.connections },
];

/** The load of one process, where a number of processes share a workload. */
export interface Load {
  readonly processes: number;
  readonly connections: number;
  readonly bytes: number;
  /** The busy share of the core. */
  readonly busy: number;
  /** Messages that the broker sends to all processes together, for each second. */
  readonly fromBroker: number;
  /** Messages that all processes send to clients together, for each second. */
  readonly deliveries: number;
}

const US_PER_S = 1e6;
const US_PER_MS = 1e3;

export function loadOf({ published, followers, together = false }: Workload, processes: number, figures: Figures): Load {
  const connections = CHOSEN.connections / processes;
  const deliveries = published * followers;
  const fromBroker = published * processesWith(together ? Math.min(1, followers) : followers, processes);
  const follows = followers > 0 ? 1 : 0;
  const us =
    (connections / CHOSEN.probeEveryS) * figures.probeUs +
    (connections / CHOSEN.connectionLifeS) * (figures.dialUs + follows * figures.followUs) +
    // A message of a client, and a message of the broker, cost as a request does.
    ((published + fromBroker) / processes) * figures.requestUs +
    (deliveries / processes) * figures.deliveryUs;
  const bytes = connections * (bytesOfConnection(figures) + follows * figures.followHeapBytes);
  return { processes, connections, bytes, busy: us / US_PER_S, fromBroker, deliveries };
}

/** The larger one: the heap may fit in pages that the process had before. */
export function bytesOfConnection({ connectionHeapBytes, connectionRssBytes }: Figures): number {
  return Math.max(connectionHeapBytes, connectionRssBytes);
}

/** How many processes have a follower of a topic, where followers choose processes at random. */
function processesWith(followers: number, processes: number): number {
  return processes * (1 - (1 - 1 / processes) ** followers);
}

/** The smallest number of processes that carries a workload when one of them is missing, and takes back all clients at once. */
export function planOf(workload: Workload, figures: Figures): Load {
  for (let processes = 2; ; processes++) {
    const { bytes, busy } = loadOf(workload, processes - 1, figures);
    const fits = bytes <= CHOSEN.bytes && busy <= CHOSEN.busy;
    if (fits && redialing(processes, figures) <= 1) return loadOf(workload, processes, figures);
  }
}

/** The busy share of a core while all clients dial, time out, wait and dial again. Above 1, such a herd may never end. */
export function redialing(processes: number, figures: Figures): number {
  const eachMs = CONNECT_TIMEOUT_MS + CHOSEN.maxDelayMs / 2;
  return (CHOSEN.connections / processes / eachMs) * returnMs(figures);
}

/** The CPU of a process for a client that comes back, and follows its topic again, in ms. */
export function returnMs({ dialUs, followUs }: Figures): number {
  return (dialUs + followUs) / US_PER_MS;
}

/** The cost of presence, where each connection is one member of one room. */
export interface PresenceLoad {
  /** Joins and leaves that all processes receive together, for each second. */
  readonly changes: number;
  readonly renewals: number;
  /** The busy share of the core of each process. */
  readonly busy: number;
  /** The memory of each process for the members of all others. */
  readonly bytes: number;
  /** The report of one process on all its members. */
  readonly reportBytes: number;
}

const RENEWALS_A_LEASE = 3;

export function presenceOf(processes: number, { memberBytes, memberReportBytes, requestUs }: Figures): PresenceLoad {
  const changes = ((2 * CHOSEN.connections) / CHOSEN.connectionLifeS) * processes;
  const renewals = ((RENEWALS_A_LEASE * processes) / CHOSEN.leaseS) * processes;
  return {
    changes,
    renewals,
    busy: (((changes + renewals) / processes) * requestUs) / US_PER_S,
    bytes: CHOSEN.connections * memberBytes,
    reportBytes: (CHOSEN.connections / processes) * memberReportBytes,
  };
}
