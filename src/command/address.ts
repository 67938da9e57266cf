import { UsageError } from './exit.js';

/**
 * Returns the only positional argument, which is the address of a server.
 *
 * @throws UsageError for none, for more, for another kind of address and for one with a fragment
 */
export function addressOf(positionals: readonly string[]): string {
  const [url, ...others] = positionals;
  if (url === undefined || others.length > 0) throw new UsageError(`expected one URL, got ${positionals.length}`);
  if (!isAddress(url)) throw new UsageError(`expected an address with ws: or wss:, got '${withoutPassword(url)}'`);
  return dialable(url);
}

/**
 * Returns the address of a server.
 *
 * @throws UsageError for a fragment, which no handshake can carry
 */
export function dialable(url: string): string {
  if (new URL(url).hash !== '') throw new UsageError(`expected an address without #, got '${withoutPassword(url)}'`);
  return url;
}

/** Whether a text is the address of a server, by a scheme that `connect` takes. */
export function isAddress(text: string): boolean {
  return /^(ws|http)s?:\/\//.test(text) && URL.canParse(text);
}

/** Whether a text is the address of a socket, which no payload is. */
export function isSocketAddress(text: string): boolean {
  return text.startsWith('ws') && isAddress(text);
}

/** Returns arguments for an error message, without the user and password of an address among them. JSON stays as it is. */
export function withoutPassword(text: string): string {
  return text.replace(/(^|\s)((?:[a-z][a-z\d+.-]*:)?[/\\]*)[^\s"{[]*@/gi, '$1$2');
}
