import type { Codec, Message } from '../../../src/index.js';

/** The codec, with its ping messages replaced. So a peer can send any message. */
export function spoilt(codec: Codec, spoil: (message: Message) => Message): Codec {
  return {
    name: codec.name,
    binary: codec.binary,
    encode: (frame) => (frame.type === 'ping' ? spoil(codec.encode(frame)) : codec.encode(frame)),
    decode: (message, limits) => codec.decode(message, limits),
    encodePayload: (payload) => codec.encodePayload(payload),
    decodePayload: (data, limits) => codec.decodePayload(data, limits),
  };
}

/** A message that the codec cannot decode. */
export function undecodable(codec: Codec): Message {
  return codec.binary ? new Uint8Array([0xc1]).buffer : '{"type":"ping"}}';
}

/** A message of the kind that the codec does not use. */
export function wrongKind(codec: Codec): Message {
  return codec.binary ? '{"type":"ping"}' : new Uint8Array([0x81, 0xa4, 0x74, 0x79, 0x70, 0x65, 0xa4, 0x70, 0x69, 0x6e, 0x67]).buffer;
}

/** A message larger than the 64 KiB that a sender may emit. */
export function oversized(codec: Codec): Message {
  return codec.encode({ type: 'ping', nonce: 'x'.repeat(100_000) });
}
