import { Decoder, Encoder } from '@msgpack/msgpack';
import type { FloorMessage } from './floor-client.js';
import { floor } from './floor.js';

const encoder = new Encoder();
const decoder = new Decoder();

/** Floor A with msgpack. */
export const adapter = floor({
  encode: (message) => encoder.encode(message),
  decode: (data) => decoder.decode(data) as FloorMessage,
});
