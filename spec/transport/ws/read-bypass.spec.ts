import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from '../../support/fast-check.js';
import { asyncScheduler } from 'rxjs';
import type { WebSocket } from 'ws';
import { NodeSocket } from '../../../src/transport/ws/read.js';
import type { PausableSocket } from '../../../src/transport/ws/read.js';
import type { Message } from '../../../src/wire/codec.js';
import { encodedLength } from '../../../src/wire/length.js';
import { turn, until } from '../../support/socket/leaks.js';
import { FakeStream, openWs } from '../../support/socket/pipe.js';

const MAX_PAYLOAD = 70_000;
const SEED = { seed: 20_261_125 };

/** A valid or invalid frame of a remote. */
interface Written {
  readonly first: number;
  readonly content: Buffer;
  /** Size of the length field in bytes. Default: the shortest form. */
  readonly lengthBytes?: 2 | 8 | undefined;
  /** Whether the masking is the opposite of what the protocol demands. */
  readonly wronglyMasked?: boolean;
}

const text = (content: string, first = 0x81): Written => ({ first, content: Buffer.from(content) });
const binary = (...content: number[]): Written => ({ first: 0x82, content: Buffer.from(content) });
const control = (first: number, content = ''): Written => ({ first, content: Buffer.from(content) });
const PING = control(0x89, 'p');
const CLOSE = control(0x88);

function bytesOf({ first, content, lengthBytes, wronglyMasked = false }: Written, masked: boolean): Buffer {
  const { length } = content;
  const form = lengthBytes ?? (length < 126 ? 0 : length < 2 ** 16 ? 2 : 8);
  const head = Buffer.alloc(2 + form, 0);
  head[0] = first;
  head[1] = form === 0 ? length : form === 2 ? 126 : 127;
  if (form === 2) head.writeUInt16BE(length, 2);
  if (form === 8) head.writeBigUInt64BE(BigInt(length), 2);
  if (masked === wronglyMasked) return Buffer.concat([head, content]);
  head[1] |= 0x80;
  const key = Buffer.from([0x5a, 0xc3, 0x01, 0xfe]);
  return Buffer.concat([head, key, content.map((byte, at) => byte ^ Number(key[at % 4]))]);
}

/** Begins to read past `ws`. The transport of a socket stops that once `ws` has failed. */
function bypass(ws: PausableSocket, stream: FakeStream, masked: boolean, receive: (message: Message, bytes: number) => void): void {
  const socket = new NodeSocket(stream, ws, !masked);
  ws.on('error', () => {
    socket.stopReading();
  });
  socket.readPast(MAX_PAYLOAD, receive);
}

type Event = readonly [name: string, ...what: unknown[]];

/** The result of a read: all events in order, the bytes written, and how many messages bypassed `ws`. */
interface Outcome {
  readonly events: readonly Event[];
  readonly written: string;
  readonly taken: number;
}

const streams: FakeStream[] = [];

/** Speeds the read clock up, so that four messages use up one share of a turn. */
function hurry(): void {
  let now = asyncScheduler.now();
  jest.spyOn(asyncScheduler, 'now').mockImplementation(() => (now += 6));
}

/** Reads `chunks`, through `ws` alone or with the bypass. */
async function read(chunks: readonly Buffer[], masked: boolean, withBypass: boolean, pauses = false): Promise<Outcome> {
  const stream = new FakeStream();
  streams.push(stream);
  const ws = await openWs(stream, masked, MAX_PAYLOAD);
  const events: Event[] = [];
  let taken = 0;
  listen(ws, events);
  if (withBypass) {
    bypass(ws, stream, masked, (message, bytes) => {
      taken++;
      expect(bytes).toBe(encodedLength(message));
      events.push(['message', message]);
    });
  }
  await turn();
  for (const chunk of chunks) {
    stream.push(Buffer.from(chunk));
    if (pauses) await turn();
  }
  await turn();
  // A dialer masks with random keys, so compare only the size and the first bytes of its output.
  await until('the rest to be read', () => stream.readableLength === 0);
  const { written } = stream;
  const told = masked ? written.toString('hex') : `${written.length} bytes from ${written.subarray(0, 2).toString('hex')}`;
  stream.push(null);
  await turn();
  ws.terminate();
  await turn();
  return { events, written: told, taken };
}

function listen(ws: WebSocket, events: Event[]): void {
  ws.on('message', (data, isBinary) => events.push(['message', isBinary ? data : String(data)]));
  ws.on('ping', (data) => events.push(['ping', String(data)]));
  ws.on('pong', (data) => events.push(['pong', String(data)]));
  ws.on('error', (error) => events.push(['error', error.message]));
  ws.on('close', (code, reason) => events.push(['close', code, String(reason)]));
}

