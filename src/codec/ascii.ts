/** Encodes a constant of ASCII. A module that is being loaded cannot count on a `TextEncoder`: React Native may add one later. */
export function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}
