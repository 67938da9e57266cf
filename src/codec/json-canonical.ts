import { payloadFrame } from '../wire/frame.js';
import type { CompleteFrame } from '../wire/frame.js';
import { isTooDeep } from './depth.js';
import { parseJson } from './json-text.js';

// The start of a frame that opens a stream or carries data, as every implementation writes it. So many digits are always a safe integer.
const HEAD = /\{"type":"(?:data|open)","stream":[1-9]\d{0,14}(?:,"end":true)?,"payload":/y;
const TYPE_AT = '{"type":"'.length;
const STREAM_AT = '{"type":"data","stream":'.length;

const [COMMA, DIGIT_0, D, E, BRACE] = [0x2c, 0x30, 0x64, 0x65, 0x7d];
/** From the end of the id to the first letter of the next key. */
const AFTER_QUOTE = ',"'.length;

/**
 * Decodes the most common message: an `open` or `data` frame with nothing but a payload, with its keys in the order of the protocol. Only
 * the payload is parsed then, which is cheaper than parsing the envelope and checking its fields.
 *
 * @param maxDepth levels of nesting that a payload may have
 * @returns `null` for any other message, which may be valid or not
 */
export function decodeCanonical(message: string, maxDepth: number): CompleteFrame | null {
  HEAD.lastIndex = 0;
  if (!HEAD.test(message) || message.charCodeAt(message.length - 1) !== BRACE) return null;
  const text = message.slice(HEAD.lastIndex, -1);
  let payload: unknown;
  try {
    payload = parseJson(text);
  } catch {
    // The message holds more than a payload, or is invalid.
    return null;
  }
  if (isTooDeep(payload, maxDepth, text)) return null;
  // Read by hand instead of by groups of the pattern: `exec` would make an array and three strings for every message.
  let at = STREAM_AT;
  let stream = 0;
  for (let digit = message.charCodeAt(at); digit !== COMMA; digit = message.charCodeAt(++at)) stream = stream * 10 + (digit - DIGIT_0);
  const type = message.charCodeAt(TYPE_AT) === D ? 'data' : 'open';
  return payloadFrame(type, stream, message.charCodeAt(at + AFTER_QUOTE) === E, payload);
}
