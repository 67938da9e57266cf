import type { Codec } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { StreamFault } from '../../src/wire/errors.js';
import { splitFrame } from '../../src/wire/fragment.js';
import { ABSENT, completeFrame } from '../../src/wire/frame.js';
import type { CompleteFrame } from '../../src/wire/frame.js';
import { HeldBytes, MIN_CHARGE_BYTES } from '../../src/wire/reassembly.js';
import { encodedLength } from '../../src/wire/length.js';
import { resolveLimits } from '../../src/wire/limits.js';
import { Reassembly } from '../../src/wire/reassembly.js';
import type { Input } from './mutate.js';
import { judgeDecode, judgeDecodePayload, judgeRefusal, judgeRoundTrip, outcomeOf } from './oracle.js';
import type { Verdict } from './oracle.js';
import { messageOf, sizeOf } from './subjects.js';

/** Runs an input, and judges the result. */
export type Target = (codec: Codec, input: Input) => Verdict;

/** Small limits, which short inputs reach. */
const LIMITS = resolveLimits({ maxPayloadBytes: 1_024, maxHeldBytes: 4_096, maxFragments: 16, maxEmptyFragments: 4 });
const SMALLEST_CAP = 64;

export const TARGETS = {
  decode: (codec, [message = Buffer.alloc(0)]) => judgeDecode(codec, messageOf(message, codec)),
  decodePayload: (codec, [data = Buffer.alloc(0)]) => judgeDecodePayload(codec, messageOf(data, codec)),
  reassemble: judgeReassembly,
} satisfies Record<string, Target>;

export type TargetName = keyof typeof TARGETS;

/** Reassembly stays within the limits and keeps nothing of an ended stream. Its frames can be cut and joined again. */
function judgeReassembly(codec: Codec, input: Input): Verdict {
  const held = new HeldBytes(LIMITS);
  const reassembly = new Reassembly(codec, LIMITS, held);
  for (const bytes of input) {
    const decoded = outcomeOf(() => codec.decode(messageOf(bytes, codec)));
    if ('error' in decoded) continue;
    const accepted = outcomeOf(() => reassembly.accept(completeFrame(decoded.value)));
    if ('error' in accepted) return judgeRefusal(accepted.error);
    const result = accepted.value;
    if (held.used > LIMITS.maxHeldBytes) return `expected at most ${LIMITS.maxHeldBytes} bytes held, got ${held.used}`;
    if (held.used < MIN_CHARGE_BYTES * reassembly.unfinished.length) return `expected each unfinished payload charged, got ${held.used}`;
    if (result === null || result instanceof StreamFault) continue;
    const verdict = judgeWhole(result, codec, SMALLEST_CAP + (sizeOf(input) % 200));
    if (verdict !== null) return verdict;
  }
  for (const stream of reassembly.unfinished) reassembly.release(stream);
  return held.used === 0 ? null : `expected nothing held after the end, got ${held.used} bytes`;
}

// The sender of a frame may see all of it, so this message may be long.
function judgeCutRefusal(error: unknown): Verdict {
  return error instanceof TypeError || error instanceof ProtocolError ? null : judgeRefusal(error);
}

function judgeWhole(frame: CompleteFrame, codec: Codec, cap: number): Verdict {
  // Frames of the connection pass unchanged.
  if (frame.stream === null) return null;
  if (frame.fragment !== null || frame.more) return 'expected a whole frame, got a part of one';
  if (frame.payload === ABSENT) return null;
  const cut = outcomeOf(() => splitFrame(frame, cap, codec));
  if ('error' in cut) return judgeCutRefusal(cut.error);
  const messages = cut.value.map((slice) => codec.encode(slice));
  const longest = Math.max(...messages.map(encodedLength));
  if (longest > cap) return `expected at most ${cap} bytes, got a slice of ${longest}`;
  return judgeRoundTrip(frame, () => {
    const joined = new Reassembly(codec, resolveLimits());
    const results = messages.map((message) => joined.accept(completeFrame(codec.decode(message))));
    const whole = results.at(-1);
    if (whole == null || whole instanceof StreamFault) throw new Error(`expected a whole frame, got ${whole?.reason ?? 'none'}`);
    return whole;
  });
}
