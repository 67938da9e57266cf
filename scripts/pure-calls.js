/**
 * `/* @__PURE__ *\/` before a call makes the bundler of a page drop the call if no code uses its result. Our own bundler drops every
 * comment, so a name of the same length stands in for this one.
 */
const [COMMENT, NAME] = ['/*@__PURE__*/', '__PURE_CALL&&'];

/** Puts the name in place of the comment, for the bundler. */
export const withoutPure = (source) => source.replaceAll('/* @__PURE__ */', NAME);

/** Puts the comment back. */
export const withPure = (bundled) => bundled.replaceAll(NAME, COMMENT);
