import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { inOneSpelling } from '../acceptor/address.js';
import type { OriginsOf } from '../acceptor/origin.js';
import { booleanOf } from '../stream/promises.js';
import { optionError } from '../util/check.js';
import { INSTEAD_OF_PROXY_HEADER } from './intercept.js';

/** Which web pages may connect: their origins, a function that decides, or an object that demands an origin of every request. */
export type Origins = OriginsOf<IncomingMessage>;

/**
 * Which proxies may name the address of their client by `X-Forwarded-For`: how many stand before this server, their addresses and
 * subnets (`10.0.0.0/8`, `::1`), or a function that decides about each address, 0 being the nearest.
 */
export type TrustProxy = number | readonly string[] | ((address: string, hop: number) => boolean);

/** Decides whether the address at a hop belongs to a trusted proxy. */
export type TrustsHop = (address: string, hop: number) => boolean;

/** An address, or a subnet. Without a check `Number` would read an empty count of bits as 0, which trusts every address. */
const ENTRY = /^([^/]*)(?:\/(\d+))?$/;
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/;

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

/**
 * Whether a proxy may have dropped the `Origin` of a page: a trusted proxy has forwarded a cookie without one, and no function of the user's
 * has judged that.
 */
export function losesOrigin({ headers, socket }: IncomingMessage, origins: Origins | undefined, trusts: TrustsHop): boolean {
  if (headers.origin !== undefined || headers.cookie === undefined || trusts === trustsNone) return false;
  return typeof origins !== 'function' && trusts(addressOf(socket.remoteAddress ?? '') ?? '', 0);
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

function addressOf(text: string): string | null {
  const plain = text.trim();
  const [, bracketed, dotted] = WITH_PORT.exec(plain) ?? [];
  const address = bracketed ?? dotted ?? plain;
  return isIP(address) === 0 ? null : inOneSpelling(address);
}

function listOf(name: string, entries: readonly unknown[]): BlockList {
  const list = new BlockList();
  for (const [index, entry] of entries.entries()) {
    const [, address = '', bits] = ENTRY.exec(String(entry)) ?? [];
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
