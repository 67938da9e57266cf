import type { FloorMessage } from './floor-client.js';
import { floor } from './floor.js';

/** `ws`, JSON and a Map, written by hand. Every ratio is to this adapter. */
export const adapter = floor({
  encode: (message) => JSON.stringify(message),
  decode: (data) => JSON.parse(data.toString()) as FloorMessage,
});
