/** The part of an address that one host has: an IPv6 host commonly has all of a /64. */
export function hostOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = inOneSpelling(address).split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const rest = tail.split(':').filter((group) => group !== '');
  const zeros = Array.from({ length: 8 - groups.length - rest.length }, () => '0');
  return `${[...groups, ...zeros, ...rest].slice(0, 4).join(':')}::/64`;
}

/** Returns an IPv6 address without its zone, and in the one spelling of RFC 5952, so that two texts of one address are equal. */
export function inOneSpelling(address: string): string {
  return new URL(`http://[${address.split('%', 1)[0] ?? ''}]`).hostname.slice(1, -1);
}
