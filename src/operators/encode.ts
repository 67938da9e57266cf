import type { OperatorFunction } from 'rxjs';
import { mapPresent } from '../rx/pipeline.js';
import { checkedCodec } from '../wire/codec.js';
import type { Codec, Message } from '../wire/codec.js';
import type { Frame } from '../wire/frame.js';
import { frameEncoder } from '../wire/outgoing.js';

/**
 * Encodes each frame to one socket message. It does not cut frames: put `fragment` before it.
 *
 * Errors with the error that the codec throws (`TypeError`) for a value that it cannot represent.
 *
 * @example
 * ```ts
 * of({ type: 'data', stream: 1, payload: 'hi', end: true }).pipe(encode(new JsonCodec())).subscribe(console.log);
 * // {"type":"data","stream":1,"end":true,"payload":"hi"}
 * ```
 */
export function encode(codec: Codec): OperatorFunction<Frame, Message> {
  checkedCodec(codec);
  return mapPresent(frameEncoder(codec));
}
