import { optionError } from '../../wire/check.js';

/** What may stand before an address: platforms dial pages of HTTP too, and `ws` sockets of Unix. */
const DIALABLE = /^(?:wss?|https?|ws\+unix):/;

/**
 * Whoever dials what no platform takes would do so again and again: it is told before the first dial. What a socket factory takes,
 * and what a function will give, nobody knows here.
 *
 * @throws TypeError for what is neither an address nor a function
 */
export function checkUrl(url: unknown, hasFactory: boolean): void {
  if (typeof url === 'function') return;
  if (typeof url !== 'string' && !isUrl(url)) throw optionError('url', 'an address, or a function that gives it', url);
  const address = String(url);
  if (!hasFactory && !isDialable(address)) throw optionError('url', 'a ws: or wss: address', address);
}

/** One of another realm is no instance of ours. */
function isUrl(value: unknown): value is URL {
  return typeof value === 'object' && value !== null && 'href' in value;
}

function isDialable(address: string): boolean {
  try {
    return DIALABLE.test(new URL(address, pageAddress()).href);
  } catch {
    return false;
  }
}

/** What a relative address is relative to. */
function pageAddress(): string | undefined {
  const { document, location }: Page = globalThis;
  return document?.baseURI ?? location?.href;
}

interface Page {
  readonly document?: { readonly baseURI: string };
  readonly location?: { readonly href: string };
}
