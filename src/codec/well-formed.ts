/** A platform's `String.prototype`; since 2023 it has `toWellFormed`. */
export interface TextPrototype {
  readonly length: number;
  readonly toWellFormed?: (this: string) => string;
}

/** Chooses how text is made such as UTF-8 can hold: natively where that is possible, which takes a third. */
export function wellFormer({ toWellFormed }: TextPrototype): (text: string) => string {
  if (toWellFormed !== undefined) return (text) => toWellFormed.call(text);
  return (text) => (HALF_PAIR.test(text) ? text.replace(HALF_PAIRS, '\ufffd') : text);
}

const HALF_PAIR = /\p{Surrogate}/u;
const HALF_PAIRS = /\p{Surrogate}/gu;

/** Text as UTF-8 has it: with U+FFFD in place of half of a surrogate pair. */
export const wellFormed = wellFormer(String.prototype);
