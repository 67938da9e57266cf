import { Buffer } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { RichCodec } from '../../src/codec/rich.js';
import { registerCodec } from '../../src/codec/registry.js';
import { connect } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import type { CompleteFrame, Frame } from '../../src/wire/frame.js';
import { DEFAULT_LIMITS } from '../../src/wire/limits.js';
import { encodeFrame, OutgoingFrame } from '../../src/wire/outgoing.js';
import { Assembler, Reassembly } from '../../src/wire/reassembly.js';
import { StuffedCodec } from '../support/codec/foreign.js';
import { collectLogs } from '../support/peer/logs.js';
import { FakeSocket } from '../support/socket/fake.js';

/** A non-default value for each field. The type demands one for every new field. */
const VALUES: { readonly [Field in keyof Frame]-?: CompleteFrame[Field] } = {
  type: 'data',
  stream: 7,
  payload: { n: 1 },
  fragment: null,
  more: true,
  headers: { h: 'a' },
  end: true,
  trailers: { t: 'b' },
  code: 300,
  reason: 'because',
  nonce: 'n1',
  last_stream: 9,
};

const NAMES = (Object.keys(VALUES) as (keyof Frame)[]).filter((name) => name !== 'type' && name !== 'fragment');
const PAIRS = NAMES.flatMap((one) => NAMES.map((other) => [one, other] as const));

describe.each([new JsonCodec(), new MsgpackCodec(), new RichCodec()])('codec $name', (codec) => {
  it.each(PAIRS)('A codec keeps %s beside %s', (one, other) => {
    const frame: Frame = { type: 'data', [one]: VALUES[one], [other]: VALUES[other] };
    expect(codec.decode(codec.encode(frame))).toMatchObject(frame);
  });

  it('A codec keeps every field around a payload that is already encoded', () => {
    const frame: Frame = { ...VALUES, more: false };
    const encoded = codec.encodePayload(frame.payload);
    expect(codec.decode(encodeFrame(new OutgoingFrame(frame, encoded, codec), codec))).toEqual(frame);
  });

  it('A codec keeps every field beside a fragment', () => {
    const { payload, ...others } = VALUES;
    const fragment = codec.encodePayload(payload);
    expect(codec.decode(codec.encode({ ...others, fragment }))).toMatchObject({ ...others, fragment });
  });
});

describe('tags', () => {
  // Vue wraps each object with the tag of a plain one in a Proxy, which has no private fields and another identity.
  it.each<[tag: string, object: object]>([
    ['Assembler', new Assembler()],
    ['JsonCodec', new JsonCodec()],
    ['MsgpackCodec', new MsgpackCodec()],
    ['RichCodec', new RichCodec()],
    ['Reassembly', new Reassembly(new JsonCodec(), DEFAULT_LIMITS)],
  ])('The tag of an object is %s, so it does not pass for a plain object', (tag, object) => {
    expect(Object.prototype.toString.call(object)).toBe(`[object ${tag}]`);
  });
});

