import { optionError } from '../../wire/check.js';

/** Schemes of addresses: platforms also dial addresses of HTTP pages, and `ws` also dials Unix sockets. */
const DIALABLE = /^(?:wss?|https?|ws\+unix):/;

/**
 * Rejects an address that no platform accepts before the first dial, since every dial would fail. The check does not cover addresses
 * for a socket factory, or addresses that a function will return.
 *
 * @throws TypeError unless `url` is an address or a function
 */
export function checkUrl(url: unknown, hasFactory: boolean): void {
  if (typeof url === 'function') return;
  if (typeof url !== 'string' && !isUrl(url)) throw optionError('url', 'an address, or a function that returns one', url);
  const address = String(url);
  if (!hasFactory && !isDialable(address)) throw optionError('url', 'a ws: or wss: address', address);
}

/** Not `instanceof`: a URL of another realm is no instance of this realm's class. */
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

/** The base of relative addresses. */
function pageAddress(): string | undefined {
  const { document, location }: Page = globalThis;
  return document?.baseURI ?? location?.href;
}

interface Page {
  readonly document?: { readonly baseURI: string };
  readonly location?: { readonly href: string };
}
