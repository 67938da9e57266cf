import { readEnvCodec } from './env.js';

/**
 * The configuration of the process. Use its only instance, {@link settings}.
 *
 * @example
 * ```ts
 * settings.codec = 'msgpack';
 * settings.reload();
 * settings.codec;   // 'json', if VITE_MUX_CODEC is not set
 * ```
 */
export class Settings {
  /**
   * The name of the codec for connections whose options name none. It is looked up each time a connection is made. Any string may be
   * assigned. Default: `VITE_MUX_CODEC` as the bundler sets it when this module loads, else `json`. An empty value counts as a value.
   */
  codec: string = configuredCodec();

  /** Reads the environment again and drops any assignment. For tests. */
  reload(): void {
    this.codec = configuredCodec();
  }

  /** Returns `Settings(codec='json')` with the current value. */
  toString(): string {
    return `Settings(codec='${this.codec}')`;
  }
}

/**
 * The configuration of the process.
 *
 * @example
 * ```ts
 * settings.codec = 'msgpack';
 * String(settings);   // "Settings(codec='msgpack')"
 * ```
 */
export const settings = new Settings();

function configuredCodec(): string {
  return readEnvCodec() ?? 'json';
}
