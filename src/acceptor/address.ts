/** An IPv4 address that is mapped to an IPv6 address, as a URL spells it. */
const MAPPED = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/;
const IPV4 = /^(?:\d{1,3}\.){3}\d{1,3}$/;
const IPV6 = /^[\da-f:.]*:[\da-f:.]*(?:%.+)?$/i;

/** Whether a text is an IPv4 address, or an IPv6 address without brackets. */
export function isAddress(text: string): boolean {
  return IPV4.test(text) || (IPV6.test(text) && URL.canParse(asUrl(text)));
}

/** The part of an address that one host has: an IPv6 host commonly has all of a /64. */
export function hostOf(address: string): string {
  const plain = inOneSpelling(address);
  if (!plain.includes(':')) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const rest = tail.split(':').filter((group) => group !== '');
  const zeros = Array.from({ length: 8 - groups.length - rest.length }, () => '0');
  return `${[...groups, ...zeros, ...rest].slice(0, 4).join(':')}::/64`;
}

/**
 * Returns an address without its zone, so that two texts of one address are equal: IPv6 in the one spelling of RFC 5952, and an IPv4 address
 * that is mapped to IPv6 as IPv4.
 */
export function inOneSpelling(address: string): string {
  if (!address.includes(':')) return address;
  const plain = new URL(asUrl(address)).hostname.slice(1, -1);
  const [, high, low] = MAPPED.exec(plain) ?? [];
  return high === undefined || low === undefined ? plain : [high, low].flatMap(bytesOf).join('.');
}

/** Returns the two bytes of a group of an IPv6 address. */
function bytesOf(group: string): readonly number[] {
  const bits = parseInt(group, 16);
  return [bits >> 8, bits & 0xff];
}

function asUrl(address: string): string {
  return `http://[${address.split('%', 1)[0] ?? ''}]`;
}
