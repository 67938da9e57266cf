/** The most UTF-16 units of a text of the remote that one line shows, escapes included. */
const MOST_SHOWN = 100;

/**
 * Control characters (C0, DEL, C1), which terminals act on. Format characters, which hide or reorder text. Line separators. Halves of
 * surrogate pairs.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Returns a remote's text for a log line: a JSON string of at most 100 characters. Controls beyond ASCII are escaped too. */
export function quoted(text: string): string {
  return `"${cut(text, MOST_SHOWN, (character) => inJson(character).replace(UNSAFE, unicodeEscapes))}"`;
}

/** Returns a text that may hold a remote's, on one line and in at most `most` characters. Unsafe characters are escaped. */
export function oneLine(text: string, most = MOST_SHOWN): string {
  if (text.length <= most && text.search(UNSAFE) < 0) return text;
  return cut(text, most, (character) => character.replace(UNSAFE, inJson).replace(UNSAFE, unicodeEscapes));
}

function cut(text: string, most: number, show: (character: string) => string): string {
  let shown = '';
  for (const character of text) {
    const next = show(character);
    if (shown.length + next.length > most) return `${shown}…`;
    shown += next;
  }
  return shown;
}

function inJson(character: string): string {
  return JSON.stringify(character).slice(1, -1);
}

function unicodeEscapes(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
