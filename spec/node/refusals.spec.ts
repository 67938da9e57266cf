import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Refusal, UpgradeOptions } from '../../src/node.js';
import { handleUpgrade, refuse } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { handshake } from '../support/socket/handshake.js';
import type { Offer } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { watchResources } from '../support/socket/leaks.js';
import { testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

const logs = collectLogs();
const MINUTE_MS = 60_000;

describe('refused upgrades', () => {
  let leaks: ReturnType<typeof watchResources>;
  let server: TestServer;

  beforeEach(() => {
    leaks = watchResources();
  });

  afterEach(async () => {
    jest.useRealTimers();
    await server.dispose();
    expect(await leaks()).toEqual({});
  });

  /** Fakes only the timers that end a period of the log. Sockets and rxjs keep real timers. */
  const fakePeriods = (): void => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'queueMicrotask', 'performance', 'Date'] });
  };
  const offer = async (offered: Offer, times: number): Promise<void> => {
    for (let nth = 0; nth < times; nth++) await handshake(server.http, offered);
  };

  describe('log lines', () => {
    it.each<readonly [what: string, offer: Offer, options: UpgradeOptions & { path?: string }, line: string]>([
      [
        'another codec',
        { path: '/mux?token=1', protocols: ['mux.v1.msgpack'] },
        { path: '/mux' },
        "400 /mux: expected the subprotocol 'mux.v1.json' in first place, got 'mux.v1.msgpack'",
      ],
      ['a malformed handshake', { headers: { 'Sec-WebSocket-Key': null } }, {}, '400 /: Missing or invalid Sec-WebSocket-Key header'],
      ['another path', { path: '/other?token=1' }, { path: '/mux' }, '404 /other: nothing answers at /other'],
      ['no credentials', {}, { verify: () => 401 }, '401 /: verify refused the request'],
      ['a verdict of false', {}, { verify: () => false }, '403 /: verify refused the request'],
      ['a verdict with its own status', {}, { verify: () => refuse(429, {}, 'too many') }, '429 /: too many'],
      [
        'a foreign page',
        { headers: { Origin: 'https://evil.example' } },
        {},
        `403 /: this origin is not allowed: "https://evil.example"; name it in the option 'origins' to let it in`,
      ],
    ])('Refused upgrades are logged once immediately, and then once per period with a count: %s', async (_what, offered, options, line) => {
      fakePeriods();
      server = await testServer(options);
      await offer(offered, 5);
      expect(logs.warnings).toEqual([`rxmux: refused an upgrade: ${line}`]);
      jest.advanceTimersByTime(MINUTE_MS);
      expect(logs.warnings.slice(1)).toEqual([`rxmux: refused 4 more, the last: ${line}`]);
    });

    it('The count of refused upgrades starts at the previous line, and a quiet period ends the series', async () => {
      fakePeriods();
      server = await testServer({ path: '/mux' });
      await offer({ path: '/a' }, 2);
      jest.advanceTimersByTime(MINUTE_MS);
      await offer({ path: '/b' }, 3);
      jest.advanceTimersByTime(MINUTE_MS - 1);
      expect(logs.warnings).toHaveLength(2);
      jest.advanceTimersByTime(1);
      jest.advanceTimersByTime(2 * MINUTE_MS);
      await offer({ path: '/c' }, 1);
      expect(logs.warnings).toEqual([
        'rxmux: refused an upgrade: 404 /a: nothing answers at /a',
        'rxmux: refused 1 more, the last: 404 /a: nothing answers at /a',
        'rxmux: refused 3 more, the last: 404 /b: nothing answers at /b',
        'rxmux: refused an upgrade: 404 /c: nothing answers at /c',
      ]);
    });

    it('Refused upgrades have a log line for each cause', async () => {
      server = await testServer({ path: '/mux', verify: ({ headers }) => (headers.authorization === undefined ? 401 : 403) });
      for (const offered of [{ path: '/x' }, { path: '/mux' }, { path: '/mux', headers: { Authorization: 'x' } }]) await offer(offered, 3);
      expect(logs.warnings.map((line) => /\d{3}/.exec(line)?.[0])).toEqual(['404', '401', '403']);
    });

    it('A server that closes logs the last count of refused upgrades', async () => {
      server = await testServer({ path: '/mux' });
      await offer({ path: '/other' }, 4);
      await server.mux.close();
      expect(logs.warnings.slice(1)).toEqual(['rxmux: refused 3 more, the last: 404 /other: nothing answers at /other']);
    });

    it('Refused upgrades of foreign origins are logged again after one second', async () => {
      fakePeriods();
      server = await testServer();
      for (const page of ['a', 'b', 'c']) await offer({ headers: { Origin: `https://${page}.example` } }, 1);
      jest.advanceTimersByTime(1_000);
      expect(logs.warnings.map((line) => /https:[^"]*/.exec(line)?.[0])).toEqual(['https://a.example', 'https://c.example']);
      expect(logs.warnings[1]).toContain('refused 2 more,');
    });

    it('The log line of a refused upgrade quotes at most 100 characters of the remote, and no control characters', async () => {
      server = await testServer();
      // The socket sends UTF-8, which Node reads as Latin-1.
      const hostile = `https://\u009b31m\u0085${'x'.repeat(7_000)}`;
      await offer({ headers: { Origin: hostile } }, 1);
      await offer({ protocols: [hostile] }, 1);
      expect(logs.warnings).toHaveLength(2);
      for (const line of logs.warnings) {
        expect(line).toContain('https://Â\\u009b31mÂ\\u0085xxx');
        expect(line).not.toMatch(/\p{Cc}|x{100}/u);
      }
    });

    it('A `verify` that throws repeatedly is logged with its last error and a count', async () => {
      fakePeriods();
      let nth = 0;
      server = await testServer({ verify: () => Promise.reject(new Error(`no database ${String(nth++)}`)) });
      await offer({}, 3);
      jest.advanceTimersByTime(1_000);
      expect(logs.errors).toEqual([
        'rxmux: an upgrade request could not be judged',
        'rxmux: an upgrade request could not be judged, the last of 2 more',
      ]);
      expect(logs.warnings).toEqual([]);
    });

    it('The timer of a log period does not keep the process alive', async () => {
      fakePeriods();
      server = await testServer({ path: '/mux' });
      const timers = jest.spyOn(globalThis, 'setTimeout');
      await offer({ path: '/other' }, 1);
      const made = timers.mock.results.map(({ value }) => value as NodeJS.Timeout);
      expect(made.map((timer) => timer.hasRef())).toEqual([false]);
    });
  });

  describe('refusals$', () => {
    const refused = async (offered: Offer): Promise<Refusal> => {
      server = await testServer({ path: '/mux', verify: () => refuse(403, {}, 'not you\r\n\u009b31m') });
      const refusals: Refusal[] = [];
      server.mux.refusals$.subscribe((refusal) => refusals.push(refusal));
      await handshake(server.http, { ...offered, headers: { Cookie: 'session=s3cret', ...offered.headers } });
      const [refusal] = refusals;
      if (refusal === undefined) throw new Error('expected a refusal');
      return refusal;
    };

    it.each<readonly [what: string, offer: Offer, line: string]>([
      ['another path', { path: '/other?token=s3cret' }, '404 /other: nothing answers at /other'],
      ['a reason of several lines', { path: '/mux' }, '403 /mux: not you\\r\\n\\u009b31m'],
      ['a long path', { path: `/${'x'.repeat(3_000)}` }, `404 /${'x'.repeat(99)}…: nothing answers at /${'x'.repeat(99)}…`],
    ])('A refusal prints and serializes as one line: %s', async (_what, offered, line) => {
      const refusal = await refused(offered);
      expect(String(refusal)).toBe(line);
      expect(JSON.parse(JSON.stringify({ refusal }))).toEqual({ refusal: line });
      expect(inspect(refusal)).toBe(line);
      expect(inspect({ refusal }, { depth: Infinity, showHidden: true, breakLength: Infinity })).toBe(`{ refusal: ${line} }`);
    });

    it('A refusal has the request, but its copies have no headers', async () => {
      const refusal = await refused({ path: '/other' });
      expect(refusal.request.headers.cookie).toBe('session=s3cret');
      expect({ ...refusal }).toEqual({ status: 404, reason: 'nothing answers at /other' });
    });
  });

  it.each<readonly [what: string, offer: Offer]>([
    ['another codec', { path: '/mux', protocols: ['<script>'] }],
    ['another path', { path: '/<script>' }],
  ])('A browser does not interpret the body of a refusal, although the body quotes the request: %s', async (_what, offered) => {
    server = await testServer({ path: '/mux' });
    const { body, headers } = await handshake(server.http, offered);
    expect(body).toContain('<script>');
    expect(headers['x-content-type-options']).toBe('nosniff');
  });
});

describe('handleUpgrade', () => {
  const http = httpServer();

  it('`handleUpgrade` logs its refusals', async () => {
    http.now.on('upgrade', (request, socket, head) => {
      handleUpgrade(request, socket, head, { keepalive: false });
    });
    for (let nth = 0; nth < 3; nth++) await handshake(http.now, { path: '/mine', protocols: ['x'] });
    expect(logs.warnings).toEqual(["rxmux: refused an upgrade: 400 /mine: expected the subprotocol 'mux.v1.json' in first place, got 'x'"]);
  });
});
