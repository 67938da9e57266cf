import { EventEmitter } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { afterEach, describe, expect, it } from '@jest/globals';
import { CodecMismatch, ConnectError, connect, JsonCodec, Peer } from '../../src/index.js';
import type { SocketEvent, SocketLike } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { portSocket } from '../../src/port.js';
import type { PortLike } from '../../src/port.js';
import { virtualTime } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { turn, until } from '../support/socket/leaks.js';

const KIB = 1024;
const JSON_V1 = 'mux.v1.json';
const ports: MessagePort[] = [];

/** Both ends of a channel, which the end of the test closes. */
function channel(): readonly [MessagePort, MessagePort] {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  return [port1, port2];
}

/** Records the events of a socket. */
function eventsOf(socket: SocketLike): SocketEvent[] {
  const events: SocketEvent[] = [];
  for (const type of ['open', 'message', 'close'] as const) socket.addEventListener(type, (event) => events.push(event));
  return events;
}

/** Two open sockets and their events from then on. */
async function opened() {
  const [one, other] = channel();
  const acceptor = portSocket(other);
  const dialer = portSocket(one, JSON_V1);
  acceptor.addEventListener('open', () => acceptor.resume?.());
  await until('the handshake', () => dialer.readyState === 1);
  return { dialer, acceptor, heard: { dialer: eventsOf(dialer), acceptor: eventsOf(acceptor) } };
}

/** A port whose other end is the test. It reports no close, as older browsers. */
class LonePort extends EventEmitter implements PortLike {
  readonly posted: unknown[] = [];
  isClosed = false;

  postMessage(message: unknown): void {
    this.posted.push(message);
  }

  start(): void {
    // It delivers at once.
  }

  close(): void {
    this.isClosed = true;
  }

  /** Delivers a message of the other end, with the event of Electron's main process. */
  deliver(data: unknown): void {
    this.emit('message', { data, ports: [] });
  }
}

/** The socket of a dialer whose acceptor is the test. */
function dialed(): { readonly port: LonePort; readonly socket: SocketLike; readonly heard: SocketEvent[] } {
  const port = new LonePort();
  const socket = portSocket(port, JSON_V1);
  port.deliver(['accept', JSON_V1]);
  return { port, socket, heard: eventsOf(socket) };
}

afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

