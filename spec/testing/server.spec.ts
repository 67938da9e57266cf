import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler } from 'rxjs';
import { CloseCode } from '../../src/index.js';
import { connect } from '../support/peer/tracked.js';
import type { ConnectOptions, Peer, PeerStatus } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { createServer, virtualTime } from '../../src/testing.js';
import type { TestServer, TestServerOptions } from '../../src/testing.js';
import { CLOCKS } from './clocks.js';
import type { Clock } from './clocks.js';
import { collectLogs } from '../support/peer/logs.js';

const SOON = { minDelayMs: 1, maxDelayMs: 5 };

const echoing = (options: TestServerOptions = {}): TestServer =>
  createServer({ onStream: (payload, stream) => stream.reply(payload), ...options });

const dial = ({ socket }: TestServer, options: ConnectOptions = {}): Peer =>
  connect('ws://test', { socket, keepalive: false, reconnect: SOON, ...options });

/** Resolves at the next status of this state. */
const reaches = (peer: Peer, state: PeerStatus['state'], reconnects = 0): Promise<PeerStatus> =>
  new Promise((resolve) => {
    peer.status$.subscribe((status) => {
      if (status.state === state && (status.state !== 'open' || status.reconnects >= reconnects)) resolve(status);
    });
  });

describe.each(CLOCKS)('createServer in $kind time', ({ start }) => {
  let clock: Clock;

  beforeEach(() => {
    clock = start();
  });

  afterEach(() => {
    clock.stop();
  });

  collectLogs();

  it('A test server answers its dialers', async () => {
    const peer = dial(echoing());
    expect(peer.status.state).toBe('connecting');
    expect(await clock.until(peer.request('x'))).toBe('x');
  });

  it('A test server emits each peer before the peer reads anything', async () => {
    const server = createServer();
    server.peers$.subscribe((accepted) => {
      accepted.onStream((_, stream) => stream.reply(accepted.isDialer ? 'dialer' : 'acceptor'));
    });
    expect(await clock.until(dial(server).request())).toBe('acceptor');
  });

  it('A test server accepts many dialers, each by itself', async () => {
    const server = echoing();
    const peers = [dial(server), dial(server), dial(server)];
    expect(await clock.until(Promise.all(peers.map((peer, nth) => peer.request(nth))))).toEqual([0, 1, 2]);
  });

  it('A test server has no link before the first dial, and then the newest', async () => {
    const server = echoing();
    expect(server.link).toBeNull();
    const first = dial(server);
    await clock.until(first.opened);
    const { link } = server;
    await clock.until(dial(server).opened);
    expect(server.link).not.toBe(link);
    link?.cut();
    await clock.until(reaches(first, 'open', 1));
    expect(await clock.until(first.request('again'))).toBe('again');
  });

  it('A peer reconnects when its link is cut', async () => {
    const server = echoing();
    const peer = dial(server);
    await clock.until(peer.opened);
    server.link?.cut({ code: 1012, reason: 'restart' });
    expect(await clock.until(reaches(peer, 'open', 1))).toEqual({ state: 'open', reconnects: 1 });
    expect(await clock.until(peer.request('x'))).toBe('x');
  });

  it.each([
    [503, 'CONNECT'],
    [403, 'CONNECT'],
    [400, 'CODEC_MISMATCH'],
  ])('A test server refuses a dial with HTTP %d', async (status, code) => {
    const server = echoing();
    server.refuse(status);
    const peer = dial(server, { reconnect: false });
    await expect(clock.until(peer.opened)).rejects.toMatchObject(status === 400 ? { code } : { code, status });
    expect(server.link).toBeNull();
  });

  it('A test server is unreachable while it refuses with 0', async () => {
    const server = echoing();
    server.refuse(0);
    const peer = dial(server, { reconnect: false });
    await expect(clock.until(peer.opened)).rejects.toMatchObject({ code: 'CONNECT', status: null });
    expect(await clock.until(peer.closed)).toMatchObject({ code: CloseCode.ABNORMAL });
  });

  it('A test server accepts dials again when it refuses with null', async () => {
    const server = echoing();
    server.refuse(503);
    const peer = dial(server, { reconnect: { ...SOON, maxAttempts: Infinity } });
    const waiting = reaches(peer, 'waiting');
    const answer = peer.request('x');
    answer.catch(() => undefined);
    void waiting.then(() => {
      server.refuse(null);
    });
    expect(await clock.until(answer)).toBe('x');
  });

  it('A test server passes its options to its peers, and applies latency and faults to its messages', async () => {
    const server = echoing({
      codec: new MsgpackCodec(),
      latencyMs: 3,
      faults: ({ frame }) => (frame.payload === 'lost' ? 'drop' : undefined),
    });
    const peer = dial(server, { codec: new MsgpackCodec() });
    await clock.until(peer.opened);
    const sooner = jest.fn();
    asyncScheduler.schedule(sooner, 4);
    const roundTrip = await clock.until(peer.ping());
    expect(sooner).toHaveBeenCalled();
    if (clock.kind === 'virtual') expect(roundTrip).toBe(6);
    expect(await clock.until(peer.request(new Uint8Array([1])))).toEqual(new Uint8Array([1]));
    await expect(clock.until(peer.request('lost', { timeoutMs: 20 }))).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it("A peer reconnects after the server's clean close", async () => {
    const server = echoing();
    let accepted: Peer | null = null;
    server.peers$.subscribe((peer) => (accepted = peer));
    const peer = dial(server);
    await clock.until(peer.opened);
    const again = reaches(peer, 'open', 1);
    void (accepted as Peer | null)?.close();
    await clock.until(again);
    expect(await clock.until(peer.request('x'))).toBe('x');
  });

  it('A closed peer abandons its dial', async () => {
    const peer = dial(echoing());
    expect(await clock.until(peer.close())).toMatchObject({ willRetry: false });
    expect(peer.status.state).toBe('closed');
  });

  it("A socket of a test server that is closed before it opens behaves as the platform's socket", async () => {
    const socket = echoing().socket('ws://test', 'mux.v1.json');
    const closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, wasClean }) => resolve({ code, wasClean }));
    });
    expect([socket.readyState, socket.protocol]).toEqual([0, '']);
    socket.send('too early');
    socket.close();
    expect(await clock.until(closed)).toEqual({ code: CloseCode.ABNORMAL, wasClean: false });
    socket.close();
    expect(socket.readyState).toBe(3);
  });
});

describe('createServer', () => {
  it('`createServer` treats an undefined keepalive as a missing one', async () => {
    const time = virtualTime();
    const server = createServer({ keepalive: undefined });
    const peer = connect('ws://test', { socket: server.socket, keepalive: false });
    const types: string[] = [];
    server.link?.messages$.subscribe(({ frame }) => types.push(frame.type));
    await time.advance(60_000);
    time.restore();
    expect([peer.status.state, types]).toEqual(['open', []]);
  });
});
