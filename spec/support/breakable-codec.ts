import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Codec } from '../../src/wire/codec.js';
import type { Frame } from '../../src/wire/frame.js';

export type CodecName = 'json' | 'msgpack';

export const shippedCodec = (name: CodecName): Codec => (name === 'json' ? new JsonCodec() : new MsgpackCodec());

/** The part of a codec that encodes. */
export type Encoder = 'encode' | 'encodePayload' | 'encodeWith';

/** What writes a frame. */
export const WRITING: readonly Encoder[] = ['encode', 'encodeWith'];

/**
 * The shipped codec of this name, which calls `check` ahead of each call of these members: what that throws is what they fail
 * with. Its class stays what it was, so that its frames are cut as ever, unless `encode` is among them.
 */
export function checkedCodec(name: CodecName, members: readonly Encoder[], check: (member: Encoder, frame: Frame | null) => void): Codec {
  const shipped = shippedCodec(name) as Required<Codec>;
  const checked: Pick<Required<Codec>, Encoder> = {
    encode(frame) {
      // Pings measure how far the remote has read: they come with no call.
      if (frame.type !== 'ping') check('encode', frame);
      return encode(frame);
    },
    encodePayload(payload) {
      check('encodePayload', null);
      return encodePayload(payload);
    },
    encodeWith(frame, encodedPayload) {
      check('encodeWith', frame);
      return encodeWith(frame, encodedPayload);
    },
  };
  const encode = shipped.encode.bind(shipped);
  const encodePayload = shipped.encodePayload.bind(shipped);
  const encodeWith = shipped.encodeWith.bind(shipped);
  for (const member of members) Object.assign(shipped, { [member]: checked[member] });
  return shipped;
}

/** A codec that fails, once, where it is told to: at a payload, or at a frame of an open or of data that carries one. */
export class BreakableCodec {
  readonly codec: Codec;
  /** The members that fail at their next call; none, once one has. */
  breaksAt: readonly Encoder[] = [];

  constructor(name: CodecName, members: readonly Encoder[]) {
    this.codec = checkedCodec(name, members, (member, frame) => {
      if (!this.breaksAt.includes(member) || !carriesPayload(member, frame)) return;
      this.breaksAt = [];
      throw new TypeError('the codec is broken');
    });
  }
}

function carriesPayload(member: Encoder, frame: Frame | null): boolean {
  if (frame === null) return true;
  const carries = member === 'encodeWith' || (frame.fragment != null && frame.fragment !== '');
  return carries && (frame.type === 'open' || frame.type === 'data');
}
