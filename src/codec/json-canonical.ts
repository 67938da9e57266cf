import { payloadFrame } from '../wire/frame.js';
import type { CompleteFrame, Metadata } from '../wire/frame.js';
import { isTooDeep } from './depth.js';
import { parseJson } from './json-text.js';

// The start of a frame that opens a stream or carries data, as every implementation writes it. So many digits are always a safe integer.
const HEAD = /\{"type":"(?:data|open)","stream":[1-9]\d{0,14}(?:,"end":true)?,"(?:payload":|headers":\{)/y;
const TYPE_AT = '{"type":"'.length;
const STREAM_AT = '{"type":"data","stream":'.length;
const PAYLOAD_KEY = ',"payload":';
/** Never part of a text in JSON, which escapes quotes. */
const HEADERS_END = `}${PAYLOAD_KEY}`;

const [COMMA, DIGIT_0, COLON, D, E, BRACE] = [0x2c, 0x30, 0x3a, 0x64, 0x65, 0x7d];
/** From the end of the id to the first letter of the next key. */
const AFTER_QUOTE = ',"'.length;

/**
 * Decodes the most common message: an `open` or `data` frame with nothing but a payload, or headers and a payload. Its keys have the order
 * of the protocol. Only the headers and the payload are parsed then, which is cheaper than parsing the envelope and checking its fields.
 *
 * @param maxDepth levels of nesting that headers or a payload may have
 * @returns `null` for any other message, which may be valid or not
 */
export function decodeCanonical(message: string, maxDepth: number): CompleteFrame | null {
  HEAD.lastIndex = 0;
  if (!HEAD.test(message) || message.charCodeAt(message.length - 1) !== BRACE) return null;
  const headTo = HEAD.lastIndex;
  const payloadAt = message.charCodeAt(headTo - 1) === COLON ? headTo : message.indexOf(HEADERS_END, headTo) + HEADERS_END.length;
  const headersText = payloadAt === headTo ? '' : message.slice(headTo - 1, payloadAt - PAYLOAD_KEY.length);
  const text = message.slice(payloadAt, -1);
  let headers: Metadata | null;
  let payload: unknown;
  try {
    // Where both are JSON, the message is JSON, and has these keys only.
    headers = payloadAt === headTo ? null : (JSON.parse(headersText) as Metadata);
    payload = parseJson(text);
  } catch {
    // The message holds more, or is invalid.
    return null;
  }
  if (isTooDeep(payload, maxDepth, text) || isTooDeep(headers, maxDepth, headersText)) return null;
  // Read by hand instead of by groups of the pattern: `exec` would make an array and three strings for every message.
  let at = STREAM_AT;
  let stream = 0;
  for (let digit = message.charCodeAt(at); digit !== COMMA; digit = message.charCodeAt(++at)) stream = stream * 10 + (digit - DIGIT_0);
  const type = message.charCodeAt(TYPE_AT) === D ? 'data' : 'open';
  return payloadFrame(type, stream, message.charCodeAt(at + AFTER_QUOTE) === E, payload, headers);
}
