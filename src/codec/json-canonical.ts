import { payloadFrame } from '../wire/frame.js';
import type { CompleteFrame } from '../wire/frame.js';
import { isTooDeep } from './depth.js';
import { parseJson } from './json-text.js';

// How every implementation begins a frame that opens a stream or carries data; so many digits are always a safe integer.
const HEAD = /\{"type":"(?:data|open)","stream":[1-9]\d{0,14}(?:,"end":true)?,"payload":/y;
const TYPE_AT = '{"type":"'.length;
const STREAM_AT = '{"type":"data","stream":'.length;

const [COMMA, DIGIT_0, D, E, BRACE] = [0x2c, 0x30, 0x64, 0x65, 0x7d];
/** From the end of the id to the first letter of the next key. */
const AFTER_QUOTE = ',"'.length;

/**
 * Decodes what most messages are: an `open` or `data` frame with nothing but a payload, written as the protocol orders its
 * keys. Then only the payload is parsed, which costs less than to parse the envelope and look at what is in it.
 *
 * @param maxDepth levels of nesting that a payload may have
 * @returns `null` for any other message, which may be good or bad
 */
export function decodeCanonical(message: string, maxDepth: number): CompleteFrame | null {
  HEAD.lastIndex = 0;
  if (!HEAD.test(message) || message.charCodeAt(message.length - 1) !== BRACE) return null;
  const text = message.slice(HEAD.lastIndex, -1);
  let payload: unknown;
  try {
    payload = parseJson(text);
  } catch {
    // There is more than a payload, or something is wrong with it.
    return null;
  }
  if (isTooDeep(payload, maxDepth, text)) return null;
  // Read here and not by groups of the pattern: `exec` would make an array and three strings of every message.
  let at = STREAM_AT;
  let stream = 0;
  for (let digit = message.charCodeAt(at); digit !== COMMA; digit = message.charCodeAt(++at)) stream = stream * 10 + (digit - DIGIT_0);
  const type = message.charCodeAt(TYPE_AT) === D ? 'data' : 'open';
  return payloadFrame(type, stream, message.charCodeAt(at + AFTER_QUOTE) === E, payload);
}