describe('the handshake', () => {
  const logs = collectLogs();

  it('A dialer opens when the peer of the acceptor reads, and not before', async () => {
    const [one, other] = channel();
    const acceptor = new Peer(portSocket(other), { isDialer: false, onStream: (payload, stream) => stream.reply(payload) });
    const dialer = connect('ws://localhost', { socket: (_url, protocol) => portSocket(one, protocol) });
    const answer = dialer.request('hi');
    for (let nth = 0; nth < 20; nth++) await turn();
    expect(dialer.status.state).toBe('connecting');
    void acceptor.serve();
    expect(await answer).toBe('hi');
    await dialer.close();
  });

  it('A dialer that serves late hears what the acceptor has pushed meanwhile in order', async () => {
    const [one, other] = channel();
    const heard: unknown[] = [];
    const acceptor = new Peer(portSocket(other), { isDialer: false });
    const dialer = new Peer(portSocket(one, JSON_V1), { isDialer: true, onStream: (payload) => void heard.push(payload) });
    void acceptor.serve();
    for (const n of [1, 2, 3, 4]) acceptor.notify(n);
    await acceptor.opened;
    for (let nth = 0; nth < 20; nth++) await turn();
    void dialer.serve();
    await until('the pushes', () => heard.length === 4);
    expect([heard, logs.warnings.length]).toEqual([[1, 2, 3, 4], 1]);
    await dialer.close();
  });

  it('Both ends fail with a CodecMismatch when the acceptor has another codec', async () => {
    const [one, other] = channel();
    const acceptor = new Peer(portSocket(other), { isDialer: false, codec: new JsonCodec() });
    const refused = acceptor.opened.catch((error: unknown) => error);
    void acceptor.serve();
    const dialer = connect('ws://localhost', {
      codec: new MsgpackCodec(),
      reconnect: true,
      socket: (_url, protocol) => portSocket(one, protocol),
    });
    expect(await dialer.opened.catch((error: unknown) => error)).toBeInstanceOf(CodecMismatch);
    expect(await refused).toBeInstanceOf(CodecMismatch);
    expect(await dialer.closed).toMatchObject({ code: 1008, willRetry: false });
  });

  it('A dial that the other end closes with 1008 for another reason fails with its text', async () => {
    const [one, other] = channel();
    const acceptor = portSocket(other);
    acceptor.addEventListener('open', () => acceptor.close(1008, 'not for you'));
    const dialer = connect('ws://localhost', { socket: (_url, protocol) => portSocket(one, protocol) });
    expect(await dialer.opened.catch((error: unknown) => error)).toMatchObject({
      code: 'CONNECT',
      message: 'the connection to ws://localhost could not be opened (1008 not for you)',
    });
  });

  it('A dial fails when the other end closes before it answers', async () => {
    const [one, other] = channel();
    const acceptor = portSocket(other);
    acceptor.addEventListener('open', () => acceptor.close(4000, 'not now'));
    const dialer = connect('ws://localhost', { socket: (_url, protocol) => portSocket(one, protocol) });
    expect(await dialer.opened.catch((error: unknown) => error)).toBeInstanceOf(ConnectError);
    expect(await dialer.closed).toMatchObject({ code: 4000, reason: 'not now' });
  });

  it('Both dials fail when both ends dial', async () => {
    const failures = channel().map((port) => {
      const dialer = connect('ws://localhost', { socket: (_url, protocol) => portSocket(port, protocol) });
      return dialer.request('hi').catch((error: unknown) => error);
    });
    const message =
      'the connection to ws://localhost could not be opened (1006 expected one end of the port to accept by portSocket(port), got two that dial)';
    for (const failure of failures) expect(await failure).toMatchObject({ code: 'CONNECT', message });
  });

  it.each([
    { end: 'dials', protocol: JSON_V1, missing: 'the other end of the port has not answered' },
    { end: 'accepts', protocol: undefined, missing: 'the other end of the port has not dialed' },
  ])('A call over a port that $end names the other end when it has waited in vain', async ({ protocol, missing }) => {
    const peer = new Peer(portSocket(new LonePort(), protocol), { isDialer: true });
    void peer.serve();
    await expect(peer.request('hi', { timeoutMs: 5 })).rejects.toThrow(`but it was never sent: ${missing}`);
    await peer.close();
  });

  it('A dial over a port without an acceptor names the other end', async () => {
    const dialer = connect('ws://localhost', { connectTimeoutMs: 1, socket: (_url, protocol) => portSocket(new LonePort(), protocol) });
    await expect(dialer.opened).rejects.toThrow('expected a connection within 1 ms, got none: the other end of the port has not answered');
  });

  it('A dial that is given up closes its port', async () => {
    const port = new LonePort();
    const dialer = connect('ws://localhost', { connectTimeoutMs: 1, socket: (_url, protocol) => portSocket(port, protocol) });
    await expect(dialer.opened).rejects.toThrow('within 1 ms');
    expect(port.posted).toEqual([['open', JSON_V1], ['end']]);
    expect(port.isClosed).toBe(true);
  });

  it.each([
    ['port', {}, undefined, 'port: expected a MessagePort, got an object'],
    ['port', null, undefined, 'port: expected a MessagePort, got null'],
    [
      'port',
      { postMessage: () => undefined, terminate: () => undefined },
      undefined,
      'port: expected a MessagePort, got a worker or window: pass it one end of a MessageChannel',
    ],
    ['protocol', new LonePort(), 1, 'protocol: expected a string, got 1'],
  ])('`portSocket` throws for a wrong %s', (_name, port, protocol, message) => {
    expect(() => portSocket(port as PortLike, protocol as unknown as string)).toThrow(new TypeError(message));
  });
});

it('A port has one socket, also after that socket has closed: another dial needs another port', () => {
  const port = new LonePort();
  const socket = portSocket(port);
  const another = new TypeError('port: expected a fresh port for each socket, got one of another socket');
  expect(() => portSocket(port)).toThrow(another);
  socket.close();
  expect(port.isClosed).toBe(true);
  expect(() => portSocket(port)).toThrow(another);
});

describe('the end', () => {
  it.each(['dialer', 'acceptor'] as const)('Both ends report the code and reason with which the %s closes', async (side) => {
    const { heard, ...sockets } = await opened();
    sockets[side].close(1011, 'broken');
    expect(sockets[side].readyState).toBe(2);
    const close = { type: 'close', code: 1011, reason: 'broken', wasClean: true };
    await until('both ends', () => heard.dialer.length + heard.acceptor.length === 2);
    expect(heard).toEqual({ dialer: [close], acceptor: [close] });
    expect([sockets.dialer.readyState, sockets.acceptor.readyState]).toEqual([3, 3]);
  });

  it('Messages sent before a close arrive before it', async () => {
    const { dialer, heard } = await opened();
    dialer.send('last');
    dialer.close();
    dialer.send('too late');
    await until('the close', () => heard.dialer.length === 1);
    expect(heard.acceptor).toMatchObject([{ data: 'last' }, { code: 1000, reason: '' }]);
  });

  it('The other end reports 1006 when one end terminates', async () => {
    const { dialer, heard } = await opened();
    dialer.terminate?.();
    await until('the other end', () => heard.acceptor.length === 1);
    expect(heard.acceptor).toEqual([{ type: 'close', code: 1006, reason: '', wasClean: false }]);
  });

  it('A socket ends with 1006 when its port reports a close', async () => {
    const { dialer, heard } = await opened();
    ports[1]?.close();
    await until('the close', () => heard.dialer.length === 1);
    expect(heard.dialer).toMatchObject([{ code: 1006, wasClean: false }]);
    expect(dialer.readyState).toBe(3);
  });

  it('A socket ends with 1006 at a message that its platform cannot read', () => {
    const { port, heard } = dialed();
    port.emit('messageerror', {});
    expect(heard).toMatchObject([{ type: 'close', code: 1006 }]);
  });

  it('Keepalive ends a connection whose other end dies on a platform without close events', async () => {
    const time = virtualTime();
    const port = new LonePort();
    const dialer = connect('ws://localhost', { socket: (_url, protocol) => portSocket(port, protocol) });
    port.deliver(['accept', JSON_V1]);
    await time.advance(29_999);
    expect(dialer.status.state).toBe('open');
    await time.advance(2);
    expect(await dialer.closed).toMatchObject({ code: 1006 });
    time.restore();
  });

  it('A socket leaves no listener on its port', () => {
    const { port, socket } = dialed();
    socket.terminate?.();
    expect(port.eventNames()).toEqual([]);
  });
});

