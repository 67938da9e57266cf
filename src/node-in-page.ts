export { VERSION } from './version.js';

/** Stands in for each function of `rxmux/node` in a page, where a bundler takes the condition `browser`. */
function nowhereButOnNode(): never {
  throw new Error("rxmux/node works on Node only: use connect of 'rxmux' in a page");
}

export {
  nowhereButOnNode as Totals,
  nowhereButOnNode as accept,
  nowhereButOnNode as connect,
  nowhereButOnNode as handleUpgrade,
  nowhereButOnNode as refuse,
  nowhereButOnNode as serve,
};
