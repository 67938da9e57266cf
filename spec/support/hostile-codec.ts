import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import type { Frame } from '../../src/wire/frame.js';

/** The part of a codec that encodes. */
export type Encoder = 'encode' | 'encodePayload' | 'encodeWith';

/** When a codec breaks: at its n-th call from now on, of one of these members. */
export class Fuse {
  #left = Infinity;

  /** Breaks at the n-th call from now on; never, without a number. */
  set(n = Infinity): void {
    this.#left = n;
  }

  /** Whether it has broken. */
  get burnt(): boolean {
    return this.#left <= 0;
  }

  check(): void {
    if (--this.#left === 0) throw new TypeError('the codec broke');
  }
}

/** The shipped codecs, each with a fuse in the given members. */
export const fusedCodecs = (members: readonly Encoder[]): readonly (readonly [name: string, codec: Codec, fuse: Fuse])[] =>
  [Json, Msgpack].map((Fused) => {
    const fuse = new Fuse();
    const codec = new Fused(fuse, members);
    return [codec.name, codec, fuse] as const;
  });

class Json extends JsonCodec {
  constructor(
    readonly fuse: Fuse,
    readonly members: readonly Encoder[],
  ) {
    super();
  }

  override encode(frame: Frame): string {
    if (this.members.includes('encode')) this.fuse.check();
    return super.encode(frame);
  }

  override encodeWith(frame: Frame, encodedPayload: Message): string {
    if (this.members.includes('encodeWith')) this.fuse.check();
    return super.encodeWith(frame, encodedPayload);
  }

  override encodePayload(payload: unknown): string {
    if (this.members.includes('encodePayload')) this.fuse.check();
    return super.encodePayload(payload);
  }
}

class Msgpack extends MsgpackCodec {
  constructor(
    readonly fuse: Fuse,
    readonly members: readonly Encoder[],
  ) {
    super();
  }

  override encode(frame: Frame): ArrayBuffer {
    if (this.members.includes('encode')) this.fuse.check();
    return super.encode(frame);
  }

  override encodeWith(frame: Frame, encodedPayload: Message): ArrayBuffer {
    if (this.members.includes('encodeWith')) this.fuse.check();
    return super.encodeWith(frame, encodedPayload);
  }

  override encodePayload(payload: unknown): ArrayBuffer {
    if (this.members.includes('encodePayload')) this.fuse.check();
    return super.encodePayload(payload);
  }
}