describe('back-pressure', () => {
  it('A socket counts what the other end has not read, and nothing once it has read all', async () => {
    const { dialer, acceptor, heard } = await opened();
    acceptor.pause?.();
    for (let nth = 0; nth < 16; nth++) dialer.send('x'.repeat(64 * KIB));
    for (let nth = 0; nth < 20; nth++) await turn();
    expect(dialer.bufferedAmount).toBe(15 * 64 * KIB);
    expect(heard.acceptor).toEqual([]);
    acceptor.resume?.();
    await until('the acknowledgement', () => dialer.bufferedAmount === 0);
    expect(heard.acceptor).toHaveLength(16);
  });

  it('A socket that is paused within a message delivers the rest in order when it resumes', async () => {
    const { dialer, acceptor, heard } = await opened();
    acceptor.pause?.();
    for (const text of ['a', 'b', 'c']) dialer.send(text);
    acceptor.addEventListener('message', () => {
      acceptor.pause?.();
      if (heard.acceptor.length === 2) acceptor.resume?.();
    });
    for (let nth = 0; nth < 20; nth++) await turn();
    acceptor.resume?.();
    await Promise.resolve();
    expect(heard.acceptor.map(({ data }) => data)).toEqual(['a']);
    acceptor.resume?.();
    await Promise.resolve();
    expect(heard.acceptor.map(({ data }) => data)).toEqual(['a', 'b', 'c']);
  });

  it.each([[1e15], [-1e15], [NaN], ['1']])('A socket counts on when the other end acknowledges %p bytes', (bytes) => {
    const { port, socket } = dialed();
    port.deliver(['read', bytes]);
    socket.send('x'.repeat(100 * KIB));
    expect(socket.bufferedAmount).toBeGreaterThanOrEqual(0);
    expect(socket.bufferedAmount).toBeLessThanOrEqual(100 * KIB);
  });
});

describe('messages', () => {
  it('A stream whose reader comes after the port was paused receives all payloads in order', async () => {
    const port = new LonePort();
    const peer = new Peer(portSocket(port, JSON_V1), { isDialer: true, keepalive: false });
    void peer.serve();
    port.deliver(['accept', JSON_V1]);
    const stream = peer.open('all');
    const seen: number[] = [];
    const text = 'x'.repeat(250 * KIB);
    for (let n = 0; n < 16; n++) port.deliver(JSON.stringify({ type: 'data', stream: 1, payload: [n, text] }));
    stream.subscribe({ next: (payload) => seen.push((payload as [number])[0]), error: () => undefined });
    for (let nth = 0; nth < 20; nth++) await turn();
    expect(seen).toEqual(Array.from({ length: 16 }, (_, n) => n));
    port.deliver(['end']);
    await peer.closed;
  });

  it('A view of bytes leaves without the rest of its buffer', async () => {
    const { dialer, heard } = await opened();
    const pool = new Uint8Array(100).fill(7);
    (dialer.send as (data: unknown) => void).call(dialer, pool.subarray(10, 13));
    await until('the message', () => heard.acceptor.length === 1);
    expect((heard.acceptor[0]?.data as ArrayBuffer).byteLength).toBe(3);
  });

  it.each([[{ open: 1 }], [null], [['close', '1000', '']], [['accept', 5]], [['close', 1.5, '']], [['other']]])(
    'A connection ends with 1003 at %j, which is neither text nor bytes',
    async (message) => {
      const port = new LonePort();
      const dialer = connect('ws://localhost', { socket: (_url, protocol) => portSocket(port, protocol) });
      port.deliver(['accept', JSON_V1]);
      await dialer.opened;
      port.deliver(message);
      port.deliver(['close', 1003, '']);
      expect(port.posted).toContainEqual(['close', 1003, 'expected text or bytes']);
      expect(await dialer.closed).toMatchObject({ code: 1003 });
    },
  );

  it('A dialer ends when a message comes before the answer to its offer', () => {
    const port = new LonePort();
    const socket = portSocket(port, JSON_V1);
    port.deliver('{}');
    expect([socket.readyState, port.isClosed]).toEqual([3, true]);
  });

  it('A second offer on an open port changes nothing', () => {
    const { port, socket, heard } = dialed();
    port.deliver(['open', 'mux.v1.other']);
    port.deliver(['accept', 'mux.v1.other']);
    expect(socket.protocol).toBe(JSON_V1);
    expect(heard).toEqual([]);
  });
});
