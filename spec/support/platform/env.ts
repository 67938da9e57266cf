// Stands in for src/env.ts in CommonJS tests, where `import.meta` is a syntax error.
let codec: string | undefined;

export function readEnvCodec(): string | undefined {
  return codec;
}

/** Sets the variable of the environment from now on; `undefined` removes it. */
export function setEnvCodec(value: string | undefined): void {
  codec = value;
}
