import { jetstreamManager } from '@nats-io/jetstream';
import type { StreamConfig } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { ConnectionOptions } from '@nats-io/transport-node';
import { natsBus, natsLog } from '../../src/nats.js';
import type { Connected, Kind } from './kinds.js';

export const STREAM = 'TOPICS';

/** Makes the stream of all topics. */
export async function addStream(port: number, config: Partial<StreamConfig> = {}, options: ConnectionOptions = {}): Promise<void> {
  const nc = await connect({ servers: `127.0.0.1:${port}`, ...options });
  const { streams } = await jetstreamManager(nc);
  await streams.add({ name: STREAM, subjects: ['topics.>'], ...config });
  await nc.close();
}

/** The client does not declare this setting. */
const SEALED: object = { sealed: true };

interface ConnectedNats extends Connected {
  remove(): Promise<unknown>;
  deleteMessage(seq: number): Promise<unknown>;
  seal(): Promise<unknown>;
}

export async function connectNats(port: number, options: ConnectionOptions = {}): Promise<ConnectedNats> {
  const nc = await connect({ servers: `127.0.0.1:${port}`, maxReconnectAttempts: -1, ...options });
  return {
    bus: natsBus(nc),
    log: <T>(topic: string) => natsLog<T>(nc, { stream: STREAM, subject: `topics.${topic}` }),
    close: () => nc.close(),
    remove: async () => (await jetstreamManager(nc)).streams.delete(STREAM),
    seal: async () => (await jetstreamManager(nc)).streams.update(STREAM, SEALED),
    deleteMessage: async (seq) => (await jetstreamManager(nc)).streams.deleteMessage(STREAM, seq),
  };
}

export const nats: Kind = {
  name: 'NATS',
  product: {
    program: 'nats-server',
    args: (port, folder) => ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', folder, '-c', `${folder}/config`],
  },
  prepare: (port, kept) => addStream(port, kept === undefined ? {} : { max_msgs_per_subject: kept }),
  connect: (port) => connectNats(port),
};
