import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { share, Subject } from 'rxjs';
import { WebSocket } from 'ws';
import { connect, serve } from '../../src/node.js';
import { encodeOnce } from '../../src/index.js';
import type { Codec } from '../../src/wire/codec.js';
import { CODECS } from '../support/codec/shipped.js';
import { portOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { until } from '../support/socket/leaks.js';

const http = httpServer();
const url = (): string => `ws://127.0.0.1:${portOf(http.now)}`;
const READERS = 6;
const VALUES = 60;
const VALUE_BYTES = 40_000;

interface Value {
  readonly n: number;
  readonly text: string;
}

/** Records the memory of the values that sockets write. A socket writes it itself, or a part of it. */
function memoryOfValues(): Set<ArrayBufferLike> {
  const memory = new Set<ArrayBufferLike>();
  const written = Object.getPrototypeOf(Socket.prototype) as Pick<Socket, 'write'>;
  jest.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...args: unknown[]) {
    const [chunk] = args;
    if (chunk instanceof Uint8Array && chunk.length >= VALUE_BYTES) memory.add(chunk.buffer);
    return written.write.apply(this, args as Parameters<Socket['write']>);
  });
  return memory;
}

/** Subscribes, and stands still. Returns the values that it has received, and a function that begins to read. */
async function standing(codec: Codec): Promise<{ readonly got: readonly number[]; readonly read: () => void; readonly end: () => void }> {
  const ws = new WebSocket(url(), [`mux.v1.${codec.name}`], { perMessageDeflate: false });
  const got: number[] = [];
  ws.on('message', (data: Buffer) => {
    const { type, nonce, payload } = codec.decode(codec.binary ? new Uint8Array(data).buffer : data.toString());
    if (type === 'ping') ws.send(codec.encode({ type: 'pong', nonce }));
    if (type === 'data') got.push((payload as Value).n);
  });
  await once(ws, 'open');
  ws.pause();
  ws.send(codec.encode({ type: 'open', stream: 1, end: true }));
  return {
    got,
    read: () => {
      ws.resume();
    },
    end: () => {
      ws.terminate();
    },
  };
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe.each(CODECS)('A broadcast under %s', (_name, codec) => {
  it('A subscriber that stands still holds up no other, and all sockets together hold each value once', async () => {
    const values$ = new Subject<Value>();
    const shared$ = values$.pipe(encodeOnce(), share());
    let subscribers = 0;
    const server = serve({
      server: http.now,
      codec,
      keepalive: false,
      handler: (_payload, stream) => {
        subscribers++;
        return stream.sendAll(shared$);
      },
    });
    const memory = memoryOfValues();
    const readers = Array.from({ length: READERS }, () => connect(url(), { codec, keepalive: false }));
    let ended = 0;
    const got = readers.map((peer) => {
      const numbers: number[] = [];
      peer.open$<Value>().subscribe({
        next: ({ n }) => numbers.push(n),
        complete: () => ended++,
      });
      return numbers;
    });
    const slow = await standing(codec);
    await until('all subscribers', () => subscribers === READERS + 1);
    for (let n = 0; n < VALUES; n++) {
      values$.next({ n, text: 'x'.repeat(VALUE_BYTES) });
      await until('the value at each reader', () => got.every((numbers) => numbers.length > n));
    }
    const unsent = [...server.peers].map(({ bufferedAmount }) => bufferedAmount).filter((bytes) => bytes > 0);
    expect(unsent).toEqual([expect.any(Number)]);
    expect(slow.got).toEqual([]);
    slow.read();
    await until('all values', () => slow.got.length === VALUES);
    const numbers = Array.from({ length: VALUES }, (_, n) => n);
    expect([...got, slow.got]).toEqual(Array(READERS + 1).fill(numbers));
    expect(memory.size).toBe(VALUES);
    values$.complete();
    await until('the end of all streams', () => ended === READERS);
    slow.end();
    await Promise.all(readers.map((peer) => peer.close()));
    await server.close();
  });
});