describe('pooled', () => {
  const POOL_BYTES = 256 * 1024;

  /** Writes every message at the start of one pool. */
  class PoolingCodec extends StuffedCodec {
    readonly #pool = new ArrayBuffer(POOL_BYTES);
    readonly #plain = new StuffedCodec();

    constructor(private readonly taken: (pool: ArrayBuffer, bytes: number) => ArrayBufferView | ArrayBuffer) {
      super();
    }

    override encode(frame: Frame): ArrayBuffer {
      return this.#pooled(this.#plain.encode(frame));
    }

    override encodePayload(payload: unknown): ArrayBuffer {
      return this.#pooled(this.#plain.encodePayload(payload));
    }

    #pooled(encoded: ArrayBuffer): ArrayBuffer {
      new Uint8Array(this.#pool).set(new Uint8Array(encoded));
      return this.taken(this.#pool, encoded.byteLength) as ArrayBuffer;
    }
  }

  const whole = (): Codec => new PoolingCodec((pool) => pool);
  const REFUSED =
    "codec 'stuffed': expected each message in an ArrayBuffer of its own, got the same buffer for two messages; " +
    'return a copy of the bytes, such as bytes.slice().buffer';

  collectLogs();

  describe('a codec with a pooled buffer', () => {
    it.each<[string, (pool: ArrayBuffer, bytes: number) => ArrayBufferView]>([
      ['Uint8Array', (pool, bytes) => new Uint8Array(pool, 0, bytes)],
      ['Buffer', (pool, bytes) => Buffer.from(pool, 0, bytes)],
      ['DataView', (pool, bytes) => new DataView(pool, 0, bytes)],
    ])('A peer copies messages that are a %s of the pool, so that a later message does not overwrite them', async (_kind, taken) => {
      const codec = new PoolingCodec(taken);
      const { dialer, acceptor } = createPair({ dialer: { codec }, acceptor: { codec: new StuffedCodec() } });
      const received: unknown[] = [];
      acceptor.streams$.subscribe(({ payload }) => received.push(payload));
      const sent = ['first', 'second', 'x'.repeat(200_000), 'last'];
      for (const payload of sent) dialer.notify(payload);
      await dialer.ping();
      expect(received).toEqual(sent);
    });

    it('A peer refuses a codec that returns its whole pool, and names no stream', () => {
      expect(() => createPair({ dialer: { codec: whole() } })).toThrow(new TypeError(REFUSED));
    });

    it('`registerCodec` refuses a codec that returns its whole pool', () => {
      expect(() => {
        registerCodec('stuffed', whole());
      }).toThrow(new TypeError(REFUSED));
    });

    it('A peer takes a codec that fails to encode, because each call then reports it', () => {
      class Failing extends StuffedCodec {
        override encodePayload(): ArrayBuffer {
          throw new RangeError('out of order');
        }
      }
      const { dialer } = createPair({ dialer: { codec: new Failing() }, acceptor: { codec: new StuffedCodec() } });
      expect(() => {
        dialer.notify(1);
      }).toThrow('out of order');
    });
  });

  describe('errors before a stream has an id', () => {
    /** Adds a trailer of 70 000 bytes to each message, so none can be cut. */
    class Trailing extends StuffedCodec {
      override encode(frame: Frame): ArrayBuffer {
        const encoded = new Uint8Array(super.encode(frame));
        const longer = new Uint8Array(encoded.length + 70_000);
        longer.set(encoded);
        return longer.buffer;
      }

      override decode(message: Message): Frame {
        return super.decode((message as ArrayBuffer).slice(0, -70_000));
      }
    }

    it.each([
      ['with a payload to cut', 'x'.repeat(20_000), {}, 'a fragment with one unit of the payload'],
      ['with headers alone', undefined, { headers: { long: 'x'.repeat(70_000) } }, 'to take at most 65536 bytes'],
    ])('An open %s that no cut makes fit is refused without an id', (_what, payload, options, text) => {
      const { dialer } = createPair({ dialer: { codec: new Trailing() }, acceptor: { codec: new StuffedCodec() } });
      let failure: unknown;
      try {
        dialer.open(payload, options).subscribe({ error: (error: unknown) => (failure = error) });
      } catch (error) {
        failure = error;
      }
      expect(String(failure)).toContain(text);
      expect(String(failure)).not.toMatch(/stream \d/);
    });

    it('An open that waits for a connection is refused without an id', () => {
      const socket = new FakeSocket('CONNECTING');
      const peer = connect('ws://127.0.0.1', { codec: new Trailing(), socket: () => socket });
      expect(() => peer.open('x'.repeat(20_000))).toThrow(/^expected a fragment with one unit of the payload/);
      void peer.close();
      socket.emit('close', { code: 1006 }, 'CLOSED');
    });
  });
});
