import { createClient } from 'redis';
import { redisBus, redisLog } from '../../src/redis.js';
import type { Connected, Kind } from './kinds.js';

export async function connectRedis(port: number, kept?: number): Promise<Connected> {
  const client = createClient({ url: `redis://127.0.0.1:${port}` });
  client.on('error', () => undefined);
  await client.connect();
  return {
    bus: redisBus(client),
    log: <T>(topic: string) => redisLog<T>(client, { stream: topic, keep: kept }),
    close: () => client.close(),
  };
}

/** Sends a command over a connection of its own, and returns the reply. */
export async function sendTo(port: number, ...command: string[]): Promise<unknown> {
  const client = createClient({ url: `redis://127.0.0.1:${port}` }).on('error', () => undefined);
  try {
    await client.connect();
    return await client.sendCommand(command);
  } finally {
    client.destroy();
  }
}

export const redis: Kind = {
  name: 'Redis',
  product: {
    program: 'redis-server',
    args: (port, folder) => {
      const files = ['--dir', folder, '--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
      return [`${folder}/config`, '--bind', '127.0.0.1', '--port', String(port), ...files];
    },
  },
  prepare: () => Promise.resolve(),
  connect: connectRedis,
};
