import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from '../../support/fast-check.js';
import type { Message } from '../../../src/wire/codec.js';
import { WriteBatch } from '../../../src/transport/ws/write.js';
import { turn } from '../../support/socket/leaks.js';
import { acceptedOver, FakeStream } from '../../support/socket/pipe.js';

const KIB = 1024;
const TEXT = 0x81;
const BINARY = 0x82;

/** Unmasks the bytes from `from` up to `to` with the key in front of them (RFC 6455 §5.3). */
function unmasked(bytes: Buffer, from: number, to = bytes.length): Buffer {
  return Buffer.from(bytes.subarray(from, to).map((byte, at) => byte ^ Number(bytes[from - 4 + (at % 4)])));
}

describe('WriteBatch', () => {
  let sink: FakeStream;
  let socket: { readyState: number };

  const batch = (masked: boolean): { readonly send: (message: Message) => void; readonly of: WriteBatch } => {
    const of = new WriteBatch(sink, socket, masked);
    const send = (message: Message): void => {
      of.add(message);
    };
    return { of, send };
  };

  beforeEach(() => {
    sink = new FakeStream();
    socket = { readyState: 1 };
  });

  it.each<readonly [size: number, header: readonly number[], masked: readonly number[]]>([
    [0, [0], [0x80]],
    [1, [1], [0x81]],
    [125, [125], [0xfd]],
    [126, [126, 0, 126], [0xfe, 0, 126]],
    [300, [126, 1, 44], [0xfe, 1, 44]],
    [65_535, [126, 255, 255], [0xfe, 255, 255]],
    [65_536, [127, 0, 0, 0, 0, 0, 1, 0, 0], [0xff, 0, 0, 0, 0, 0, 1, 0, 0]],
  ])('WriteBatch frames a message of %i bytes as RFC 6455 prescribes', async (size, header, masked) => {
    const content = Buffer.alloc(size, 'abcdefg');
    for (const [first, message] of [
      [TEXT, content.toString()],
      [BINARY, new Uint8Array(content).buffer],
    ] as const) {
      sink.forget();
      batch(false).send(message);
      await turn();
      expect(sink.written.equals(Buffer.from([first, ...header, ...content]))).toBe(true);

      sink.forget();
      batch(true).send(message);
      await turn();
      const bytes = sink.written;
      expect([...bytes.subarray(0, 1 + masked.length)]).toEqual([first, ...masked]);
      expect(unmasked(bytes, 5 + masked.length).equals(content)).toBe(true);
    }
  });

  it('WriteBatch masks each message with its own key', async () => {
    const { send } = batch(true);
    for (let n = 0; n < 3_000; n++) send('');
    await turn();
    const keys = new Set<number>();
    for (let at = 2; at < sink.written.length; at += 6) keys.add(sink.written.readUInt32BE(at));
    // Among all these random keys one pair may be equal; two pairs hardly ever are.
    expect(keys.size).toBeGreaterThan(2_997);
  });

  it('WriteBatch masks the first message of a program, and writes it together with the second', async () => {
    await jest.isolateModulesAsync(async () => {
      const { WriteBatch: Fresh } = await import('../../../src/transport/ws/write.js');
      const fresh = new Fresh(sink, socket, true);
      fresh.add('first');
      expect(sink.writes).toEqual([]);
      fresh.add('x'.repeat(64 * KIB));
    });
    expect(sink.writes).toEqual([6 + 5 + 14 + 64 * KIB]);
    expect(sink.written.toString('latin1', 6, 11)).not.toBe('first');
    expect(unmasked(sink.written, 6, 11).toString()).toBe('first');
    expect(unmasked(sink.written, 25).toString()).toBe('x'.repeat(64 * KIB));
  });

  it('WriteBatch writes after 8 messages of a turn, then after twice as many each time, up to 128', async () => {
    const { send } = batch(false);
    for (let n = 0; n < 8 + 16 + 32 + 64 + 128 + 128 + 5; n++) send('x');
    expect(sink.writes).toEqual([8, 16, 32, 64, 128, 128].map((messages) => 3 * messages));
    await turn();
    expect(sink.writes.slice(6)).toEqual([3 * 5]);
  });

  it.each<readonly [messages: readonly string[], written: readonly string[]]>([
    [['naïve 😀 \ud800.'], ['naïve 😀 \ufffd.']],
    [
      ['plain', 'naïve', 'plain'],
      ['plain', 'naïve', 'plain'],
    ],
    [
      ['\ud83d', '\ude00'],
      ['\ufffd', '\ufffd'],
    ],
    [
      ['', 'a\0b', ''],
      ['', 'a\0b', ''],
    ],
  ])('WriteBatch writes text as UTF-8, with U+FFFD for a lone surrogate: %j', async (messages, expected) => {
    const { send } = batch(false);
    for (const message of messages) send(message);
    await turn();
    const frames = expected.map((message) => Buffer.concat([Buffer.from([TEXT, Buffer.byteLength(message)]), Buffer.from(message)]));
    expect(sink.written).toEqual(Buffer.concat(frames));
  });

  it('WriteBatch writes frames that ws reads back as the same messages', async () => {
    const line = new FakeStream();
    const remote = acceptedOver(line);
    let received: Message[] = [];
    remote.messages$.subscribe((message) => received.push(message));
    const text = fc.string({ unit: 'binary', maxLength: 300 });
    const bytes = fc.uint8Array({ maxLength: 300 }).map((values) => new Uint8Array(values).buffer);
    const burst = fc.asyncProperty(fc.array(fc.oneof(text, bytes), { minLength: 1, maxLength: 40 }), async (messages) => {
      sink.forget();
      received = [];
      const { send } = batch(true);
      for (const message of messages) send(message);
      await turn();
      line.push(sink.written);
      await turn();
      expect(received).toEqual(messages);
    });
    await fc.assert(burst);
    remote.terminate();
  });

  it.each<readonly [what: string, messages: readonly string[], times: number]>([
    ['a batch of ASCII texts once', ['one', 'two', 'three'], 1],
    ['each text on its own as well when one is not ASCII', ['one', 'två', 'three'], 1 + 3],
  ])('WriteBatch measures %s', async (_what, messages, times) => {
    const { of } = batch(true);
    const measured = jest.spyOn(Buffer, 'byteLength');
    for (const message of messages) of.add(message);
    await turn();
    const { length } = measured.mock.calls;
    measured.mockRestore();
    expect([length, sink.writes.length]).toEqual([times, 1]);
  });

  it('WriteBatch counts unwritten bytes, and writes them once on `flush`', async () => {
    const { send, of } = batch(false);
    expect(of.bytes).toBe(0);
    const framed = 2 + 98 + 2 + 2;
    send('x'.repeat(98));
    expect(of.bytes).toBe(2 + 98);
    send('é');
    expect([of.bytes, of.addedBytes, sink.writes.length]).toEqual([framed, framed, 0]);
    of.flush();
    expect([of.bytes, of.addedBytes, sink.written.length]).toEqual([0, framed, framed]);
    of.flush();
    await turn();
    expect(sink.writes).toHaveLength(1);
  });

  it('WriteBatch copies bytes on `add`, so that later changes do not reach the wire', async () => {
    const { send } = batch(false);
    const [changed, transferred] = [new Uint8Array([1, 2]), new Uint8Array([3])];
    send(changed.buffer);
    send(transferred.buffer);
    changed.fill(9);
    structuredClone(transferred.buffer, { transfer: [transferred.buffer] });
    await turn();
    expect([...sink.written]).toEqual([BINARY, 2, 1, 2, BINARY, 1, 3]);
  });

  it.each<readonly [what: string, make: () => unknown]>([
    ['a number', () => 5],
    ['an object', () => ({})],
    ['nothing', () => null],
    [
      'a detached buffer',
      () => {
        const { buffer } = new Uint8Array(3);
        structuredClone(buffer, { transfer: [buffer] });
        return buffer;
      },
    ],
  ])('WriteBatch throws a TypeError for %s, and writes the other messages', async (_what, make) => {
    const { send, of } = batch(false);
    send('before');
    expect(() => send(make() as Message)).toThrow(expect.objectContaining({ name: 'TypeError' }));
    send('after');
    await turn();
    expect(sink.written.toString('latin1')).toBe('\x81\x06before\x81\x05after');
    expect(of.bytes).toBe(0);
  });

  it('WriteBatch writes the first message at once after a turn with one message, and joins the rest', async () => {
    const { send, of } = batch(true);
    send('one');
    expect(sink.writes).toHaveLength(0);
    await turn();
    send('two');
    expect([sink.writes.length, of.bytes]).toEqual([2, 0]);
    for (const message of ['three', 'four']) send(message);
    expect(sink.writes).toHaveLength(2);
    await turn();
    expect(sink.writes).toEqual([6 + 3, 6 + 3, 6 + 5 + 6 + 4]);
    // The last turn had several messages, so the next message waits again.
    send('five');
    expect(sink.writes).toHaveLength(3);
    await turn();
    expect(sink.writes).toHaveLength(4);
  });

  it('WriteBatch calls a task once the stream has taken all messages, and not before', async () => {
    const { send, of } = batch(false);
    const task = jest.fn();
    sink.hold();
    for (const message of ['first', 'second']) {
      send(message);
      await turn();
    }
    send('unwritten');
    of.whenTaken(task);
    await turn();
    expect(task).not.toHaveBeenCalled();
    sink.flow();
    await turn();
    await turn();
    expect([task.mock.calls.length, sink.writableLength, of.bytes]).toEqual([1, 0, 0]);
    expect(sink.written.toString('latin1')).toBe('\x81\x05first\x81\x06second\x81\x09unwritten');
  });

  it('Only the first socket of a turn writes a message at once, and the others write theirs at the end of the turn', async () => {
    const sinks = [new FakeStream(), new FakeStream()];
    const batches = sinks.map((stream) => new WriteBatch(stream, socket, false));
    const lengths = (): readonly number[] => sinks.map(({ writes }) => writes.length);
    for (const each of batches) each.add('one');
    await turn();
    for (const each of batches) each.add('two');
    expect(lengths()).toEqual([2, 1]);
    await turn();
    expect(lengths()).toEqual([2, 2]);
  });

  it('WriteBatch writes a few large messages before the turn ends', async () => {
    const { send } = batch(false);
    for (let n = 0; n < 3; n++) send('x'.repeat(30 * KIB));
    expect(sink.writes).toEqual([3 * (4 + 30 * KIB)]);
    send('x'.repeat(64 * KIB));
    expect(sink.writes).toHaveLength(2);
    await turn();
    expect(sink.writes).toHaveLength(2);
  });

  it('WriteBatch writes nothing once its socket closes', async () => {
    const { send, of } = batch(false);
    send('too late');
    socket.readyState = 2;
    await turn();
    expect([sink.writes.length, of.bytes]).toEqual([0, 0]);
  });
});

