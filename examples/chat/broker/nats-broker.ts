// A log and a bus over NATS. Its server runs with JetStream: nats-server -js
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { natsBus, natsLog } from 'rxmux/nats';
import type { Line } from '../api.js';
import { byKey } from '../by-key.js';
import { type Broker, KEEP } from './broker.js';

const STREAM = 'CHAT';

export async function connectNats(url: string): Promise<Broker> {
  const nc = await connect({ servers: url, waitOnFirstConnect: true, maxReconnectAttempts: -1 });
  const { streams } = await jetstreamManager(nc);
  await streams.add({ name: STREAM, subjects: ['chat.>'], max_msgs_per_subject: KEEP });
  return {
    log: byKey((room) => natsLog<Line>(nc, { stream: STREAM, subject: `chat.${room}` })),
    bus: natsBus(nc, 'chat-bus'),
  };
}
