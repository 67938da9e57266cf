/**
 * `/* @__PURE__ *\/` before a call makes the bundler of a page drop the call if no code uses its result. Our own bundler drops every
 * comment, so a name of the same length stands in for this one.
 */
const [COMMENT, NAME] = ['/*@__PURE__*/', '__PURE_CALL&&'];
/** The name as the bundler writes it, with a space or without. */
const WRITTEN = /\b__PURE_CALL ?&&/g;

/** Puts the name in place of the comment, for the bundler. */
export const withoutPure = (source) => source.replaceAll('/* @__PURE__ */', NAME);

/** Puts the comment back. */
export function withPure(bundled) {
  const text = bundled.replace(WRITTEN, COMMENT);
  if (text.includes('__PURE_CALL')) throw new Error('expected each mark of a pure call to stand before its call, got another place');
  return text;
}
