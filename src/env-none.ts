/** Stands in for `env.ts` in the CommonJS build, where `import.meta` is a syntax error: there is no such environment. */
export function readEnvCodec(): string | undefined {
  return undefined;
}
