import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { clientAddress, hostOf, readTrustProxy, trustsNone } from '../../src/node/origin.js';
import type { TrustProxy } from '../../src/node/origin.js';

type Row = readonly [trust: TrustProxy | null, remote: string | undefined, forwarded: string | undefined, client: string | null];

function addressOf(trust: TrustProxy | null, remoteAddress: string | undefined, forwarded: string | undefined): string | null {
  const request = { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } } as unknown as IncomingMessage;
  return clientAddress(request, trust === null ? trustsNone : readTrustProxy('trustProxy', trust));
}

describe('the address of a client', () => {
  it.each<Row>([
    [null, '127.0.0.1', '198.51.100.1', '127.0.0.1'],
    [null, '::ffff:127.0.0.1', undefined, '127.0.0.1'],
    [null, undefined, '198.51.100.1', null],
    [0, '127.0.0.1', '198.51.100.1', '127.0.0.1'],
    [1, '127.0.0.1', '6.6.6.6, 198.51.100.1', '198.51.100.1'],
    [2, '127.0.0.1', '6.6.6.6, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    [1, undefined, '198.51.100.1', '198.51.100.1'],
    [1, '127.0.0.1', undefined, '127.0.0.1'],
    [9, '127.0.0.1', '198.51.100.1', '198.51.100.1'],
    [['10.0.0.0/8', '::1'], '::1', '6.6.6.6,198.51.100.1,10.1.2.3', '198.51.100.1'],
    [['10.0.0.0/8'], '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    [['10.0.0.0/8'], '192.0.2.1', '198.51.100.1', '192.0.2.1'],
    [['2001:db8::/32'], '2001:db8::1', '2001:db9::2', '2001:db9::2'],
    [['10.0.0.0/8'], undefined, '198.51.100.1', null],
    [(address) => address.startsWith('10.'), '10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
    [(_address, hop) => hop === 0, '10.0.0.1', '198.51.100.1, 10.0.0.2', '10.0.0.2'],
    [1, '127.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    [1, '127.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    [3, '127.0.0.1', '198.51.100.1, unknown, 10.0.0.2', '10.0.0.2'],
    [3, '127.0.0.1', 'secret', '127.0.0.1'],
  ])('With trustProxy %p, a request from %s that was forwarded for %s comes from %s', (trust, remote, forwarded, client) => {
    expect(addressOf(trust, remote, forwarded)).toBe(client);
  });

  it.each([
    '198.51.100.1',
    '::ffff:198.51.100.1',
    '::FFFF:198.51.100.1',
    '::ffff:c633:6401',
    '::ffff:C633:6401',
    '0:0:0:0:0:ffff:198.51.100.1',
    '0:0:0:0:0:FFFF:C633:6401',
    '0000:0000:0000:0000:0000:ffff:c633:6401',
    '0::ffff:c633:6401',
    '[::ffff:c633:6401]:4711',
    '[0:0:0:0:0:ffff:198.51.100.1]',
    '::ffff:c633:6401%eth0',
  ])('An IPv4 address is one address however a proxy spells it: %s', (spelled) => {
    expect(addressOf(1, '127.0.0.1', spelled)).toBe('198.51.100.1');
    expect(addressOf(null, spelled, undefined)).toBe('198.51.100.1');
    expect(addressOf(['198.51.100.0/24'], spelled, '203.0.113.9')).toBe('203.0.113.9');
  });

  it.each(['2001:db8::1', '2001:DB8::1', '2001:0db8:0:0::0001', '2001:db8:0:0:0:0:0:1', '2001:db8::0.0.0.1', '[2001:db8::1]:443'])(
    'An IPv6 address is one address however a proxy spells it: %s',
    (spelled) => {
      expect(addressOf(1, '127.0.0.1', spelled)).toBe('2001:db8::1');
    },
  );

  it.each(['::ffff:10.0.0.1', '::ffff:a00:1', '::ffff:10.0.0.0/104'])('A trusted IPv4 proxy may be listed as %s', (entry) => {
    expect(addressOf([entry], '10.0.0.1', '198.51.100.1')).toBe('198.51.100.1');
  });

  it.each([
    ['trustProxy: expected an integer of at least 0, a list of addresses, or a function, got -1', -1],
    ['trustProxy: expected a count of proxies, a list of their addresses, or a function, got true', true],
    ["trustProxy[1]: expected an address or a subnet, such as '10.0.0.0/8', got 'nginx'", ['10.0.0.1', 'nginx']],
    ["trustProxy[0]: expected an address or a subnet, such as '10.0.0.0/8', got '10.0.0.0/99'", ['10.0.0.0/99']],
  ])('`trustProxy` throws: %s', (message, given) => {
    expect(() => readTrustProxy('trustProxy', given as TrustProxy)).toThrow(new TypeError(message));
  });

  it.each<readonly [what: string, verdict: () => unknown]>([
    ['a promise', () => Promise.resolve(false)],
    ['a promise', () => Promise.reject(new Error('no list'))],
    ['undefined', () => undefined],
  ])('A function that returns %s trusts no proxy, and throws', (got, verdict) => {
    expect(() => addressOf(verdict as () => boolean, '127.0.0.1', '198.51.100.1')).toThrow(
      new TypeError(`trustProxy: expected a boolean, got ${got}`),
    );
  });

  it.each([
    ['198.51.100.1', '198.51.100.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1:2::3:4:5:6.7.8.9', '1:2:0:3::/64'],
    ['1::', '1:0:0:0::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
  ])('The host of %s is %s', (address, host) => {
    expect(hostOf(address)).toBe(host);
  });
});
