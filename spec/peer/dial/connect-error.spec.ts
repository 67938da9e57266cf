import { describe, expect, it } from '@jest/globals';
import { connectError } from '../../../src/peer/dial/failure.js';
import type { ConnectFacts } from '../../../src/peer/dial/failure.js';

const close = { code: 1006, reason: '', wasClean: false };
const address = 'wss://user:secret@example.org:8443/mux?token=secret#secret';

describe('Error of a failed dial', () => {
  it.each<[what: string, reason: string, facts: ConnectFacts, message: string]>([
    ['the close code', '', {}, 'the connection could not be opened (1006)'],
    ['the reason', 'ECONNREFUSED', {}, 'the connection could not be opened (1006 ECONNREFUSED)'],
    ['the status alone', 'x', { status: 503, opaque: true }, 'expected this server to accept the handshake, got HTTP 503'],
    [
      'the address without credentials and query',
      '',
      { address },
      'the connection to wss://example.org:8443/mux could not be opened (1006)',
    ],
    [
      'the address beside the status',
      '',
      { address, status: 404 },
      'expected wss://example.org:8443/mux to accept the handshake, got HTTP 404',
    ],
    [
      'the proxy that 426 points to',
      '',
      { address, status: 426 },
      'expected wss://example.org:8443/mux to accept the handshake, got HTTP 426; a proxy on the way may not pass upgrades: it has to forward the headers Upgrade and Connection',
    ],
  ])('The error names %s', (_what, reason, facts, message) => {
    expect(connectError({ ...close, reason }, facts).message).toBe(message);
  });

  it('The error names possible causes only when the platform reports none', () => {
    expect(connectError(close, { opaque: true }).message).toMatch(
      /^the connection could not be opened \(1006\); this platform does not say why: /,
    );
    expect(connectError({ ...close, reason: 'Received network error or non-101 status code.' }, { opaque: true }).message).toMatch(
      /^the connection could not be opened \(1006 Received .+\); this platform does not say why: .+ import connect from 'rxmux\/node', which says why$/,
    );
    expect(connectError({ ...close, reason: 'no accept' }, { opaque: true }).message).toBe(
      'the connection could not be opened (1006 no accept)',
    );
  });

  it('The error has the error of the platform as its cause, if there is one', () => {
    const cause = new Error('ECONNREFUSED');
    expect(connectError(close, { cause }).cause).toBe(cause);
    expect('cause' in connectError(close)).toBe(false);
  });

  it.each([null, 503])('The error carries the reason of the close, and announces no retry: status %p', (status) => {
    expect(connectError(close, { status })).toMatchObject({ status, reason: { ...close, willRetry: false } });
  });
});
