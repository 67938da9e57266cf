/** Replaces `env.ts` in the CommonJS build, whose syntax has no `import.meta`. */
export function readEnvCodec(): string | undefined {
  return undefined;
}
