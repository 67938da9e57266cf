import { inspect } from 'node:util';
import type { Codec, Message } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { framesEqual } from '../../src/wire/mapping.js';
import { fromMapping, toMapping } from '../../src/wire/mapping.js';

/** The fault in a line, or `null`. */
export type Verdict = string | null;

/** A message that quotes its input would be longer. */
const LONGEST_ERROR = 400;

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

export function outcomeOf<T>(call: () => T): Outcome<T> {
  try {
    return { value: call() };
  } catch (error) {
    return { error };
  }
}

/** `decode` may return only a frame or throw only a ProtocolError, and the frame can be sent again unchanged. */
export function judgeDecode(codec: Codec, message: Message): Verdict {
  const outcome = outcomeOf(() => codec.decode(message));
  if ('error' in outcome) return judgeRefusal(outcome.error);
  const frame = outcome.value;
  const complete = outcomeOf(() => fromMapping(toMapping(frame)));
  if ('error' in complete || !framesEqual(complete.value, frame)) return `expected a frame, got ${shown(frame)}`;
  return judgeRoundTrip(frame, () => codec.decode(codec.encode(frame)));
}

/** `decodePayload` may return any value or throw only a ProtocolError, and the value can be sent again unchanged. */
export function judgeDecodePayload(codec: Codec, data: Message): Verdict {
  const outcome = outcomeOf(() => codec.decodePayload(data));
  if ('error' in outcome) return judgeRefusal(outcome.error);
  const payload = outcome.value;
  if (payload === undefined || payload === ABSENT) return `expected a payload, got ${shown(payload)}`;
  return judgeRoundTrip({ type: 'data', payload }, () => ({
    type: 'data',
    payload: codec.decodePayload(codec.encodePayload(payload)),
  }));
}

export function judgeRefusal(error: unknown): Verdict {
  if (!(error instanceof ProtocolError)) return `expected a ProtocolError, got ${shown(error)}`;
  return error.message.length <= LONGEST_ERROR ? null : `expected a short message, got ${error.message.length} characters`;
}

/**
 * The encoder may refuse a frame that the decoder accepts, for example a number out of range. A frame that it accepts must
 * come back.
 */
export function judgeRoundTrip(frame: Frame, roundTrip: () => Frame): Verdict {
  const outcome = outcomeOf(roundTrip);
  if ('error' in outcome) return outcome.error instanceof TypeError ? null : `expected it to be sent on, got ${shown(outcome.error)}`;
  if (framesEqual(outcome.value, frame)) return null;
  return `expected ${shown(toMapping(frame))} to come back, got ${shown(toMapping(outcome.value))}`;
}

function shown(value: unknown): string {
  return inspect(value, { depth: 4, breakLength: Infinity, maxArrayLength: 10, maxStringLength: 80 }).slice(0, 600);
}
