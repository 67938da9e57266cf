import type { FloorMessage } from './floor-client.js';
import { floor } from './floor.js';

/** `ws`, JSON and a Map, written by hand: what every ratio is to. */
export const adapter = floor({
  encode: (message) => JSON.stringify(message),
  decode: (data) => JSON.parse(data.toString()) as FloorMessage,
});
