import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom } from 'rxjs';
import type { ConnectError, DeadlineExceededError, Peer } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';
import { portOf } from '../support/socket/handshake.js';
import { until, watchResources } from '../support/socket/leaks.js';
import { listening } from '../support/socket/listening.js';

const logs = collectLogs();

let leaks: ReturnType<typeof watchResources>;
let endings: (() => unknown)[] = [];

beforeEach(() => {
  leaks = watchResources();
  endings = [];
});

afterEach(async () => {
  for (const end of endings) await end();
  expect(await leaks()).toEqual({});
});

const ending = (peer: Peer): Peer => {
  endings.push(() => peer.close());
  return peer;
};

function listens(server: Server): Promise<Server> {
  endings.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return listening(server);
}

/** A port on which nothing listens. */
async function freePort(): Promise<number> {
  const server = serve({ port: 0, host: '127.0.0.1' });
  await server.listening;
  const port = portOf(server);
  await server.close();
  return port;
}

describe('calls without a server', () => {
  it.each<readonly [returned: unknown, got: string]>([
    [undefined, 'undefined'],
    [Promise.resolve(null), 'null'],
    ['example.org/mux?token=secret', 'example.org/mux'],
    ['ftp://ann:secret@example.org', 'ftp://example.org'],
  ])('A dial whose function returns %p fails with an error that shows it, and no secret', async (returned, got) => {
    const peer = ending(connect(() => returned as string));
    expect(await settled(peer.request('p'))).toMatchObject({
      error: { code: 'CONNECT', message: `url: expected a ws: or wss: address, got '${got}'` },
    });
  });

  it('A call that times out without a server reports that it was never sent, why, and that it is retriable', async () => {
    const port = await freePort();
    const peer = ending(connect(`ws://ann:secret@127.0.0.1:${port}/mux?token=secret`, { reconnect: { maxAttempts: Infinity } }));
    await until('a failed dial', () => logs.warnings.length > 0);
    const { error } = (await settled(peer.request('p', { timeoutMs: 1 }))) as { error: DeadlineExceededError };
    expect(error.message).toBe(
      `expected the stream to end within 1 ms, but it was never sent: no connection to ws://127.0.0.1:${port}/mux; last dial: connect ECONNREFUSED 127.0.0.1:${port}`,
    );
    expect(error).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      retriable: true,
      cause: { code: 'CONNECT', cause: { code: 'ECONNREFUSED' } },
    });
  });

  it('A dialer logs the first failed dial of a series with its address, and the dial that opens', async () => {
    const port = await freePort();
    const peer = ending(
      connect(`ws://127.0.0.1:${port}/mux?token=secret`, { reconnect: { maxAttempts: Infinity, minDelayMs: 1, maxDelayMs: 1 } }),
    );
    let failed = 0;
    peer.onClose(() => failed++);
    await until('some failed dials', () => failed > 2);
    expect(logs.warnings).toEqual([
      `rxmux: a dial failed, and more follow: the connection to ws://127.0.0.1:${port}/mux could not be opened (1006 connect ECONNREFUSED 127.0.0.1:${port})`,
    ]);
    const server = serve({ port, host: '127.0.0.1' });
    endings.push(() => server.close());
    await peer.opened;
    expect(logs.warnings.slice(1)).toEqual([`rxmux: connected to ws://127.0.0.1:${port}/mux after ${failed} failed dials`]);
  });
});

describe('failed dials', () => {
  it('The error of a name with several addresses names each of them and has their errors as its cause', async () => {
    const port = await freePort();
    const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
    const lookup = (_host: string, _options: unknown, found: (error: null, all: readonly object[]) => void): void => {
      found(null, addresses);
    };
    const peer = ending(connect(`ws://several.test:${port}`, { tls: { lookup } as object }));
    const { error } = (await settled(peer.opened)) as { error: ConnectError };
    expect(error.message).toBe(
      `the connection to ws://several.test:${port} could not be opened (1006 connect ECONNREFUSED 127.0.0.1:${port}, connect ECONNREFUSED 127.0.0.2:${port})`,
    );
    expect(error.cause).toMatchObject({ code: 'ECONNREFUSED', errors: [{ code: 'ECONNREFUSED' }, { code: 'ECONNREFUSED' }] });
  });

  it('The error of a dial with TLS to a server without it has one line', async () => {
    const server = serve({ port: 0, host: '127.0.0.1' });
    endings.push(() => server.close());
    await server.listening;
    const { error } = (await settled(ending(connect(`wss://127.0.0.1:${portOf(server)}`)).opened)) as { error: ConnectError };
    expect(error.message).toMatch(/^the connection to .+ could not be opened \(1006 .+wrong version number:\S+\)$/);
  });

  it('The error of a proxy that passes no upgrade names the proxy', async () => {
    const server = serve({ port: 0, host: '127.0.0.1' });
    endings.push(() => server.close());
    await server.listening;
    // The proxy forwards the request without its hop-by-hop headers.
    const proxy = await listens(
      createServer().on('upgrade', (_request, socket) => {
        void fetch(`http://127.0.0.1:${portOf(server)}`).then(({ status }) => socket.end(`HTTP/1.1 ${status} Upgrade Required\r\n\r\n`));
      }),
    );
    await expect(connect(`ws://127.0.0.1:${portOf(proxy)}`).opened).rejects.toMatchObject({
      status: 426,
      message: expect.stringContaining('a proxy on the way may not pass upgrades'),
    });
  });

  it.each<readonly [header: string, least: number, most: number]>([
    ['2', 2_000, 3_000],
    ['3600', 30_000, 30_000],
    ['Fri, 27 Nov 2026 00:00:00 GMT', 0, 500],
    ['-1', 0, 500],
  ])('A dialer waits for the time of Retry-After: %s', async (header, least, most) => {
    const http = await listens(
      createServer().on('upgrade', (_request, socket) => socket.end(`HTTP/1.1 503 x\r\nRetry-After: ${header}\r\n\r\n`)),
    );
    const peer = ending(connect(`ws://127.0.0.1:${portOf(http)}`, { reconnect: true }));
    const status = await firstValueFrom(peer.status$.pipe(filter(({ state }) => state === 'waiting')));
    const { delayMs } = status as { readonly delayMs: number };
    expect(delayMs).toBeGreaterThanOrEqual(least);
    expect(delayMs).toBeLessThanOrEqual(most);
  });
});
