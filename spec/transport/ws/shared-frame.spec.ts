import { beforeEach, describe, expect, it } from '@jest/globals';
import { Buffer } from 'node:buffer';
import fc from '../../support/fast-check.js';
import { JsonCodec } from '../../../src/codec/json.js';
import { MsgpackCodec } from '../../../src/codec/msgpack.js';
import { SharedPart } from '../../../src/wire/shared.js';
import { SplitMessage } from '../../../src/wire/shared.js';
import type { Codec, Message } from '../../../src/wire/codec.js';
import { sharedFrame } from '../../../src/transport/ws/write.js';
import type { SharedFrame } from '../../../src/transport/ws/write.js';
import { WriteBatch } from '../../../src/transport/ws/write.js';
import { turn } from '../../support/socket/leaks.js';
import { acceptedOver, FakeStream } from '../../support/socket/pipe.js';

const json = new JsonCodec();
const msgpack = new MsgpackCodec();

/** A message of `codec`, split around the payload. */
function split(codec: Codec & Required<Pick<Codec, 'encodeAround'>>, part: SharedPart, stream: number): SplitMessage {
  const [before, behind] = codec.encodeAround({ type: 'data', stream });
  return new SplitMessage(before, part, behind);
}

const partOf = (codec: Codec, value: unknown): SharedPart => new SharedPart(codec.encodePayload(value));

const joined = (frame: SharedFrame | undefined): Buffer => Buffer.concat([...(frame?.chunks ?? [])]);

describe('A frame of a shared part', () => {
  it.each<readonly [what: string, bytes: number, chunks: number]>([
    ['small', 1_000, 1],
    ['large', 10_000, 2],
    ['of 64 KiB', 65_536, 2],
  ])('The bytes of a part that is %s are made once for all sockets', (_what, bytes, chunks) => {
    const part = partOf(json, 'x'.repeat(bytes));
    const message = split(json, part, 1);
    const [first, again, other, back] = [message, message, split(json, part, 12_345), message].map(sharedFrame);
    expect(again).toBe(first);
    expect([first, other, back].map((frame) => frame?.chunks.length)).toEqual([1, chunks, chunks]);
    expect(joined(back).equals(joined(first))).toBe(true);
    if (chunks > 1) for (const frame of [other, back]) expect(frame?.chunks[1]?.buffer).toBe(first?.chunks[0]?.buffer);
  });

  it('A part keeps the bytes behind it apart', () => {
    const part = partOf(json, 'x'.repeat(5_000));
    const [before] = json.encodeAround({ type: 'data', stream: 1 });
    const [plain, tagged, again] = ['}', ',"reason":"ä"}', '}'].map((behind) => sharedFrame(new SplitMessage(before, part, behind)));
    expect(tagged?.length).toBe((plain?.length ?? 0) + Buffer.byteLength(',"reason":"ä"}') - 1);
    expect(joined(tagged).toString('utf8', tagged?.headerBytes)).toBe(`${before}${part.encoded as string},"reason":"ä"}`);
    expect(joined(again).toString('utf8', again?.headerBytes)).toBe(`${before}${part.encoded as string}}`);
  });

  it('A part keeps its bytes as they were when its first frame was made', () => {
    const encoded = new Uint8Array(msgpack.encodePayload('x'.repeat(6_000)));
    const part = new SharedPart(encoded.buffer);
    const before = joined(sharedFrame(split(msgpack, part, 1)));
    encoded.fill(0);
    expect(joined(sharedFrame(split(msgpack, part, 3))).subarray(-5_000)).toEqual(before.subarray(-5_000));
  });
});

describe('WriteBatch with shared parts', () => {
  let sink: FakeStream;

  beforeEach(() => {
    sink = new FakeStream();
  });

  const batch = (): WriteBatch => new WriteBatch(sink, { readyState: 1 }, false);

  it('A remote reads whole and split messages in the order in which they were added', async () => {
    const line = new FakeStream();
    const sender = new FakeStream();
    const remote = acceptedOver(line);
    let received: Message[] = [];
    remote.messages$.subscribe((message) => received.push(message));
    const size = fc.oneof(fc.nat(200), fc.constantFrom(600, 4_000, 4_097, 40_000, 70_000));
    const message = fc.record({
      codec: fc.constantFrom(json, msgpack),
      size,
      stream: fc.constantFrom(1, 3, 300, 70_000),
      isSplit: fc.boolean(),
    });
    const parts = new Map<string, SharedPart>();
    const burst = fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 30 }), async (messages) => {
      sender.forget();
      const of = new WriteBatch(sender, { readyState: 1 }, false);
      const expected = messages.map(({ codec, size: units, stream, isSplit }) => {
        const payload = `${'é'.repeat(units % 3)}${'x'.repeat(units)}`;
        const key = `${codec.name} ${units}`;
        const part = parts.get(key) ?? partOf(codec, payload);
        parts.set(key, part);
        const whole = codec.encode({ type: 'data', stream, payload });
        of.add(isSplit ? split(codec, part, stream) : whole);
        return whole;
      });
      await turn();
      expect(of.addedBytes).toBe(sender.written.length);
      expect(of.headerBytes).toBe(expected.reduce((bytes, one) => bytes + headerOf(one), 0));
      received = [];
      line.push(masked(sender.written));
      await turn();
      expect(received.length).toBe(expected.length);
      received.forEach((one, n) => {
        expect(one).toEqual(expected[n]);
      });
    });
    await fc.assert(burst, { numRuns: 40 });
    remote.terminate();
  });

  it('WriteBatch counts unwritten bytes of split messages', async () => {
    const of = batch();
    const part = partOf(json, 'x'.repeat(5_000));
    const messages = [split(json, part, 1), split(json, part, 3)];
    of.add('before');
    for (const message of messages) of.add(message);
    const bytes = 2 + 6 + messages.reduce((sum, { byteLength }) => sum + 4 + byteLength, 0);
    expect([of.bytes, of.addedBytes, of.headerBytes]).toEqual([bytes, bytes, 2 + 4 + 4]);
    await turn();
    expect([of.bytes, of.addedBytes, sink.written.length]).toEqual([0, bytes, bytes]);
  });

  it('WriteBatch writes a split message at once after a turn with one message', async () => {
    const of = batch();
    const part = partOf(json, 'x'.repeat(5_000));
    of.add(split(json, part, 1));
    expect(sink.writes).toEqual([]);
    await turn();
    sink.forget();
    of.add(split(json, part, 1));
    expect([sink.written.length, of.bytes, of.headerBytes]).toEqual([4 + split(json, part, 1).byteLength, 0, 2 * 4]);
    await turn();
  });
});

function headerOf(message: Message): number {
  const size = typeof message === 'string' ? Buffer.byteLength(message) : message.byteLength;
  return size <= 125 ? 2 : size < 65_536 ? 4 : 10;
}

/** The same frames with a mask of zeros, as a dialing end sends them. */
function masked(frames: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < frames.length;) {
    const short = Number(frames[at + 1]);
    const header = short <= 125 ? 2 : short === 126 ? 4 : 10;
    const size = short <= 125 ? short : short === 126 ? frames.readUInt16BE(at + 2) : Number(frames.readBigUInt64BE(at + 2));
    const head = Buffer.from(frames.subarray(at, at + header));
    head[1] = short | 0x80;
    chunks.push(head, Buffer.alloc(4), frames.subarray(at + header, at + header + size));
    at += header + size;
  }
  return Buffer.concat(chunks);
}
