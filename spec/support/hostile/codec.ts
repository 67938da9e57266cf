import type { Codec } from '../../../src/wire/codec.js';
import { checkedCodec } from '../codec/breakable.js';
import type { CodecName, Encoder } from '../codec/breakable.js';

/** Decides when a codec breaks: at the n-th call of one of these members from now on. */
export class Fuse {
  #left = Infinity;

  /** Breaks at the n-th call from now on. Without a number it never breaks. */
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
export const fusedCodecs = (members: readonly Encoder[]): readonly (readonly [name: CodecName, codec: Codec, fuse: Fuse])[] =>
  (['json', 'msgpack'] as const).map((name) => {
    const fuse = new Fuse();
    const codec = checkedCodec(name, members, () => {
      fuse.check();
    });
    return [name, codec, fuse] as const;
  });
