import { Observable } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import { mapPresent } from '../rx/pipeline.js';
import type { Given } from '../util/check.js';
import { checkedCodec } from '../wire/codec.js';
import type { Codec } from '../wire/codec.js';
import type { StreamFault } from '../wire/errors.js';
import { completeFrame } from '../wire/frame.js';
import type { CompleteFrame, Frame } from '../wire/frame.js';
import { resolveLimits } from '../wire/limits.js';
import type { Limits } from '../wire/limits.js';
import { Reassembly } from '../wire/reassembly.js';

/**
 * Reassembles fragments: whole frames pass, and the fragments of a payload become one frame when the last one comes.
 *
 * A fault of one stream, such as fragments that do not decode or a payload over a limit, becomes a `StreamFault` value. The pipeline
 * continues with the other streams. It errors only with a `ProtocolError` that concerns the connection.
 *
 * A faulty reset still ends its stream, so it is emitted as that reset, without the payload. `assemble` does not know which streams are
 * over, so it does not drop their later frames.
 *
 * @param limits the sizes of `Limits` that a receiver accepts
 * @param reassembly holds unfinished payloads. Pass your own to release a stream that was reset meanwhile. It has a codec and limits of
 *   its own, so `limits` is ignored.
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
  if (reassembly !== undefined) return completedInto(reassembly);
  const resolved = resolveLimits(limits);
  return (source) => new Observable((subscriber) => source.pipe(completedInto(new Reassembly(codec, resolved))).subscribe(subscriber));
}

/** {@link assemble} for the engine, whose frames are complete already. A page that imports it carries no check of limits with it. */
export function assembleInto(reassembly: Reassembly): OperatorFunction<CompleteFrame, CompleteFrame | StreamFault> {
  return mapPresent(accepted, reassembly);
}

function accepted(this: Reassembly, frame: CompleteFrame): CompleteFrame | StreamFault | null {
  return this.accept(frame);
}

function completedInto(reassembly: Reassembly): OperatorFunction<Frame, CompleteFrame | StreamFault> {
  return (source) => source.pipe(mapPresent(completeFrame), assembleInto(reassembly));
}
