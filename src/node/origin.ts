import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { types } from 'node:util';
import { booleanOf } from '../stream/promises.js';
import { checkBoolean, optionError, readObject } from '../util/check.js';
import type { Options } from '../util/check.js';
import { INSTEAD_OF_PROXY_HEADER } from './intercept.js';

/** Which web pages may connect: their origins, a function that decides, or an object that demands an origin of every request. */
export type Origins = readonly (string | RegExp)[] | ((origin: string | undefined, request: IncomingMessage) => boolean) | OriginRules;

/** Demands an `Origin` of every request. */
export interface OriginRules {
  /** Lists the pages that may connect. Default the pages of the default of `origins`. */
  readonly allow?: readonly (string | RegExp)[] | undefined;
  /**
   * Refuses an upgrade without `Origin` by 403. A foreign page then gets in through no proxy that drops `Origin`. Programs must send one,
   * too. Default `false`.
   */
  readonly required?: boolean | undefined;
}

/** Declares {@link OriginRules}. */
export const ORIGIN_RULES: Options<OriginRules, { readonly allow: readonly (string | RegExp)[] | undefined; readonly required: boolean }> =
  {
    allow: [checkList, undefined],
    required: [checkBoolean, false],
  };

/** An origin as a browser sends it. A page in a sandbox has the origin `null`. */
const WHOLE = /^(null|[a-z][\w+.-]*:\/\/[^/?#*]*)$/;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const LOOPBACK_ADDRESS = /^(127\.|::1$|::ffff:127\.)/;

/**
 * Whether the page that sent the request may connect. Without `origins`, two kinds of pages may: pages of this server, and pages on
 * loopback.
 *
 * For loopback, `Host` and the remote address must be on loopback too. The address alone proves nothing behind a proxy on the same
 * machine. A request without `Origin` does not come from a browser and passes.
 *
 * @throws TypeError for a function that returns no boolean, since a promise of `false` would let everybody in; any error that the
 *   function throws
 */
export function originAllowed(request: IncomingMessage, origins: Origins | undefined): boolean {
  const { origin, host } = request.headers;
  if (typeof origins === 'function') return booleanOf('origins', origins(origin, request));
  const { allow, required = false } = rulesOf(origins);
  if (origin === undefined) return !required;
  // Not `test`, which remembers where the last match of a /g expression ended.
  if (allow !== undefined) return allow.some((allowed) => (typeof allowed === 'string' ? allowed === origin : origin.search(allowed) >= 0));
  const page = parse(origin);
  if (page === null) return false;
  // Parsing makes a `Host` that names the default port equal to a `Host` that omits it.
  const server = parse(`${page.protocol}//${host ?? ''}`);
  if (server === null) return false;
  return page.host === server.host || (isLoopback(page) && isLoopback(server) && LOOPBACK_ADDRESS.test(request.socket.remoteAddress ?? ''));
}

function rulesOf(origins: Exclude<Origins, (...args: never) => unknown> | undefined): OriginRules {
  return origins === undefined || !isList(origins) ? { ...origins } : { allow: origins };
}

function isList(origins: unknown): origins is readonly (string | RegExp)[] {
  return Array.isArray(origins);
}

/**
 * Whether a proxy may have dropped the `Origin` of a page: a trusted proxy has forwarded a cookie without one, and no function of the user's
 * has judged that.
 */
export function losesOrigin({ headers, socket }: IncomingMessage, origins: Origins | undefined, trusts: TrustsHop): boolean {
  if (headers.origin !== undefined || headers.cookie === undefined || trusts === trustsNone) return false;
  return typeof origins !== 'function' && trusts(socket.remoteAddress ?? '', 0);
}

/**
 * Returns `origins`.
 *
 * @throws TypeError unless it is a function, an array of strings and RegExps, or an object of {@link ORIGIN_RULES}
 */
export function checkOrigins(name: string, origins: Origins): Origins {
  if (typeof origins === 'function') return origins;
  if (isList(origins)) return checkList(name, origins);
  if (types.isRegExp(origins)) throw optionError(name, ACCEPTED, origins);
  return readObject(name, origins, ORIGIN_RULES, ACCEPTED);
}

const ACCEPTED = 'an array, a function or { required: true }';

function checkList<T extends readonly unknown[]>(name: string, origins: T): T {
  if (!Array.isArray(origins)) throw optionError(name, 'an array', origins);
  for (const [index, origin] of origins.entries())
    if (typeof origin === 'string') checkWhole(`${name}[${index}]`, origin);
    else if (!types.isRegExp(origin)) throw optionError(`${name}[${index}]`, 'a string or a RegExp', origin);
  return origins;
}

/** A host alone, a slash at the end, or `*` would match no page. */
function checkWhole(name: string, origin: string): void {
  if (!WHOLE.test(origin)) throw optionError(name, "a whole origin, such as 'https://app.example.org'", origin);
}

function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK_HOST.test(hostname);
}

function parse(origin: string): URL | null {
  try {
    return new URL(origin);
  } catch {
    return null;
  }
}

/**
 * Which proxies may name the address of their client by `X-Forwarded-For`: how many stand before this server, their addresses and
 * subnets (`10.0.0.0/8`, `::1`), or a function that decides about each address, 0 being the nearest.
 */
export type TrustProxy = number | readonly string[] | ((address: string, hop: number) => boolean);

/** Decides whether the address at a hop belongs to a trusted proxy. */
export type TrustsHop = (address: string, hop: number) => boolean;

const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/;
/** An IPv4 address, mapped to an IPv6 address as {@link inOneSpelling} returns it. */
const MAPPED = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/;

/**
 * Reads the option `trustProxy`.
 *
 * @throws TypeError for anything but a count, a list of addresses and subnets, or a function
 */
export function readTrustProxy(name: string, given: TrustProxy): TrustsHop {
  // A promise of `false` would trust every address, and a client may write the header itself.
  if (typeof given === 'function') return (address, hop) => booleanOf(name, given(address, hop));
  if (typeof given === 'number') {
    if (!Number.isInteger(given) || given < 0)
      throw optionError(name, 'an integer of at least 0, a list of addresses, or a function', given);
    return (_address, hop) => hop < given;
  }
  if ((given as unknown) === 'proxy-protocol') throw new TypeError(`${name}: ${INSTEAD_OF_PROXY_HEADER}`);
  if (!Array.isArray(given)) throw optionError(name, 'a count of proxies, a list of their addresses, or a function', given);
  const list = listOf(name, given as readonly unknown[]);
  return (address) => address !== '' && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** Trusts no proxy. */
export function trustsNone(): boolean {
  return false;
}

/**
 * Finds the address that a request comes from: the nearest one that is no trusted proxy. `null` where there is none, as over a Unix
 * socket.
 */
export function clientAddress({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>, trusts: TrustsHop): string | null {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',');
  const chain = [socket.remoteAddress ?? '', ...forwarded.split(',').reverse()];
  let client: string | null = null;
  for (const [hop, text] of chain.entries()) {
    const address = addressOf(text);
    // A proxy below a Unix socket has no address.
    if (address === null && hop > 0) break;
    client = address;
    if (!trusts(address ?? '', hop)) break;
  }
  return client;
}

/** The part of an address that one host has: an IPv6 host commonly has all of a /64. */
export function hostOf(address: string): string {
  if (isIPv4(address)) return address;
  const [head = '', tail = ''] = inOneSpelling(address).split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const rest = tail.split(':').filter((group) => group !== '');
  const zeros = Array.from({ length: 8 - groups.length - rest.length }, () => '0');
  return `${[...groups, ...zeros, ...rest].slice(0, 4).join(':')}::/64`;
}

function addressOf(text: string): string | null {
  const plain = text.trim();
  const [, bracketed, dotted] = WITH_PORT.exec(plain) ?? [];
  const address = bracketed ?? dotted ?? plain;
  if (isIP(address) !== 6) return isIPv4(address) ? address : null;
  const canonical = inOneSpelling(address);
  const [, high, low] = MAPPED.exec(canonical) ?? [];
  return high === undefined || low === undefined ? canonical : [high, low].flatMap(bytesOf).join('.');
}

/** Returns an IPv6 address without its zone, and in the one spelling of RFC 5952, so that two texts of one address are equal. */
function inOneSpelling(address: string): string {
  return new URL(`http://[${address.split('%', 1)[0] ?? ''}]`).hostname.slice(1, -1);
}

/** Returns the two bytes of a group of an IPv6 address. */
function bytesOf(group: string): readonly number[] {
  const bits = parseInt(group, 16);
  return [bits >> 8, bits & 0xff];
}

function listOf(name: string, entries: readonly unknown[]): BlockList {
  const list = new BlockList();
  for (const [index, entry] of entries.entries()) {
    const [address = '', bits] = String(entry).split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    try {
      if (bits === undefined) list.addAddress(address, family);
      else list.addSubnet(address, Number(bits), family);
    } catch {
      throw optionError(`${name}[${index}]`, "an address or a subnet, such as '10.0.0.0/8'", entry);
    }
  }
  return list;
}
