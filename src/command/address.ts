import { UsageError } from './exit.js';

/**
 * Returns the only positional argument, which is the address of a server.
 *
 * @throws UsageError for none, for more, and for another kind of address
 */
export function addressOf(positionals: readonly string[]): string {
  const [url, ...others] = positionals;
  if (url === undefined || others.length > 0) throw new UsageError(`expected one URL, got ${positionals.length}`);
  if (!isAddress(url)) throw new UsageError(`expected an address with ws: or wss:, got '${url}'`);
  return url;
}

/** Whether a text is the address of a server. */
export function isAddress(text: string): boolean {
  return /^wss?:\/\//.test(text) && URL.canParse(text);
}
