import { readEnvCodec } from './env.js';

/**
 * The configuration of the process; use the one instance {@link settings}.
 *
 * @example
 * ```ts
 * settings.codec = 'msgpack';
 * settings.reload();
 * settings.codec;   // 'json', where VITE_MUX_CODEC is not set
 * ```
 */
export class Settings {
  /**
   * The name of the codec for connections that are given none, looked up each time one is made. Any string may be assigned.
   * Default: `VITE_MUX_CODEC` as the bundler knows it when this module loads, else `json`; an empty value is a value.
   */
  codec: string = configuredCodec();

  /** Reads the environment again and discards any assignment. For tests. */
  reload(): void {
    this.codec = configuredCodec();
  }

  /** `Settings(codec='json')`, with the current value. */
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
