// A log and a bus over Redis.
import { createClient } from 'redis';
import { redisBus, redisLog } from 'rxmux/redis';
import type { Line } from '../api.js';
import { byKey } from '../by-key.js';
import { type Broker, KEEP } from './broker.js';

export async function connectRedis(url: string): Promise<Broker> {
  const client = createClient({ url });
  client.on('error', (error: Error) => console.error(`redis: ${error.message}`));
  await client.connect();
  return {
    log: byKey((room) => redisLog<Line>(client, { stream: `chat:${room}`, keep: KEEP })),
    bus: redisBus(client, 'chat-bus:'),
  };
}
