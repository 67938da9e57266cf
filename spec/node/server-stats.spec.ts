import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { MsgpackCodec } from '../../src/msgpack.js';
import { connect as dial, serve } from '../../src/node.js';
import type { MuxServer, ServeOptions } from '../../src/node.js';
import type { Codec, Peer } from '../../src/index.js';
import { collectLogs } from '../support/peer/logs.js';
import { until } from '../support/socket/leaks.js';

const ended: (() => Promise<unknown>)[] = [];
const logs = collectLogs();

afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

async function served(options: Partial<Omit<ServeOptions, 'server'>> = {}): Promise<{ server: MuxServer; join: () => Promise<Peer> }> {
  const { codec } = options;
  const server = serve({
    port: 0,
    host: '127.0.0.1',
    keepalive: false,
    handler: async (payload, stream) => {
      if (payload === 'wait') await stream.closed;
      else await stream.reply(payload);
    },
    ...options,
  } as ServeOptions);
  const address = await server.listening;
  ended.push(() => server.close());
  const join = (): Promise<Peer> => {
    const peer = dial(`ws://127.0.0.1:${typeof address === 'object' ? address.port : ''}`, { keepalive: false, ...(codec && { codec }) });
    ended.unshift(() => peer.close());
    return peer.opened;
  };
  return { server, join };
}

describe('the stats of a server', () => {
  it('A server without peers has counted nothing', async () => {
    const { server } = await served();
    expect(server.stats()).toEqual({
      connections: { open: 0, opened: 0 },
      streams: { open: 0, remote: 0, waiting: 0, opened: 0 },
      ended: {},
      sent: { frames: 0, bytes: 0 },
      received: { frames: 0, bytes: 0 },
      queue: { frames: 0, bytes: 0 },
      bytes: { held: 0, unsent: 0 },
      refusals: {},
      limits: {},
      peersNearLimits: { maxStreams: 0, maxHeldBytes: 0, maxUnsentBytes: 0, maxQueuedBytes: 0 },
    });
  });

  const codecs: readonly (readonly [name: string, codec: Codec | undefined])[] = [
    ['json', undefined],
    ['msgpack', new MsgpackCodec()],
  ];
  it.each(codecs)('Both ends count the same frames and bytes of messages over sockets: %s', async (_name, codec) => {
    const { server, join } = await served({ codec });
    const peer = await join();
    for (const length of [10, 200, 70_000]) await peer.request('ü'.repeat(length));
    // The last pong may still be on its way.
    await until('the last pong', () => server.stats().received.frames === peer.stats().sent.frames);
    const { sent, received } = peer.stats();
    expect(sent.bytes).toBeGreaterThan(140_000);
    expect(server.stats()).toMatchObject({ sent: received, received: sent });
  });

  it('Messages that wait for the end of the turn count as sent', async () => {
    const { join } = await served();
    const peer = await join();
    const before = peer.stats().sent;
    peer.notify('x'.repeat(300));
    const { sent } = peer.stats();
    expect([sent.frames - before.frames, sent.bytes - before.bytes]).toEqual([
      1,
      '{"type":"open","stream":1,"end":true,"payload":""}'.length + 300,
    ]);
  });

  it('The sums keep peers that have closed, and streams that were lost with them', async () => {
    const { server, join } = await served();
    const [first, second] = [await join(), await join()];
    await first.request('one');
    await second.request('two');
    first.open('wait');
    await first.ping();
    const open = server.stats();
    expect(open).toMatchObject({ connections: { open: 2, opened: 2 }, streams: { open: 1, remote: 1, opened: 3 }, ended: { ended: 2 } });
    await first.close();
    await until('the end of the first', () => server.peers.size === 1);
    const later = server.stats();
    expect(later).toMatchObject({ connections: { open: 1, opened: 2 }, streams: { open: 0, remote: 0, opened: 3 } });
    expect(later.ended).toEqual({ ended: 2, 'remote reset CANCEL': 1 });
    expect(later.sent.frames).toBeGreaterThanOrEqual(open.sent.frames);
    expect(later.received.bytes).toBeGreaterThan(open.received.bytes);
  });

  it('A peer is near a limit from four fifths of it on', async () => {
    const { server, join } = await served({ limits: { maxStreams: 5 } });
    const peer = await join();
    for (let n = 0; n < 3; n++) peer.open('wait');
    await peer.ping();
    expect(server.stats().peersNearLimits.maxStreams).toBe(0);
    peer.open('wait');
    await peer.ping();
    expect(server.stats().peersNearLimits).toEqual({ maxStreams: 1, maxHeldBytes: 0, maxUnsentBytes: 0, maxQueuedBytes: 0 });
  });

  it('A handshake that was refused counts by its status, and is no connection', async () => {
    const { server } = await served({ verify: () => false });
    const address = server.address();
    const socket = new WebSocket(`ws://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : ''}`, 'mux.v1.json');
    await once(socket, 'error');
    expect(server.stats()).toMatchObject({ connections: { open: 0, opened: 0 }, refusals: { 403: 1 } });
    expect(logs.warnings).toHaveLength(1);
  });
});
