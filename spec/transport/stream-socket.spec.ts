import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ConnectError, connect, logger } from '../../src/index.js';
import type { ConnectOptions, Peer, SocketEvent, SocketLike } from '../../src/index.js';
import { virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { webSocketStream } from '../../src/websocketstream.js';
import { otherPlatform } from '../support/platform/globals.js';
import { ScriptedWebSocketStream } from '../support/socket/web-socket-stream.js';

const URL = 'ws://localhost/mux';
const JSON_V1 = 'mux.v1.json';
const KIB = 1024;

const onPlatform = otherPlatform();
let time: VirtualTime;

beforeEach(() => {
  time = virtualTime();
  onPlatform({ WebSocketStream: ScriptedWebSocketStream });
});

afterEach(() => {
  time.restore();
  ScriptedWebSocketStream.dialed.length = 0;
  jest.restoreAllMocks();
});

/** The stream of the last dial. */
function lastStream(): ScriptedWebSocketStream {
  const stream = ScriptedWebSocketStream.dialed.at(-1);
  if (stream === undefined) throw new Error('expected a dial, got none');
  return stream;
}

/** A socket that is not open yet, its stream, and its events. */
function dialed() {
  const socket = webSocketStream()(URL, JSON_V1);
  const events: SocketEvent[] = [];
  for (const type of ['open', 'message', 'error', 'close'] as const) socket.addEventListener(type, (event) => events.push(event));
  return { socket, stream: lastStream(), events };
}

async function opened() {
  const all = dialed();
  all.stream.open(JSON_V1);
  await time.advance();
  all.events.length = 0;
  return all;
}

const received = (data: unknown): SocketEvent => ({ type: 'message', data });

describe('a socket over a WebSocketStream', () => {
  it('A socket dials with the subprotocol, and opens with the one that the server selected', async () => {
    const { socket, stream, events } = dialed();
    expect([stream.url, stream.options, socket.readyState, socket.protocol]).toEqual([URL, { protocols: [JSON_V1] }, 0, '']);
    stream.open('other');
    stream.receive('first');
    await time.advance();
    expect([socket.readyState, socket.protocol]).toEqual([1, 'other']);
    expect(events).toEqual([{ type: 'open' }, received('first')]);
  });

  it('A socket delivers text, and bytes as an ArrayBuffer of their own', async () => {
    const { stream, events } = await opened();
    for (const message of ['', 'é', new Uint8Array([1]).buffer, new Uint8Array([0, 2, 3]).subarray(1)]) stream.receive(message);
    await time.advance();
    expect(events).toEqual(['', 'é', new Uint8Array([1]).buffer, new Uint8Array([2, 3]).buffer].map(received));
  });

  it('A socket counts what it was given as buffered until the platform has taken it', async () => {
    const { socket, stream } = await opened();
    socket.send('é');
    socket.send(new ArrayBuffer(3));
    await time.advance();
    expect(socket.bufferedAmount).toBe(5);
    stream.written();
    await time.advance();
    expect(socket.bufferedAmount).toBe(3);
    stream.written();
    await time.advance();
    expect(socket.bufferedAmount).toBe(0);
  });

  it('A socket drops what it is given before it is open, and once it closes', async () => {
    const { socket, stream } = dialed();
    socket.send('early');
    stream.open(JSON_V1);
    await time.advance();
    socket.close(1000, 'bye');
    socket.send('late');
    await time.advance();
    expect(stream.log).toEqual([['close', { closeCode: 1000, reason: 'bye' }]]);
  });

  describe('closing', () => {
    it('A socket closes only once everything is written', async () => {
      const { socket, stream, events } = await opened();
      socket.send('a');
      socket.send('b');
      socket.close(4000, 'bye');
      stream.written();
      await time.advance();
      expect(stream.log).toEqual(['a', 'b']);
      stream.written();
      await time.advance();
      expect(stream.log).toEqual(['a', 'b', ['close', { closeCode: 4000, reason: 'bye' }]]);
      expect([socket.readyState, events]).toEqual([2, []]);
      stream.end({ closeCode: 4000, reason: 'bye' });
      await time.advance();
      expect(events).toEqual([{ type: 'close', code: 4000, reason: 'bye', wasClean: true }]);
    });

    it('A socket that is closed without a code drops what is not written', async () => {
      const { socket, stream } = await opened();
      socket.send('a');
      socket.send('b');
      socket.close(1000, '');
      socket.close();
      stream.written();
      await time.advance();
      expect(stream.log).toEqual(['a', 'abort']);
    });

    it('A socket that is closed while its stream opens reads what comes, because the other close frame is behind it', async () => {
      const { socket, stream } = dialed();
      stream.open(JSON_V1);
      socket.close();
      stream.receive('unread');
      await time.advance();
      expect([stream.pulls > 0, socket.readyState, stream.log]).toEqual([true, 2, [['close', undefined]]]);
    });

    it('A socket without an answer to its dial ends the dial, and does not open afterwards', async () => {
      const { socket, stream, events } = dialed();
      socket.close(1000, 'given up');
      expect(stream.log).toEqual([['close', undefined]]);
      stream.open(JSON_V1);
      stream.lose();
      await time.advance();
      expect(events).toEqual([{ type: 'close', code: 1006, reason: '', wasClean: false }]);
      expect(socket.readyState).toBe(3);
    });

    it.each<readonly [what: string, play: (stream: ScriptedWebSocketStream) => void, code: number, reason: string, wasClean: boolean]>([
      ['the code and reason of the other end', (s) => s.end({ closeCode: 4005, reason: 'é' }), 4005, 'é', true],
      ['1006 for a lost line', (s) => s.lose(), 1006, '', false],
      ['the code of a close frame on a line that was lost then', (s) => s.lose({ closeCode: 4000, reason: 'x' }), 4000, 'x', false],
      ['1006 for an end without a code', (s) => s.lose({}), 1006, '', false],
    ])('A socket reports %s, once', async (_what, play, code, reason, wasClean) => {
      const { socket, stream, events } = await opened();
      play(stream);
      await time.advance();
      socket.close(1000, 'too late');
      await time.advance();
      expect(events).toEqual([{ type: 'close', code, reason, wasClean }]);
      expect(stream.log).toEqual([]);
    });

    it('A socket closes behind a write that fails', async () => {
      const { socket, stream, events } = await opened();
      socket.send('a');
      socket.close(1000, '');
      stream.lose();
      await time.advance();
      expect(events).toEqual([{ type: 'close', code: 1006, reason: '', wasClean: false }]);
    });
  });

  describe('pausing', () => {
    it('A paused socket asks its stream for nothing, and goes on in order', async () => {
      const { socket, stream, events } = await opened();
      expect(stream.pulls).toBe(1);
      socket.pause?.();
      for (const message of ['a', 'b', 'c']) stream.receive(message);
      await time.advance(3_600_000);
      expect([stream.pulls, events]).toEqual([1, []]);
      socket.resume?.();
      await time.advance();
      expect([stream.pulls, events]).toEqual([2, ['a', 'b', 'c'].map(received)]);
    });

    it('A socket delivers what it has held once `resume` has returned', async () => {
      const { socket, stream, events } = await opened();
      socket.pause?.();
      stream.receive('a');
      await time.advance();
      socket.resume?.();
      expect(events).toEqual([]);
      await time.advance();
      expect(events).toEqual([received('a')]);
    });

    it('A socket that its reader pauses keeps the rest for later', async () => {
      const { socket, stream, events } = await opened();
      socket.addEventListener('message', () => socket.pause?.());
      for (const message of ['a', 'b', 'c']) stream.receive(message);
      await time.advance();
      expect(events).toEqual([received('a')]);
      socket.resume?.();
      await time.advance();
      expect(events).toEqual([received('a'), received('b')]);
    });

    it('A paused socket delivers what is left before its close event', async () => {
      const { socket, stream, events } = await opened();
      socket.pause?.();
      stream.receive('a');
      stream.receive('b');
      await time.advance();
      stream.end({ closeCode: 1000, reason: '' });
      await time.advance();
      expect(events).toEqual([received('a'), received('b'), { type: 'close', code: 1000, reason: '', wasClean: true }]);
    });

    it('A paused socket reads on when it closes, because the other close frame comes behind what is unread', async () => {
      const { socket, stream } = await opened();
      socket.pause?.();
      stream.receive('a');
      await time.advance();
      expect(stream.pulls).toBe(1);
      socket.close(1000, '');
      await time.advance();
      expect(stream.pulls).toBe(2);
    });
  });
});

describe('a peer over a WebSocketStream', () => {
  function dial(options: ConnectOptions = {}): { peer: Peer; stream: ScriptedWebSocketStream } {
    const peer = connect(URL, { keepalive: false, socket: webSocketStream(), ...options });
    return { peer, stream: lastStream() };
  }

  it('A dial that is refused says the same as over a WebSocket, which does not know why', async () => {
    const { peer, stream } = dial();
    const opening = peer.opened.catch((error: unknown) => error);
    stream.lose({ closeCode: null, reason: '' });
    await time.advance(1);
    const error = await opening;
    expect(error).toBeInstanceOf(ConnectError);
    expect(String(error)).toContain('the connection to ws://localhost/mux could not be opened (1006); this platform does not say why');
  });

  it('A dial with the wrong subprotocol is closed with 4008, and is a CodecMismatch', async () => {
    const { peer, stream } = dial();
    const opening = peer.opened.catch((error: unknown) => error);
    stream.open('mux.v1.msgpack');
    await time.advance(1);
    expect(await opening).toMatchObject({ code: 'CODEC_MISMATCH' });
    expect(stream.log).toMatchObject([['close', { closeCode: 4008 }]]);
  });

  it('A dial that takes too long is given up, and is dialed again', async () => {
    jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    const { stream, peer } = dial({ reconnect: { minDelayMs: 1, maxDelayMs: 1 } });
    await time.advance(10_001);
    expect(stream.log).toEqual([['close', undefined]]);
    stream.lose();
    await time.advance(10);
    expect(ScriptedWebSocketStream.dialed).toHaveLength(2);
    await peer.close();
  });

  it('A peer terminates a silent connection after 30 s', async () => {
    const { peer, stream } = dial({ keepalive: undefined });
    stream.open(JSON_V1);
    await time.advance(29_999);
    expect(peer.status.state).toBe('open');
    await time.advance(2);
    expect(await peer.closed).toMatchObject({ code: 1006 });
  });

  it('A peer that leaves a stream unread stops reading at 3 MiB, and reads on once it is read', async () => {
    const { peer, stream } = dial();
    stream.open(JSON_V1);
    const call = peer.open<string>('flood', { end: true });
    await time.advance();
    let heard = 0;
    peer.onFrame((direction) => direction === 'rx' && heard++);
    const numbers = Array.from({ length: 60 }, (_, n) => n);
    for (const n of numbers) stream.receive(JSON.stringify({ type: 'data', stream: 1, payload: String(n).padEnd(64 * KIB - 64) }));
    await time.advance();
    expect(heard).toBe(48);
    const read: number[] = [];
    call.subscribe((piece) => read.push(parseInt(piece)));
    await time.advance();
    expect(read).toEqual(numbers);
  });
});

describe('a platform', () => {
  it('A platform without a WebSocketStream gets a WebSocket', () => {
    const made: unknown[] = [];
    class Plain extends EventTarget {
      constructor(...args: readonly unknown[]) {
        super();
        made.push(args);
      }
    }
    onPlatform({ WebSocketStream: undefined, WebSocket: Plain });
    const socket: SocketLike = webSocketStream()(URL, JSON_V1);
    expect(socket).toBeInstanceOf(Plain);
    expect(made).toEqual([[URL, JSON_V1]]);
  });

  it('A platform with neither says so at the dial', async () => {
    onPlatform({ WebSocketStream: undefined, WebSocket: undefined });
    const peer = connect(URL, { socket: webSocketStream() });
    await time.advance(1);
    await expect(peer.opened).rejects.toThrow('expected a platform with a WebSocket, got none');
  });

  it('An address that cannot be dialed is refused at the dial, without its credentials', async () => {
    const peer = connect('ftp://user:secret@localhost/mux', { socket: webSocketStream() });
    await time.advance(1);
    await expect(peer.opened).rejects.toThrow(/^url: expected a ws: or wss: address, got '?ftp:\/\/localhost\/mux'?/);
    expect(ScriptedWebSocketStream.dialed).toEqual([]);
  });

  it('A page with five sockets to one address is warned once', () => {
    const warn = jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    onPlatform({ document: { baseURI: 'http://localhost/' } });
    for (let n = 0; n < 6; n++) webSocketStream()('ws://localhost/many', JSON_V1);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(String(warn.mock.calls[0])).toContain('5 sockets to ws://localhost/many');
  });
});
