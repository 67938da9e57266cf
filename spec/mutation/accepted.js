/**
 * Mutants that no test notices and why that is accepted: the code that is replaced, and by what; without a replacement, any.
 */
export const ACCEPTED = [];
