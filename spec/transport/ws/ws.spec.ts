import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { Message } from '../../../src/wire/codec.js';
import type { SocketClose, Transport } from '../../../src/transport/transport.js';
import { dialWs, transportOf, WsTransport, WsUpgrader } from '../../../src/transport/ws/ws.js';
import { otherPlatform } from '../../support/platform/globals.js';
import { turn, until, watchResources } from '../../support/socket/leaks.js';
import { FakeSocket } from '../../support/socket/fake.js';
import { closing, listening } from '../../support/socket/listening.js';
import { acceptedOver, FakeStream, upgradedBy } from '../../support/socket/pipe.js';

const KIB = 1024;
const pretend = otherPlatform();
const MASKED_EMPTY_TEXT = Buffer.from([0x81, 0x80, 0, 0, 0, 0]);
const MASKED_CLOSE = Buffer.from([0x88, 0x80, 0, 0, 0, 0]);

describe('WsTransport', () => {
  describe('over a stream', () => {
    let stream: FakeStream;
    let transport: WsTransport;

    beforeEach(async () => {
      stream = new FakeStream();
      transport = acceptedOver(stream);
      await turn();
      stream.forget();
    });

    afterEach(() => {
      transport.terminate();
    });

    it('WsTransport writes the messages of one turn at once', async () => {
      for (let n = 0; n < 7; n++) transport.send(`message ${n}`);
      expect(stream.writes).toEqual([]);
      await turn();
      expect(stream.writes).toEqual([7 * (2 + 'message 0'.length)]);
      transport.send('and the next turn');
      await turn();
      expect(stream.writes).toHaveLength(2);
    });

    it('WsTransport writes during a long turn, each time twice as many messages', async () => {
      const each = 2 + 'message'.length;
      const burst = (count: number): void => {
        for (let n = 0; n < count; n++) transport.send('message');
      };
      burst(8);
      expect(stream.writes).toEqual([8 * each]);
      burst(15);
      expect(stream.writes).toHaveLength(1);
      burst(1);
      expect(stream.writes).toEqual([8 * each, 16 * each]);
      burst(33);
      expect(stream.writes).toEqual([8 * each, 16 * each, 32 * each]);
      await turn();
      expect(stream.writes).toEqual([8 * each, 16 * each, 32 * each, each]);
      burst(8);
      expect(stream.writes.at(-1)).toBe(8 * each);
    });

    it('WsTransport writes at most 128 messages at once', async () => {
      const each = 2 + 'message'.length;
      for (let n = 0; n < 8 + 16 + 32 + 64 + 128 + 128 + 1; n++) transport.send('message');
      await turn();
      expect(stream.writes).toEqual([8, 16, 32, 64, 128, 128, 1].map((messages) => messages * each));
    });

    it('WsTransport writes queued messages before the close frame', async () => {
      transport.send('last words');
      transport.close(1000, 'bye');
      await turn();
      expect(stream.writes.reduce((sum, size) => sum + size, 0)).toBe(2 + 'last words'.length + 2 + 2 + 'bye'.length);
    });

    it('WsTransport writes nothing after it has answered the close frame of the remote', async () => {
      transport.messages$.subscribe((message) => transport.send(message));
      stream.push(Buffer.concat([MASKED_EMPTY_TEXT, MASKED_CLOSE]));
      await until('the close', () => !transport.writable);
      await turn();
      expect(stream.writes).toEqual([2]);
    });

    it('WsTransport counts messages queued for the end of the turn as buffered', async () => {
      transport.send('x'.repeat(100));
      expect(transport.bufferedAmount).toBeGreaterThanOrEqual(100);
      await turn();
      expect(transport.bufferedAmount).toBe(0);
    });

    it.each<readonly [what: string, act: (transport: WsTransport, stream: FakeStream) => void]>([
      ['terminated', (t) => t.terminate()],
      ['destroyed', (_t, s) => s.destroy()],
      ['destroyed with an error', (_t, s) => s.destroy(new Error('ECONNRESET'))],
      ['ended', (_t, s) => s.end()],
    ])('WsTransport closes with 1006 when its stream is %s in the turn of a message', async (_what, act) => {
      transport.send('x');
      act(transport, stream);
      transport.send('y');
      await turn();
      await turn();
      stream.push(null);
      await until('the end', () => transport.closed !== null);
      expect(transport.closed).toMatchObject({ code: 1006, wasClean: false });
    });

    it.each(['OPEN', 'CLOSED'] as const)('WsTransport pauses and resumes without throwing in state %s', async (state) => {
      if (state === 'CLOSED') {
        stream.destroy();
        await until('the end', () => transport.closed !== null);
      }
      transport.pause();
      expect(stream.isPaused()).toBe(state === 'OPEN');
      transport.resume();
      expect(stream.isPaused()).toBe(false);
    });

    describe('whenBelow', () => {
      /** Fills the stream with messages of `size` until it holds `bytes`. */
      const fill = (bytes: number, size: number): void => {
        stream.hold();
        while (transport.bufferedAmount < bytes) transport.send('x'.repeat(size));
      };

      it.each([10, 1_000, 2 * KIB, 20 * KIB, 64 * KIB, 1024 * KIB])(
        'WsTransport runs its task once when messages of %i bytes have drained',
        async (size) => {
          fill(1024 * KIB, size);
          await turn();
          const task = jest.fn();
          transport.whenBelow(256 * KIB, task);
          await turn();
          expect(task).not.toHaveBeenCalled();
          stream.flow();
          await until('the task', () => task.mock.calls.length > 0);
          expect(transport.bufferedAmount).toBeLessThanOrEqual(256 * KIB);
          transport.send('x'.repeat(300 * KIB));
          await turn();
          await turn();
          expect(task).toHaveBeenCalledTimes(1);
        },
      );

      it.each([0, 1, 40 * KIB])('WsTransport runs its task at a threshold of %i bytes', async (bytes) => {
        fill(bytes + 1, 100);
        await turn();
        const task = jest.fn();
        transport.whenBelow(bytes, task);
        stream.flow();
        await until('the task', () => task.mock.calls.length > 0);
        expect(task).toHaveBeenCalledTimes(1);
      });

      it('WsTransport runs its task in a later turn when the socket is idle', async () => {
        const task = jest.fn();
        transport.whenBelow(256 * KIB, task);
        expect(task).not.toHaveBeenCalled();
        await turn();
        await turn();
        expect(task).toHaveBeenCalledTimes(1);
      });

      it('WsTransport never runs its task once the remote has begun to close', async () => {
        fill(1024 * KIB, 64 * KIB);
        await turn();
        const task = jest.fn();
        transport.whenBelow(256 * KIB, task);
        stream.push(MASKED_CLOSE);
        await until('the close', () => !transport.writable);
        stream.flow();
        stream.push(null);
        await until('the end', () => transport.closed !== null);
        const { sentBytes } = transport;
        transport.send('x');
        expect([task.mock.calls.length, transport.sentBytes]).toEqual([0, sentBytes]);
      });

      it('WsTransport drops a waiting task when a second one replaces it', async () => {
        fill(1024 * KIB, 64 * KIB);
        await turn();
        const [first, second] = [jest.fn(), jest.fn()];
        transport.whenBelow(256 * KIB, first);
        transport.whenBelow(256 * KIB, second);
        stream.flow();
        await until('the task', () => second.mock.calls.length > 0);
        expect(first).not.toHaveBeenCalled();
      });
    });
  });

  it('WsTransport sends each message at once on Bun, which has its own sockets', async () => {
    pretend({ process: Object.create(process, { versions: { value: { ...process.versions, bun: '1.4.5' } } }) as unknown });
    const stream = new FakeStream();
    await jest.isolateModulesAsync(async () => {
      const there = await import('../../support/socket/pipe.js');
      const transport = there.acceptedOver(stream);
      stream.forget();
      for (let n = 0; n < 3; n++) transport.send('message');
      expect(transport.bufferedAmount).toBe(0);
      transport.terminate();
    });
    expect(stream.writes).toEqual([2 + 'message'.length, 2 + 'message'.length, 2 + 'message'.length]);
  });

  it('WsUpgrader returns a transport for an open stream and an error text for an ended one', () => {
    const upgrader = new WsUpgrader('mux.v1.json', KIB);
    const [open, ended] = [new FakeStream(), new FakeStream()];
    ended.destroy();
    const first = upgradedBy(upgrader, open);
    expect(first).toBeInstanceOf(WsTransport);
    expect(upgradedBy(upgrader, ended)).toBe('the socket has ended');
    open.destroy();
  });

  describe('over TCP', () => {
    let leaks: ReturnType<typeof watchResources>;
    let server: WebSocketServer;
    let accepted: Promise<WebSocket>;
    let url: string;

    beforeEach(async () => {
      leaks = watchResources();
      server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'mux.v1.json' });
      accepted = new Promise((resolve) => server.once('connection', resolve));
      await new Promise((resolve) => server.once('listening', resolve));
      url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });

    afterEach(async () => {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
      expect(await leaks()).toEqual({});
    });

    const endOf = async (transport: Transport): Promise<SocketClose> => {
      await until('the end', () => transport.closed !== null);
      return transport.closed as SocketClose;
    };

    it('WsTransport stops reading until a reader subscribes, and loses nothing', async () => {
      const dialed = dialWs(url, 'mux.v1.json', { maxPayload: KIB * KIB });
      const transport = transportOf(await accepted);
      await until('the dialer to open', () => dialed.protocol !== '');
      const message = 'x'.repeat(64 * KIB);
      let sent = 0;
      for (let still = 0; still < 200;) {
        await turn();
        if (dialed.bufferedAmount >= KIB * KIB) still++;
        else {
          still = 0;
          sent++;
          dialed.send(message);
        }
        if (sent === 1_000) break;
      }
      expect(sent).toBeLessThan(1_000);
      let received = 0;
      transport.messages$.subscribe(() => {
        received++;
      });
      await until('everything to arrive', () => received === sent);
      dialed.close(1000, '');
      expect(await endOf(dialed)).toMatchObject({ code: 1000 });
    });

    it('WsTransport bypasses ws for whole messages on sockets it made, at both ends', async () => {
      const http = createHttpServer();
      const upgrader = new WsUpgrader('mux.v1.json', KIB);
      const upgraded = new Promise<WsTransport | string>((resolve) => {
        http.once('upgrade', (request, socket, head: Buffer) => {
          resolve(upgrader.upgrade(request, socket, head));
        });
      });
      await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
      const emitted = jest.spyOn(WebSocket.prototype, 'emit');
      const dialed = dialWs(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`, 'mux.v1.json', { maxPayload: KIB });
      const ends = [dialed, (await upgraded) as WsTransport] as const;
      const received: Message[][] = ends.map(() => []);
      ends.forEach((end, n) => end.messages$.subscribe((message) => received[n]?.push(message)));
      await until('both to be open', () => ends.every(({ writable }) => writable));
      for (const end of ends) {
        end.send('naïve');
        end.send(Uint8Array.of(1, 2).buffer);
      }
      const all = ['naïve', Uint8Array.of(1, 2).buffer];
      await until('all to arrive', () => received.every(({ length }) => length === all.length));
      expect(received).toEqual([all, all]);
      expect(emitted.mock.calls.map(([name]) => name)).not.toContain('message');
      emitted.mockRestore();
      dialed.close(1000, '');
      expect(await Promise.all(ends.map(endOf))).toMatchObject([{ code: 1000 }, { code: 1000 }]);
      await closing(http);
    });

    it('WsTransport reads through ws when the caller made the socket', async () => {
      const dialed = new WsTransport(new WebSocket(url, ['mux.v1.json'], { allowSynchronousEvents: false }));
      const remote = transportOf(await accepted);
      const emitted = jest.spyOn(WebSocket.prototype, 'emit');
      const received = new Promise((resolve) => dialed.messages$.subscribe(resolve));
      remote.send('message');
      expect(await received).toBe('message');
      expect(emitted.mock.calls.map(([name]) => name)).toContain('message');
      emitted.mockRestore();
      dialed.terminate();
    });

    it('Both ends report 1009 for a message over maxPayload', async () => {
      const dialed = dialWs(url, 'mux.v1.json', { maxPayload: 100 });
      const remote = transportOf(await accepted);
      remote.messages$.subscribe();
      remote.send('x'.repeat(101));
      expect(await endOf(dialed)).toEqual({ code: 1009, reason: 'Max payload size exceeded', wasClean: false });
      expect(await endOf(remote)).toMatchObject({ code: 1009 });
    });

    it('WsTransport reports 1009 even when another error follows', async () => {
      const ws = new WebSocket(url, ['mux.v1.json'], { maxPayload: 100 });
      const dialed = new WsTransport(ws);
      const remote = transportOf(await accepted);
      remote.messages$.subscribe();
      ws.once('error', () => ws.emit('error', new Error('after it')));
      remote.send('x'.repeat(101));
      expect(await endOf(dialed)).toMatchObject({ code: 1009, wasClean: false });
    });

    it('WsTransport reports 1006 for an invalid frame', async () => {
      server.once('connection', (_ws, request) => request.socket.write(Buffer.from([0xff, 0xff])));
      const dialed = dialWs(url, 'mux.v1.json', { maxPayload: 100 });
      expect(await endOf(dialed)).toMatchObject({ code: 1006, wasClean: false });
    });

    it('WsTransport ends a dial that is terminated before the handshake completes', async () => {
      const silent = await listening(createServer());
      const dialed = dialWs(`ws://127.0.0.1:${(silent.address() as AddressInfo).port}`, 'mux.v1.json', { maxPayload: 100 });
      const met = new Promise((resolve) => silent.once('connection', resolve));
      await met;
      dialed.terminate('given up');
      expect(dialed.closed).toEqual({ code: 1006, reason: 'given up', wasClean: false });
      await closing(silent);
    });

    it('WsTransport removes all its listeners but the error listener at its end', async () => {
      const dialed = dialWs(url, 'mux.v1.json', { maxPayload: 100 });
      const ws = await accepted;
      const own = Object.fromEntries(ws.eventNames().map((event) => [event, ws.listenerCount(event)]));
      transportOf(ws).terminate();
      expect(Object.fromEntries(ws.eventNames().map((event) => [event, ws.listenerCount(event)]))).toEqual({ ...own, error: 1 });
      dialed.terminate();
    });

    it('`transportOf` returns a WsTransport only for a socket with all the methods of ws', async () => {
      const dialed = dialWs(url, 'mux.v1.json', { maxPayload: 100 });
      expect(transportOf(await accepted)).toBeInstanceOf(WsTransport);
      for (const calls of [[], ['pause', 'once'], ['pause', 'terminate'], ['once', 'terminate']]) {
        const socket = Object.assign(new FakeSocket(), Object.fromEntries(calls.map((call) => [call, () => undefined])));
        expect(transportOf(socket)).not.toBeInstanceOf(WsTransport);
      }
      dialed.terminate();
    });

    it('`dialWs` offers one subprotocol and no compression', async () => {
      const offered = new Promise<unknown>((resolve) =>
        server.once('headers', (_headers, request) =>
          resolve([request.headers['sec-websocket-extensions'], request.headers['sec-websocket-protocol']]),
        ),
      );
      const dialed = dialWs(url, 'mux.v1.json', { maxPayload: 100 });
      expect(await offered).toEqual([undefined, 'mux.v1.json']);
      dialed.terminate();
    });
  });
});
