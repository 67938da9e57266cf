/**
 * Whether a JSON text holds more than so many items: scalars, keys, arrays and maps. Parsing would create them all before a check.
 *
 * An item and the separator behind it take two characters, so a short text needs no count.
 */
export function hasMoreItems(text: string, most: number): boolean {
  return text.length > 2 * most && countItems(text, most) > most;
}

/**
 * Counts the items of a JSON text exactly, but stops once the count exceeds `most`. For a text that is not JSON the count has no meaning.
 */
function countItems(text: string, most: number): number {
  // Each separator stands before one more item. Each container but an empty one holds at least one item. The innermost may be empty.
  let items = 1;
  let last = 0;
  for (let at = 0; at < text.length && items <= most + 1; at++) {
    const unit = text.charCodeAt(at);
    if (unit <= SPACE) continue;
    if (unit === QUOTE) at = closingQuote(text, at);
    else if (unit === COMMA || unit === COLON || unit === ARRAY || unit === MAP) items++;
    else if (last === unit - TO_CLOSING && (last === ARRAY || last === MAP)) items--;
    last = unit;
  }
  return items;
}

/** Returns where the string that opens at `from` ends; the end of the text if it is not closed. */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from + 1);
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const MAP = 0x7b;
/** The step from an opening bracket to the closing one. */
const TO_CLOSING = 2;