/** Cuts `bytes` at each place of `at`. */
function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return places
    .slice(1)
    .map((end, n) => bytes.subarray(places[n], end))
    .filter(({ length }) => length > 0);
}

function rarely<T>(value: T, mostly: T): fc.Arbitrary<T> {
  return fc.nat(49).map((n) => (n === 0 ? value : mostly));
}

describe.each([
  ['accepted', true],
  ['dialed', false],
] as const)('bypass of an %s socket', (_name, masked) => {
  afterEach(() => {
    jest.restoreAllMocks();
    for (const stream of streams.splice(0)) stream.destroy();
  });

  const all = (frames: readonly Written[]): Buffer => Buffer.concat(frames.map((frame) => bytesOf(frame, masked)));

  it.each<readonly [what: string, frames: readonly Written[], taken: number]>([
    ['text', [text('a'), text('naïve 😀'), text(''), text('\ufffd')], 4],
    ['short text, and long text in between', [text('a'), text('b'.repeat(1_024)), text('c'.repeat(1_025)), text('d'), text('é')], 5],
    ['bytes', [binary(1, 2, 255), binary()], 2],
    ['bytes between text', [text('a'), binary(0x81, 0x01, 0x61), text('b')], 3],
    ['lengths in every form', [text('a'.repeat(125)), text('b'.repeat(126)), text('c'.repeat(65_535)), text('d'.repeat(65_536))], 4],
    ['a length in a longer form than it needs', [{ ...text('a'), lengthBytes: 2 }, { ...text('b'), lengthBytes: 8 }, text('c')], 3],
    ['a message of exactly the maximum length', [text('a'.repeat(MAX_PAYLOAD))], 1],
    ['pings and pongs in between', [text('a'), PING, text('b'), control(0x8a, 'q'), text('c')], 3],
    ['a message in several frames', [text('a'), text('b', 0x01), text('c', 0x00), text('d', 0x80), text('e')], 2],
    ['a ping within a message', [text('b', 0x01), PING, text('d', 0x80), text('e')], 1],
    ['frames after a close frame', [text('a'), CLOSE, text('b'), PING], 1],
    ['text that is no UTF-8', [text('a'), { first: 0x81, content: Buffer.from([0x61, 0xff]) }, text('b')], 1],
    ['a message of several frames that is no UTF-8', [{ first: 0x01, content: Buffer.from([0xff]) }, text('', 0x80), text('b')], 0],
    ['a message that is too long', [text('a'), text('b'.repeat(MAX_PAYLOAD + 1)), text('c')], 1],
    ['a message of several frames that is too long', [text('a'.repeat(40_000), 0x01), text('b'.repeat(40_000), 0x80), text('c')], 0],
    ['bits of extensions', [text('a'), text('b', 0xc1), text('c')], 1],
    ['bits of extensions on a ping', [control(0xa9), text('c')], 0],
    ['a fragmented ping', [control(0x09), text('c')], 0],
    ['a ping of exactly the maximum length', [control(0x89, 'x'.repeat(125)), text('c')], 1],
    ['a message of many frames that is too long', [0x01, 0x00, 0x00, 0x00, 0x80].map((first) => text('a'.repeat(30_000), first)), 0],
    ['a ping that is too long', [control(0x89, 'x'.repeat(126)), text('c')], 0],
    ['a ping whose length is in a longer form', [{ ...PING, lengthBytes: 8 }, text('c')], 0],
    ['an unknown opcode', [text('a', 0x83), text('c')], 0],
    ['the middle of a message that never began', [text('a', 0x80), text('c')], 0],
    ['a message within a message', [text('a', 0x01), text('b'), text('c', 0x80), text('d')], 0],
    ['a wrong mask', [text('a'), { ...text('b'), wronglyMasked: true }, text('c')], 1],
    ['a wrong mask on a ping', [{ ...PING, wronglyMasked: true }, text('c')], 0],
  ])('The bypass reads %s as ws does', async (_what, frames, taken) => {
    const bytes = all(frames);
    const alone = await read([bytes], masked, false);
    expect(alone.events.length).toBeGreaterThan(0);
    expect(await read([bytes], masked, true)).toEqual({ ...alone, taken });

    const framewise = frames.map((frame) => bytesOf(frame, masked));
    expect(await read(framewise, masked, true, true)).toEqual({ ...(await read(framewise, masked, false, true)), taken });

    hurry();
    expect(await read([bytes], masked, true)).toEqual({ ...alone, taken });
    expect(await read([bytes, bytes], masked, true)).toEqual({ ...(await read([bytes, bytes], masked, false)), taken: expect.any(Number) });

    const bitwise = cut(bytes.subarray(0, 300), [...Array(300).keys()]).concat(cut(bytes.subarray(300), []));
    expect(await read(bitwise, masked, true)).toEqual({ ...(await read(bitwise, masked, false)), taken: expect.any(Number) });
  });

  it('The bypass reads random frames in random chunks as ws does', async () => {
    const size = fc.oneof(
      { weight: 8, arbitrary: fc.nat(40) },
      { weight: 2, arbitrary: fc.integer({ min: 120, max: 130 }) },
      { weight: 2, arbitrary: fc.integer({ min: 1_020, max: 1_030 }) },
      fc.integer({ min: 65_530, max: 70_001 }),
    );
    const content = fc.oneof(
      size.map((length) => Buffer.alloc(length, 'abc')),
      fc.string({ unit: 'binary', maxLength: 40 }).map((value) => Buffer.from(value)),
      fc.uint8Array({ maxLength: 20 }).map((value) => Buffer.from(value)),
    );
    const first = fc.oneof(
      { weight: 60, arbitrary: fc.constantFrom(0x81, 0x82) },
      { weight: 15, arbitrary: fc.constantFrom(0x89, 0x8a) },
      { weight: 10, arbitrary: fc.constantFrom(0x01, 0x00, 0x80) },
      { weight: 1, arbitrary: fc.nat(255) },
    );
    const frame = fc.record({
      first,
      content,
      lengthBytes: rarely<8 | undefined>(8, undefined),
      wronglyMasked: rarely(true, false),
    });
    const frames = fc.array(frame, { minLength: 1, maxLength: 12 });
    let taken = 0;
    const same = fc.asyncProperty(
      frames,
      fc.array(fc.nat(200_000), { maxLength: 8 }),
      fc.boolean(),
      async (written: Written[], cuts, pauses) => {
        const chunks = cut(all(written), cuts);
        const alone = await read(chunks, masked, false, pauses);
        const passed = await read(chunks, masked, true, pauses);
        taken += passed.taken;
        expect({ ...passed, taken: 0 }).toEqual(alone);
        hurry();
        const inTurns = await read(chunks, masked, true, pauses);
        jest.restoreAllMocks();
        expect({ ...inTurns, taken: 0 }).toEqual(alone);
      },
    );
    await fc.assert(same, { ...SEED, numRuns: 100 });
    expect(taken).toBeGreaterThan(0);
  });

  it.each<readonly [what: string, frames: readonly Written[], decoded: readonly string[]]>([
    ['all short ASCII texts at once', [text('a'), text('b'.repeat(1_024)), text('c')], ['latin1']],
    ['a long text on its own', [text('a'), text('b'.repeat(1_025)), text('c')], ['latin1', 'utf8', 'latin1']],
    ['each text on its own after one that is not ASCII', [text('a'), text('é')], ['latin1', 'utf8', 'utf8']],
  ])('The bypass decodes %s', async (_what, frames, decoded) => {
    const stream = new FakeStream();
    streams.push(stream);
    const ws = await openWs(stream, masked, MAX_PAYLOAD);
    const messages: Message[] = [];
    bypass(ws, stream, masked, (message) => messages.push(message));
    const chunk = all(frames);
    const toString = jest.spyOn(chunk, 'toString');
    stream.emit('data', chunk);
    expect(messages).toEqual(frames.map(({ content }) => content.toString()));
    expect(toString.mock.calls.map(([encoding]) => encoding)).toEqual(decoded);
    ws.terminate();
  });

  it.each<readonly [after: string, frames: readonly Written[]]>([
    ['a close frame', [text('a'), CLOSE]],
    ['a wrong frame', [text('a'), text('b', 0xc1)]],
    ['frames of one message that are too long together', [0x01, 0x00, 0x00, 0x00].map((first) => text('a'.repeat(30_000), first))],
  ])('The bypass removes its listeners and leaves the stream flowing when ws stops reading after %s', async (_after, frames) => {
    const stream = new FakeStream();
    streams.push(stream);
    const ws = await openWs(stream, masked, MAX_PAYLOAD);
    const listeners = (): number[] => [stream.listenerCount('data'), ws.listenerCount('message')];
    const before = listeners();
    bypass(ws, stream, masked, () => undefined);
    expect(listeners()).toEqual(before);
    for (const frame of frames) {
      await turn();
      stream.push(bytesOf(frame, masked));
    }
    await turn();
    expect(listeners()).toEqual([0, 0]);
    expect(stream.isPaused()).toBe(false);
    ws.terminate();
  });

  it('The bypass leaves a stream without a reader alone', () => {
    const stream = new FakeStream();
    streams.push(stream);
    bypass(Object.assign(new EventEmitter(), { isPaused: false, readyState: 1 } as const), stream, masked, () => undefined);
    expect(stream.eventNames()).not.toContain('data');
  });

  it('The bypass leaves a stream with a second reader alone', async () => {
    const stream = new FakeStream();
    streams.push(stream);
    const ws = await openWs(stream, masked, MAX_PAYLOAD);
    stream.on('data', () => undefined);
    const before = stream.listeners('data');
    bypass(ws, stream, masked, () => {
      throw new Error('a message was taken');
    });
    expect(stream.listeners('data')).toEqual(before);
    ws.terminate();
  });

  describe('slow messages', () => {
    const LETTERS = Array.from({ length: 12 }, (_, n) => String.fromCharCode(97 + n));
    const TEXTS = LETTERS.map((letter) => text(letter));
    const MIXED = LETTERS.map((letter, n) => [text(letter), text(letter.repeat(2_000)), binary(n), PING][n % 4] ?? PING);

    /** A stream, its socket and the events since; the read clock is fast. */
    const hurried = async (): Promise<{ readonly stream: FakeStream; readonly ws: WebSocket; readonly events: Event[] }> => {
      const stream = new FakeStream();
      streams.push(stream);
      const ws = await openWs(stream, masked, MAX_PAYLOAD);
      const events: Event[] = [];
      listen(ws, events);
      bypass(ws, stream, masked, (message) => events.push(['message', message]));
      await turn();
      hurry();
      return { stream, ws, events };
    };
    const told = (frames: readonly Written[]): Event[] =>
      frames.map(({ first, content }) =>
        first === 0x89 ? ['ping', String(content)] : ['message', first === 0x81 ? String(content) : new Uint8Array(content).buffer],
      );

    it.each([
      ['short texts', TEXTS],
      ['texts beyond ASCII', LETTERS.map((letter) => text(`${letter}é`))],
      ['frames of all kinds', MIXED],
    ])('The bypass reads %s in shares, one each turn', async (_what, frames) => {
      const { stream, ws, events } = await hurried();
      stream.push(all(frames));
      const counts = [events.length];
      for (let n = 0; n < 2; n++) {
        await turn();
        counts.push(events.length);
      }
      expect(counts).toEqual([4, 8, 12]);
      expect(events).toEqual(told(frames));
      ws.terminate();
    });

    it('The bypass keeps the unread frames while its socket is paused', async () => {
      const { stream, ws, events } = await hurried();
      stream.push(all(TEXTS));
      ws.pause();
      for (let n = 0; n < 10; n++) await turn();
      expect(events).toHaveLength(4);
      stream.push(all(MIXED));
      ws.resume();
      await until('the rest to be read', () => events.length === 24);
      expect(events).toEqual(told([...TEXTS, ...MIXED]));
      ws.terminate();
    });

    it('The bypass keeps the order of messages when its socket is resumed between shares', async () => {
      const { stream, ws, events } = await hurried();
      stream.push(all(TEXTS));
      stream.push(all(MIXED));
      ws.resume();
      await until('the rest to be read', () => events.length === 24);
      expect(events).toEqual(told([...TEXTS, ...MIXED]));
      ws.terminate();
    });

    it('The bypass passes the unread frames to ws when the stream closes before their turn', async () => {
      const { stream, events } = await hurried();
      stream.push(all(TEXTS));
      stream.push(all(MIXED));
      stream.destroy();
      await until('the close', () => events.some(([name]) => name === 'close'));
      expect(events.slice(0, -1)).toEqual(told([...TEXTS, ...MIXED]));
    });

    it('The bypass reads on in a frame that began in an earlier share', async () => {
      const { stream, ws, events } = await hurried();
      const bytes = all([...TEXTS, text('x'.repeat(60_000)), text('y')]);
      stream.push(bytes.subarray(0, 30_000));
      await until('the first texts', () => events.length === 12);
      stream.push(bytes.subarray(30_000, 40_000));
      stream.push(bytes.subarray(40_000));
      await until('the last text', () => events.length === 14);
      expect(events).toEqual(told([...TEXTS, text('x'.repeat(60_000)), text('y')]));
      ws.terminate();
    });
  });
});
