// TypeScript declares the symbol only with the lib `esnext.disposable` or with `@types/node`, and a program may have neither.
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/** The method that `await using` calls. On a platform without such a symbol, it is a symbol of the package that no code calls. */
export const asyncDispose: typeof Symbol.asyncDispose =
  (Symbol as Partial<SymbolConstructor>).asyncDispose ?? (Symbol('Symbol.asyncDispose') as typeof Symbol.asyncDispose);
