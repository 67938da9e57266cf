/**
 * The build-time variable `VITE_MUX_CODEC`, or `undefined` if there is no such environment. Never throws.
 *
 * Keep the property access exactly as it is, because a bundler replaces it. An alias or a computed key would put every variable of the
 * application's environment into its bundle.
 */
export function readEnvCodec(): string | undefined {
  try {
    const value: unknown = (import.meta as { env?: { VITE_MUX_CODEC?: unknown } }).env?.VITE_MUX_CODEC;
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
