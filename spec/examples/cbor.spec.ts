import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, of, toArray } from 'rxjs';
import { CborCodec } from '../../examples/cbor/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { MAX_FRAME_BYTES, splitFrame } from '../../src/wire/fragment.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { hasFragmentCost } from '../../src/wire/codec.js';
import { toMapping } from '../../src/wire/mapping.js';
import { encodeFrame, OutgoingFrame } from '../../src/wire/outgoing.js';
import { createPair } from '../support/peer/tracked.js';

const codec = new CborCodec();

/** Counts the frames that it encodes. */
class CountingCbor extends CborCodec {
  encodings = 0;

  override encode(frame: Frame): ArrayBuffer {
    this.encodings++;
    return super.encode(frame);
  }

  override fragmentCost(...slice: Parameters<CborCodec['fragmentCost']>): number {
    return super.fragmentCost(...slice);
  }

  override encodeWith(...frame: Parameters<CborCodec['encodeWith']>): ArrayBuffer {
    return super.encodeWith(...frame);
  }
}

describe('the example codec cbor', () => {
  it('A call, a stream and a push reach the other peer under cbor', async () => {
    const { dialer, acceptor } = createPair({ codec });
    acceptor.onStream((payload, stream) => stream.sendAll(of(payload, stream.headers, [undefined])));
    dialer.onStream((payload, stream) => stream.reply(payload));
    const payload = { op: 'square', n: -12.5, big: 2 ** 53 - 1, list: [null, true, ''], raw: Uint8Array.of(1, 2) };
    expect(await lastValueFrom(dialer.open$(payload, { headers: { a: 1 } }).pipe(toArray()))).toEqual([payload, { a: 1 }, [null]]);
    expect(await acceptor.request('€')).toBe('€');
  });

  it('Large payloads of both peers travel in full messages, and arrive whole', async () => {
    const { dialer, acceptor } = createPair({ codec });
    const sizes: number[] = [];
    dialer.frames$.subscribe(({ bytes, frame }) => frame.more === true && sizes.push(bytes));
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const bytes = Uint8Array.from({ length: 1_000_000 }, (_, at) => at);
    expect(Buffer.compare(bytes, await dialer.request<Uint8Array>(bytes))).toBe(0);
    expect(sizes).toHaveLength(30);
    expect(new Set(sizes)).toEqual(new Set([MAX_FRAME_BYTES]));
  });

  it('`splitFrame` encodes four envelopes for thousands of slices', () => {
    const counting = new CountingCbor();
    expect(hasFragmentCost(counting)).toBe(true);
    expect(splitFrame({ type: 'open', stream: 1, payload: new Uint8Array(200_000) }, 100, counting).length).toBeGreaterThan(2_000);
    expect(counting.encodings).toBe(4);
  });

  it('A frame has the same bytes around a payload that is encoded and around its value', () => {
    const frame = { type: 'data', stream: 300, payload: { a: [1] }, headers: { h: 'x' }, end: true, trailers: { t: 2 }, reason: 'r' };
    const message = codec.encode(frame);
    expect(encodeFrame(new OutgoingFrame(frame, codec.encodePayload(frame.payload), codec), codec)).toEqual(message);
    expect(Object.keys(toMapping(codec.decode(message)))).toEqual(Object.keys(toMapping(frame)));
    expect(codec.decode(message)).toMatchObject(frame);
    expect(codec.decode(codec.encode({ type: 'ping', nonce: 'n' }))).toMatchObject({ type: 'ping', nonce: 'n', payload: ABSENT });
  });

  it.each<[string, () => unknown]>([
    ['a function', () => codec.encodePayload(() => 1)],
    ['a promise in a list', () => codec.encodePayload([Promise.resolve()])],
    ['headers with a symbol', () => codec.encode({ type: 'open', stream: 1, headers: { a: Symbol('s') } })],
  ])('The encoder throws a TypeError for %s', (_what, encoding) => {
    expect(encoding).toThrow(TypeError);
  });

  it.each<[string, unknown]>([
    ['a Map with keys that are numbers', new Map([[1, 2]])],
    ['a Map in a list', [new Map([['a', 1]])]],
    ['300 levels of nesting', Array.from({ length: 300 }).reduce((inner: unknown) => [inner], 1)],
  ])('A call with %s fails, and the connection lives on', async (_what, payload) => {
    const { dialer, acceptor } = createPair({ codec });
    acceptor.onStream((given, stream) => stream.reply(given));
    await expect(dialer.request(payload)).rejects.toThrow(TypeError);
    expect(await dialer.request('next')).toBe('next');
  });

  it.each<[string, () => unknown]>([
    ['text', () => codec.decode('{}')],
    ['nothing', () => codec.decode(new ArrayBuffer(0))],
    ['an item and more', () => codec.decodePayload(Uint8Array.of(1, 1).buffer)],
    ['an array of four billion items', () => codec.decodePayload(Uint8Array.of(0x9a, 255, 255, 255, 255).buffer)],
    ['deep nesting', () => codec.decodePayload(new Uint8Array(500_000).fill(0x81).buffer)],
    [
      'more items than the limit',
      () => codec.decodePayload(new Uint8Array(11).fill(0xa0).fill(0x8a, 0, 1).buffer, { maxPayloadItems: 10 }),
    ],
    ['an envelope without a type', () => codec.decode(codec.encodePayload({ stream: 1 }))],
    ['an envelope that is null', () => codec.decode(codec.encodePayload(null))],
  ])('The decoder throws a ProtocolError for %s', (_what, decoding) => {
    expect(decoding).toThrow(ProtocolError);
  });
});
