import { JsonCodec } from '../../../src/codec/json.js';
import { MsgpackCodec } from '../../../src/codec/msgpack.js';
import { RichCodec } from '../../../src/codec/rich.js';
import type { Codec } from '../../../src/wire/codec.js';
import type { Frame } from '../../../src/wire/frame.js';

export type CodecName = 'json' | 'msgpack' | 'rich';

const MADE: Readonly<Record<CodecName, () => Codec>> = {
  json: () => new JsonCodec(),
  msgpack: () => new MsgpackCodec(),
  rich: () => new RichCodec(),
};

export const shippedCodec = (name: CodecName): Codec => MADE[name]();

/** A method of a codec that encodes. */
export type Encoder = 'encode' | 'encodePayload' | 'encodeWith';

/** The methods that encode a frame. */
export const WRITING: readonly Encoder[] = ['encode', 'encodeWith'];

/**
 * The shipped codec of this name, which calls `check` before each call of these members. An error of `check` fails the call.
 * Unless `encode` is a member, the codec keeps its class, so the session splits its frames as usual.
 */
export function checkedCodec(name: CodecName, members: readonly Encoder[], check: (member: Encoder, frame: Frame | null) => void): Codec {
  const shipped = shippedCodec(name) as Required<Codec>;
  const checked: Pick<Required<Codec>, Encoder> = {
    encode(frame) {
      // Pings measure how far the remote has read: no call causes them.
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

/** A codec that fails once, where a test chooses: at a payload, or at an open or data frame that carries a payload. */
export class BreakableCodec {
  readonly codec: Codec;
  /** The members that fail at their next call. Empty after the first failure. */
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
