import { busOver } from '../topics/bus.js';
import type { Bus } from '../topics/bus.js';
import { hub } from './hub.js';

/**
 * Makes a bus for all processes and threads of a program on one machine: each value at most once. Values are JSON. The primary process of
 * `node:cluster`, or the main thread, passes them on, so call this there too, before it makes workers. A program of one process needs no
 * workers.
 *
 * `send` rejects, and a channel errors, with a `BrokerError`. While the primary is silent, channels stay open, and `send` rejects after 5 s.
 *
 * @throws TypeError for a channel of more than 1 024 bytes
 *
 * @example
 * ```ts
 * const present = presence(ipcBus());
 * if (cluster.isPrimary) cluster.fork();
 * else serve({ port: 8080 }).peers$.subscribe((peer) => present.join('lobby', userOf(peer), peer));
 * ```
 */
export function ipcBus(): Bus {
  const center = hub();
  return busOver({
    hear: (channel, name) => center.hear(channel, name),
    send: (channel, json) => center.one({ op: 'send', channel, json }),
    explain: (error, name) => center.explain(error, name),
  });
}
