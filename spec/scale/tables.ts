import { figure } from '../../bench/report/table.js';
import type { Measured } from './figures.js';
import { play } from './herd.js';
import type { Herd } from './herd.js';
import { CHOSEN, loadOf, planOf, presenceOf, returnMs, TO_EACH_USER, WORKLOADS } from './plan.js';
import type { Load, Workload } from './plan.js';

type Row = readonly string[];

const KIB = 1024;
const MIB = KIB * KIB;
const MS_PER_S = 1_000;
const DOWN_S = 30;
const PROCESSES = [25, 50, 100, 200];
const LONGEST_SPREAD_MS = 5_000;

const kib = (bytes: number): string => `${figure(bytes / KIB)} KiB`;
const mib = (bytes: number): string => `${figure(bytes / MIB)} MiB`;
const us = (value: number): string => `${figure(value)} µs`;
const percent = (share: number): string => `${figure(100 * share)} %`;
const seconds = (ms: number): string => (ms === Infinity ? 'never' : `${figure(ms / MS_PER_S)} s`);

/** The tables of docs/SCALE.md, by their headings. */
export function tablesOf(measured: Measured): ReadonlyMap<string, readonly Row[]> {
  const plans = WORKLOADS.map((workload) => ({ workload, load: planOf(workload, measured.figures) }));
  return new Map([
    ['Measured', measuredRows(measured)],
    ['Chosen', chosenRows()],
    ['Processes', plans.map(({ workload, load }) => processRow(workload, load))],
    ['Redials', redialRows(measured)],
    ['Presence', PROCESSES.map((processes) => presenceRow(processes, measured))],
  ]);
}

function measuredRows({ figures, environment, connections, rounds }: Measured): Row[] {
  return [
    ['the machine, and the day', `${environment['cpu'] ?? ''}, Node ${environment['node'] ?? ''}, ${environment['day'] ?? ''}`],
    ['connections; rounds, of which the median counts', `${figure(connections)}; ${rounds}`],
    ['a connection that has made one request: heap', kib(figures.connectionHeapBytes)],
    ['the same: memory of the process', kib(figures.connectionRssBytes)],
    ['a topic that a connection follows: heap', kib(figures.followHeapBytes)],
    ['a dial and its first request: CPU', us(figures.dialUs)],
    ['the begin of a topic: CPU', us(figures.followUs)],
    ['one request on each connection: CPU of each', us(figures.requestUs)],
    ['a message of 100 bytes to all followers of a topic: CPU of each', us(figures.deliveryUs)],
    ['a ping and its pong: CPU', us(figures.probeUs)],
    ['a member at another server: heap', `${figure(figures.memberBytes)} bytes`],
    ['the same in a report of all members', `${figure(figures.memberReportBytes)} bytes`],
  ];
}

function chosenRows(): Row[] {
  return [
    ['connections', figure(CHOSEN.connections)],
    ['a connection lasts', `${figure(CHOSEN.connectionLifeS / 60)} min`],
    ['a process is busy, with one other process missing', `at most ${percent(CHOSEN.busy)} of one core`],
    ['a process is busy while all clients dial', 'at most 100 % of one core'],
    ['connections of a process take, with one other process missing', `at most ${mib(CHOSEN.bytes)}`],
    ['a silent connection is probed (the default)', `each ${CHOSEN.probeEveryS} s`],
    ['a lease of presence lasts (the default)', `${CHOSEN.leaseS} s`],
    ['a server drains for', `${CHOSEN.drainS} s`],
    ['clients wait between dials, by `maxDelayMs`', `at most ${CHOSEN.maxDelayMs / MS_PER_S} s`],
  ];
}

function processRow({ name, published }: Workload, load: Load): Row {
  const { processes, connections, bytes, busy, fromBroker, deliveries } = load;
  const rates = [published, fromBroker, deliveries].map(figure);
  return [name, ...rates, figure(processes), figure(connections), mib(bytes), percent(busy)];
}

/** The clients of the workload with the most connections at a process that follow a topic. */
function redialRows({ figures }: Measured): Row[] {
  const { processes, connections } = planOf(TO_EACH_USER, figures);
  const costMs = returnMs(figures);
  const reconnect = { maxDelayMs: CHOSEN.maxDelayMs };
  const moving = {
    clients: connections,
    processes: processes - 1,
    costMs,
    busy: loadOf(TO_EACH_USER, processes - 1, figures).busy,
    downMs: 0,
    reconnect,
  };
  const all = { clients: CHOSEN.connections, processes, costMs, busy: 0, spreadMs: null, reconnect };
  const byDefault = { ...all, reconnect: {} };
  const spreadMs = Math.min((CHOSEN.drainS * MS_PER_S) / 2, LONGEST_SPREAD_MS);
  const situations: readonly (readonly [string, Herd])[] = [
    ['one process drains', { ...moving, spreadMs }],
    ['one process is killed', { ...moving, spreadMs: null }],
    ['all processes are killed, and listen at once', { ...all, downMs: 0 }],
    [`all processes are killed, and listen after ${DOWN_S} s`, { ...all, downMs: DOWN_S * MS_PER_S }],
    ['the same, with the default `maxDelayMs` of 5 s', { ...byDefault, downMs: DOWN_S * MS_PER_S }],
    ['the same, with the default and twice as many processes', { ...byDefault, processes: 2 * processes, downMs: DOWN_S * MS_PER_S }],
  ];
  return situations.map(([situation, herd]) => {
    const { peak, halfMs, allMs, timeouts } = play(herd);
    return [situation, figure(herd.clients), figure(peak), seconds(halfMs), seconds(allMs), figure(timeouts)];
  });
}

function presenceRow(processes: number, { figures }: Measured): Row {
  const { changes, renewals, busy, bytes, reportBytes } = presenceOf(processes, figures);
  return [figure(processes), figure(changes), figure(renewals), percent(busy), mib(bytes), kib(reportBytes)];
}
