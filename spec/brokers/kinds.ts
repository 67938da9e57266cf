import type { Bus, Log } from '../../src/topics.js';
import type { Product } from './broker-process.js';
import { nats } from './nats.js';
import { redis } from './redis.js';

/** A client of a broker, and the topics there. */
export interface Connected {
  readonly bus: Bus;
  log<T>(topic: string): Log<T>;
  close(): Promise<void>;
}

/** A kind of broker, as these tests use it. */
export interface Kind {
  readonly name: 'NATS' | 'Redis';
  readonly product: Product;
  /** Prepares a new broker. Its topics keep `kept` messages, or all of them. */
  prepare(port: number, kept?: number): Promise<void>;
  connect(port: number, kept?: number): Promise<Connected>;
}

export const KINDS: readonly Kind[] = [nats, redis];
