/** How much of a remote's text one line shows, in UTF-16 units, escapes included. */
const MOST_SHOWN = 100;

/** Controls (C0, DEL and C1), which terminals act on; format characters, which hide or reorder text; line separators; halves of pairs. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A remote's text for a log line: a JSON string of at most 100 characters, in which controls beyond ASCII are escaped, too. */
export function quoted(text: string): string {
  return `"${cut(text, MOST_SHOWN, (character) => inJson(character).replace(UNSAFE, unicodeEscapes))}"`;
}

/** A text that may hold a remote's, on one line and in at most `most` characters: what is not safe there is escaped. */
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
