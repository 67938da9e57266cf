// The servers' side of a broker. Another kind of broker is another line of `KINDS`.
import type { Bus, Log } from 'rxmux/topics';
import type { Line } from '../api.js';
import { connectNats } from './nats-broker.js';
import { connectPeerBroker } from './peer-broker.js';
import { connectRedis } from './redis-broker.js';

export interface Broker {
  log(room: string): Log<Line>;
  readonly bus: Bus;
}

/** The lines of a room that are kept. */
export const KEEP = 10_000;

const KINDS: Readonly<Record<string, (url: string) => Broker | Promise<Broker>>> = {
  'nats:': connectNats,
  'redis:': connectRedis,
  'ws:': connectPeerBroker,
};

/** @param url such as `nats://localhost:4222` or `redis://localhost:6379` */
export async function connectBroker(url: string): Promise<Broker> {
  const kind = KINDS[new URL(url).protocol];
  if (kind === undefined) throw new Error(`expected a broker at one of ${Object.keys(KINDS).join(' ')}, got ${url}`);
  return kind(url);
}
