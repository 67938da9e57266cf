import { log } from '../../logger.js';
import { isPage } from '../../transport/connectivity.js';
import { optionError } from '../../util/check.js';
import type { SocketLike } from '../../transport/transport.js';

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
  if (!hasFactory) checkAddress(String(url));
}

/** @throws TypeError for an address that no platform accepts: the platform's own error may quote a password */
export function checkAddress(address: string): void {
  if (!DIALABLE.test(partOf(address, 'href'))) throw optionError('url', 'a ws: or wss: address', shownAddress(withoutCredentials(address)));
}

/** Not `instanceof`: a URL of another realm is no instance of this realm's class. */
function isUrl(value: unknown): value is URL {
  return typeof value === 'object' && value !== null && 'href' in value;
}

/** Returns a part of an address, or the empty string for one that cannot be parsed. */
function partOf(address: string, part: 'href' | 'hostname'): string {
  try {
    return new URL(address, pageAddress())[part];
  } catch {
    return '';
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

/** This platform has no WebSocket, so the next dial would fail too. */
export class NoWebSocketError extends TypeError {
  constructor() {
    super("expected a platform with a WebSocket, got none: use connect of 'rxmux/node', or pass the option socket");
  }
}

/** A page with this number of sockets to one address most likely calls `connect` in a component. */
const MANY = 5;
/** The sockets of this page by address; `NaN` once the log has warned. */
const counts = new Map<string, number>();

/** Returns the socket of the platform. */
export function platformSocket(address: string, protocol: string): SocketLike {
  if (typeof WebSocket !== 'function') throw new NoWebSocketError();
  const socket = new WebSocket(address, protocol);
  if (isPage()) countUntilClosed(shownAddress(address), socket);
  return socket;
}

/** Warns once of many sockets to one address. A program of Node may well have a pool of them. */
export function countUntilClosed(where: string, socket: SocketLike): void {
  const add = (change: number): void => {
    const count = (counts.get(where) ?? 0) + change;
    if (count === MANY) log('warn', `${MANY} sockets to ${where}: call connect() once, outside of components`);
    if (count === 0) counts.delete(where);
    else counts.set(where, count === MANY ? NaN : count);
  };
  add(1);
  socket.addEventListener('close', () => {
    add(-1);
  });
}

/** Hosts as a parsed address has them: every spelling of an IPv4 address has become four numbers. */
const LOOPBACK = /^(.+\.)?localhost$|^127\.[\d.]+$|^\[::1]$/;

const CREDENTIALS = /^(\s*(?:[a-z][a-z\d+.-]*:[/\\\s]*|[/\\]{2,}))[^/\\?#]*@/i;
const ALL_BEFORE_HOST = /^(\s*(?:[a-z][a-z\d+.-]*:)?[/\\\s]*).*@/is;

const QUERY_OR_FRAGMENT = /[?#].*$/s;

/** An address for errors and log lines. It omits credentials, query and fragment, which may hold tokens. */
export function shownAddress(address: string): string {
  return address.replace(QUERY_OR_FRAGMENT, '').replace(CREDENTIALS, '$1');
}

/** Returns an address that cannot be parsed, without its credentials: a password may hold any character, so all up to the last `@` goes. */
function withoutCredentials(address: string): string {
  return address.replace(ALL_BEFORE_HOST, '$1');
}

/** Whether an address names this machine, and so needs no network. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.test(partOf(address, 'hostname'));
}