describe('WriteBatch over a socket of Node', () => {
  it.each<readonly [what: string, messages: readonly string[]]>([
    ['lengths at the bounds of a header', ['', 'a', 'b'.repeat(125), 'c'.repeat(126), 'd'.repeat(255), 'e'.repeat(256), 'f'.repeat(383)]],
    ['text that is not ASCII', ['plain', 'naïve 😀', 'plain again']],
    ['text that fills the stack of a write', ['x'.repeat(15 * KIB)]],
    ['longer text', ['x'.repeat(15 * KIB + 1), 'y'.repeat(20 * KIB)]],
  ])('The remote receives the bytes of each message after its header: %s', async (_what, messages) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [remote] = (await once(server, 'connection')) as [Socket];
    const chunks: Buffer[] = [];
    remote.on('data', (chunk: Buffer) => chunks.push(chunk));
    const batch = new WriteBatch(socket, { readyState: 1 }, false);
    for (const message of messages) batch.add(message);
    batch.flush();
    socket.end();
    await once(remote, 'end');
    const contents = messages.map((message) => Buffer.from(message));
    const headers = contents.map(({ length }) => (length <= 125 ? [TEXT, length] : [TEXT, 126, length >> 8, length & 0xff]));
    const expected = Buffer.concat(contents.flatMap((content, n) => [Buffer.from(headers[n] ?? []), content]));
    expect(Buffer.concat(chunks).equals(expected)).toBe(true);
    expect(batch.headerBytes).toBe(headers.flat().length);
    expect(batch.addedBytes).toBe(expected.length);
    socket.destroy();
    server.close();
  });
});
