/** Replaces `env.ts` in the CommonJS build, which has no metadata of imports. */
export function readEnvCodec(): string | undefined {
  return undefined;
}
