import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import type { Input } from './mutate.js';
import { JSON_TOKENS, MSGPACK_TOKENS } from './tokens.js';
import type { Tokens } from './tokens.js';

/** A codec under attack. */
export interface Subject {
  readonly codec: Codec;
  readonly tokens: Tokens;
}

export const SUBJECTS: Readonly<Record<'json' | 'msgpack', Subject>> = {
  json: { codec: new JsonCodec(), tokens: JSON_TOKENS },
  msgpack: { codec: new MsgpackCodec(), tokens: MSGPACK_TOKENS },
};

// Decodes text as a WebSocket does, except for invalid UTF-8, which would fail the connection.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The message that a codec reads from these bytes. */
export function messageOf(bytes: Uint8Array, { binary }: Codec): Message {
  return binary ? Uint8Array.from(bytes).buffer : utf8.decode(bytes);
}

/** Payloads of one token: as it is, and as the key of a map, where a small key may cost the most for its size. */
export function valuesOf({ codec, tokens }: Subject): Input[] {
  const [head, foot] = codec.binary ? ['\x81', '\xc0'] : ['{', ':null}'];
  const asKey = (token: Buffer): Buffer => Buffer.concat([Buffer.from(head, 'latin1'), token, Buffer.from(foot, 'latin1')]);
  return [...tokens, ...tokens.map(asKey)].map((bytes) => [bytes]);
}

export function bytesOf(message: Message): Buffer {
  return typeof message === 'string' ? Buffer.from(message) : Buffer.from(message.slice(0));
}

export function sizeOf(input: Input): number {
  return input.reduce((sum, { length }) => sum + length, 0);
}
