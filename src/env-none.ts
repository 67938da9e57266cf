/** Stands in for `env.ts` in the CommonJS build, whose syntax has no such environment. */
export function readEnvCodec(): string | undefined {
  return undefined;
}
