// Stands in for src/env.ts in CommonJS tests, where `import.meta` is a syntax error.
let codec: string | undefined;

export function readEnvCodec(): string | undefined {
  return codec;
}

/** Sets what the environment holds from now on; `undefined` is an environment without the variable. */
export function setEnvCodec(value: string | undefined): void {
  codec = value;
}
