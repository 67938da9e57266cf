import type { AddressInfo } from 'node:net';

/** @throws TypeError for a server that does not listen on a port */
export function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError(`expected a port, got ${address ?? 'no address'}`);
  return address.port;
}
