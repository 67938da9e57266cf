// The servers' side of a broker. Another kind of broker is another branch of `connectBroker`.
import type { Bus, Log } from 'rxmux/topics';
import type { Line } from '../api.js';
import { connectPeerBroker } from './peer-broker.js';

export interface Broker {
  log(room: string): Log<Line, string>;
  readonly bus: Bus;
}

/** The cursor before the first line of a room. */
export const START = 'start:0';

export function connectBroker(url: string): Broker {
  return connectPeerBroker(url);
}
