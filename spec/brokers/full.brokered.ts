import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { StreamAPI } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { firstValueFrom } from 'rxjs';
import { catchUp } from '../../src/topics.js';
import { until } from '../support/socket/leaks.js';
import { begin, broker, codeOf, endAfterEach } from './endings.js';
import type { Kind } from './kinds.js';
import { addStream, nats, STREAM } from './nats.js';
import { redis, sendTo } from './redis.js';

endAfterEach();

const BIG = 'x'.repeat(1_000);

/** A way to run out of room, while the broker goes on. */
interface Shortage {
  readonly what: string;
  readonly kind: Kind;
  /** Lines of the configuration. */
  readonly config: string;
  prepare(port: number): Promise<unknown>;
  /** Takes the room, beside the messages of the test. */
  fill(port: number): Promise<unknown>;
  makeRoom(port: number): Promise<unknown>;
}

/** Calls the API of streams over a connection of its own. */
async function manage(port: number, act: (streams: StreamAPI) => Promise<unknown>): Promise<void> {
  const nc = await connect({ servers: `127.0.0.1:${port}` });
  await act((await jetstreamManager(nc)).streams);
  await nc.close();
}

/** Publishes to a subject until there is no room. */
async function publishBallast(port: number, subject: string): Promise<void> {
  const nc = await connect({ servers: `127.0.0.1:${port}` });
  const js = jetstream(nc);
  const publish = (): Promise<boolean> =>
    js.publish(subject, BIG).then(
      () => true,
      () => false,
    );
  while (await publish());
  await nc.close();
}

async function failToSave(port: number): Promise<void> {
  // No file can be made there.
  await sendTo(port, 'CONFIG', 'SET', 'save', '3600 1', 'dir', '/proc');
  await sendTo(port, 'BGSAVE');
  await saved(port, 'err');
}

async function save(port: number): Promise<void> {
  await sendTo(port, 'CONFIG', 'SET', 'dir', tmpdir(), 'dbfilename', `rxmux-${port}.rdb`);
  await sendTo(port, 'BGSAVE');
  await saved(port, 'ok');
  rmSync(join(tmpdir(), `rxmux-${port}.rdb`));
}

async function saved(port: number, status: string): Promise<void> {
  for (;;) {
    const info = String(await sendTo(port, 'INFO', 'persistence'));
    if (info.includes('rdb_bgsave_in_progress:0') && info.includes(`rdb_last_bgsave_status:${status}`)) return;
  }
}

const SHORTAGES: readonly Shortage[] = [
  {
    what: 'a full stream of NATS',
    kind: nats,
    config: '',
    prepare: (port) => addStream(port, { max_bytes: 20_000, discard: 'new' }),
    fill: (port) => publishBallast(port, 'topics.ballast'),
    makeRoom: (port) => manage(port, (streams) => streams.purge(STREAM, { filter: 'topics.ballast' })),
  },
  {
    what: 'a full store of NATS',
    kind: nats,
    config: 'jetstream { max_file_store: 100KB }',
    prepare: async (port) => {
      await addStream(port);
      await manage(port, (streams) => streams.add({ name: 'BALLAST', subjects: ['ballast'] }));
    },
    fill: (port) => publishBallast(port, 'ballast'),
    makeRoom: (port) => manage(port, (streams) => streams.delete('BALLAST')),
  },
  {
    what: 'a full memory of Redis',
    kind: redis,
    config: '',
    prepare: () => Promise.resolve(),
    fill: (port) => sendTo(port, 'CONFIG', 'SET', 'maxmemory', '1'),
    makeRoom: (port) => sendTo(port, 'CONFIG', 'SET', 'maxmemory', '0'),
  },
  {
    what: 'a disk that Redis cannot write to',
    kind: redis,
    config: 'enable-protected-configs yes',
    prepare: () => Promise.resolve(),
    fill: failToSave,
    makeRoom: save,
  },
];

describe('a broker without room', () => {
  it.each(SHORTAGES)(
    'The publisher learns of $what, its subscriber goes on, and so does the publisher once there is room',
    async (shortage) => {
      const { kind } = shortage;
      const { port } = await broker(kind, shortage.config);
      await shortage.prepare(port);
      const log = (await begin(kind.connect(port))).log<string>('texts');
      const received: unknown[] = [];
      const subscription = catchUp(log, null).subscribe({
        next: ({ value }) => received.push(value),
        error: (error: unknown) => received.push(error),
      });
      await firstValueFrom(catchUp(log, null));
      await log.publish('before');
      await shortage.fill(port);
      expect([await codeOf(log.publish(BIG)), await codeOf(log.publish(BIG, { key: 'one' }))]).toEqual(['BROKER_FULL', 'BROKER_FULL']);
      await shortage.makeRoom(port);
      await log.publish('after', { key: 'one' });
      await until('the message after', () => received.includes('after'));
      expect(received).toEqual([undefined, 'before', 'after']);
      subscription.unsubscribe();
    },
  );
});
