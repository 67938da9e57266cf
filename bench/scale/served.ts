import { setTimeout } from 'node:timers/promises';
import { map } from 'rxjs';
import { answering, contract, request, stream } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { createPair } from 'rxmux/testing';
import { answerTopic, memoryBus, memoryLog, presence } from 'rxmux/topics';
import type { Bus, TopicItem } from 'rxmux/topics';

/** Time for turns and timers that hold what the last act has left behind, in ms. */
const SETTLING_MS = 100;

/** The memory of the server after a garbage collection, in bytes. */
interface Memory {
  readonly heap: number;
  readonly rss: number;
}

/** Members of another server: as this server keeps them, and as they arrive. In bytes for each. */
interface Presence {
  readonly memberBytes: number;
  readonly memberReportBytes: number;
}

export const measured = contract({
  /** The calls of the clients. */
  now: request<void, number>(),
  follow: stream<void, TopicItem<string>>(),
  /** The orders of the measurement. */
  publish: request<string, string>(),
  /** The CPU of the process so far, in µs. */
  cpu: request<void, number>(),
  memory: request<void, Memory>(),
  framesSent: request<void, number>(),
  presence: request<number, Presence>(),
});

/** Serves what is measured, and ends with the parent process. Passes the port to the parent. */
export async function serveMeasured(idleMs: number): Promise<void> {
  const log = memoryLog<string>();
  const answers = answering(measured, {
    now: () => Date.now(),
    follow: () => answerTopic(log, null),
    publish: (text) => log.publish(text),
    cpu: () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    memory,
    framesSent: () => server.stats().sent.frames,
    presence: presenceOf,
  });
  const server = serve({ port: 0, host: '127.0.0.1', keepalive: { idleMs }, ...answers });
  process.on('disconnect', () => process.exit());
  process.send?.((await server.listening).port);
}

function memory(): Memory {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

async function presenceOf(members: number): Promise<Presence> {
  const bus = copying(memoryBus());
  const there = presence(bus);
  const joined = Array.from({ length: members }, (_, nth) => there.join(`room ${nth % 100}`, `member ${nth}`, createPair().acceptor));
  await setTimeout(SETTLING_MS);
  const before = memory().heap;
  let reported = 0;
  const reports = bus.on('presence:presence').subscribe((report) => (reported += JSON.stringify(report).length));
  const here = presence(bus).members$('room 0').subscribe();
  await setTimeout(SETTLING_MS);
  const memberBytes = (memory().heap - before) / members;
  here.unsubscribe();
  reports.unsubscribe();
  for (const member of joined) member.unsubscribe();
  return { memberBytes, memberReportBytes: reported / members };
}

/** A bus whose values are copies, as the values of other processes are. */
function copying(bus: Bus): Bus {
  return {
    on: <T>(channel: string) => bus.on<T>(channel).pipe(map((value) => JSON.parse(JSON.stringify(value)) as T)),
    send: (channel, value) => bus.send(channel, value),
  };
}
