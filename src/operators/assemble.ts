import { defer } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import { checkedCodec } from '../wire/codec.js';
import type { Codec } from '../wire/codec.js';
import type { StreamFault } from '../wire/fault.js';
import { completeFrame } from '../wire/frame.js';
import type { CompleteFrame, Frame } from '../wire/frame.js';
import type { Given } from '../wire/check.js';
import { resolveLimits } from '../wire/limits.js';
import type { Limits } from '../wire/limits.js';
import { Reassembly } from '../wire/reassembly.js';
import { mapPresent } from '../rx/map-present.js';

/**
 * Puts fragments together: whole frames pass, fragments come out as one frame on their last.
 *
 * What is wrong with one stream (fragments that do not decode, a payload over a limit) is a `StreamFault` value; the
 * pipeline goes on with the other streams. A reset ends its stream whatever is wrong with it, so it comes out as that reset,
 * without the payload; what still comes of it then is for who knows which streams are over. It errors only with a `ProtocolError` that concerns the connection.
 *
 * @param limits the sizes of `Limits` that a receiver puts up with
 * @param reassembly where unfinished payloads are kept; give your own to release a stream that was reset meanwhile. It has a codec and
 *   limits of its own: beside it `limits` is not looked at
 *
 * @example
 * ```ts
 * of({ type: 'data', stream: 1, fragment: '"he', more: true }, { type: 'data', stream: 1, fragment: 'y"', end: true })
 *   .pipe(assemble(new JsonCodec()))
 *   .subscribe((frame) => console.log(frame));
 * // { type: 'data', stream: 1, payload: 'hey', fragment: null, more: false, end: true, … }
 * ```
 */
export function assemble(
  codec: Codec,
  limits: Given<Limits> = {},
  reassembly?: Reassembly,
): OperatorFunction<Frame, CompleteFrame | StreamFault> {
  checkedCodec(codec);
  if (reassembly !== undefined) return into(reassembly);
  const resolved = resolveLimits(limits);
  return (source) => defer(() => source.pipe(into(new Reassembly(codec, resolved))));
}

function into(partials: Reassembly): OperatorFunction<Frame, CompleteFrame | StreamFault> {
  return mapPresent((frame) => partials.accept(completeFrame(frame)));
}
