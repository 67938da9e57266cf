import { EventEmitter } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import { serve as serveBun } from '../../src/bun.js';
import type { BunServer, BunSocket, BunSocketData } from '../../src/bun.js';
import { refuse, serve } from '../../src/crossws.js';
import type { CrosswsPeer, ServeOptions } from '../../src/crossws.js';
import { serve as serveDeno } from '../../src/deno.js';
import { serve as serveWorkerd } from '../../src/workerd.js';
import { logger } from '../../src/logger.js';
import { virtualTime } from '../../src/testing.js';
import { otherPlatform } from '../support/platform/globals.js';
import { collectLogs } from '../support/peer/logs.js';
import { FakeSocket } from '../support/socket/fake.js';

const onPlatform = otherPlatform();
const OFFER = { Upgrade: 'websocket', 'Sec-WebSocket-Protocol': 'mux.v1.json', Host: 'example.org' };
const asking = (headers: Record<string, string> = {}): Request =>
  new Request('http://example.org/mux?token=s3cret', { headers: { ...OFFER, ...headers } });

/** A socket of crossws that notes its calls. */
function fakePeer(context: object): CrosswsPeer & { readonly did: string[] } {
  const did: string[] = [];
  return {
    context,
    did,
    send: (data) => did.push(`send ${String(data)}`),
    close: (code, reason) => did.push(`close ${String(code)} ${String(reason)}`),
    terminate: () => did.push('terminate'),
  };
}

async function admitted(options: ServeOptions = {}) {
  const mux = serve(options);
  const upgrade = await mux.hooks.upgrade(asking());
  if (upgrade instanceof Response) throw new Error(`expected an upgrade, got ${upgrade.status}`);
  return { mux, peer: fakePeer(upgrade.context) };
}

describe('upgrades that are Request objects', () => {
  const logs = collectLogs();

  it.each<readonly [what: string, options: ServeOptions, headers: Record<string, string>, status: number, body: string]>([
    ['offers nothing', {}, { 'Sec-WebSocket-Protocol': '' }, 400, "in first place, got ''"],
    ['offers a subprotocol twice', {}, { 'Sec-WebSocket-Protocol': 'mux.v1.json, mux.v1.json' }, 400, 'different tokens'],
    ['offers another subprotocol twice', {}, { 'Sec-WebSocket-Protocol': 'x, x' }, 400, "expected the subprotocol 'mux.v1.json'"],
    ['offers an empty name', {}, { 'Sec-WebSocket-Protocol': 'mux.v1.json,, other' }, 400, 'different tokens'],
    ['offers an empty name first', {}, { 'Sec-WebSocket-Protocol': ', mux.v1.json' }, 400, "expected the subprotocol 'mux.v1.json'"],
    ['comes from a foreign page', {}, { Origin: 'https://evil.example' }, 403, 'this origin is not allowed'],
    ['is no upgrade', {}, { Upgrade: '' }, 426, 'expected a WebSocket upgrade'],
    ['is refused by `verify`', { verify: () => 401 }, {}, 401, 'verify refused'],
    ['is refused with headers', { verify: () => refuse(429, { 'Retry-After': '5' }, 'slow down') }, {}, 429, 'slow down'],
    ['waits for `verify` too long', { verify: () => new Promise(() => undefined), verifyTimeoutMs: 1 }, {}, 503, 'in time'],
    ['fails `addressOf`', { addressOf: () => '10.0.0.1:8080' }, {}, 500, 'could not be judged'],
    [
      'gets a promise from `addressOf`',
      { addressOf: (() => Promise.reject(new Error('no store'))) as never },
      {},
      500,
      'could not be judged',
    ],
    ['is one too many', { totalLimits: { maxConnections: 0 } }, {}, 503, 'too many connections'],
  ])('A server of requests refuses a request that %s', async (_what, options, headers, status, body) => {
    const answer = await serve(options).hooks.upgrade(asking(headers));
    expect(answer).toBeInstanceOf(Response);
    const refusal = answer as Response;
    expect(refusal.status).toBe(status);
    expect(await refusal.text()).toContain(body);
    expect(refusal.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(refusal.headers.get('x-content-type-options')).toBe('nosniff');
    expect(JSON.stringify(logs)).not.toContain('s3cret');
  });

  it('`verify` gets the address that `addressOf` returns', async () => {
    const seen: unknown[] = [];
    const verify = (_request: Request, address: string | null): boolean => seen.push(address) > 0;
    await admitted({ verify, addressOf: ({ headers }) => (headers.get('host') === null ? null : '2001:db8::1') });
    await admitted({ verify });
    expect(seen).toEqual(['2001:db8::1', null]);
  });

  it.each(['10.0.0.1:8080', '[2001:db8::1]', 'a:b', '1.2.3', '10.0.0.1.5', 'unknown', ':', '::1]:80/['])(
    'A server of requests logs that `addressOf` has returned %s, which is no address',
    async (address) => {
      await serve({ addressOf: () => address }).hooks.upgrade(asking());
      expect(jest.mocked(logger.error).mock.calls.map(([, error]) => error)).toEqual([
        new TypeError(`addressOf: expected an address without a port, or null, got '${address}'`),
      ]);
    },
  );

  it.each(['10.0.0.1', '2001:db8::1', '::1', '::', 'fe80::1%eth0', '::ffff:10.0.0.1'])(
    'A server of requests takes the address %s',
    async (address) => {
      const { peer, mux } = await admitted({ addressOf: () => address, totalLimits: { maxConnectionsPerAddress: 1 } });
      mux.hooks.open(peer);
      expect([mux.peers.size, logs.errors]).toEqual([1, []]);
    },
  );

  it('A server of requests counts each IPv4 address by itself where the runtime maps them to IPv6', async () => {
    const addresses = ['::ffff:192.0.2.1', '::ffff:192.0.2.2', '::ffff:c000:201', '192.0.2.1'];
    const mux = serve({ addressOf: () => addresses.shift() ?? null, totalLimits: { maxConnectionsPerAddress: 1 } });
    const refused: boolean[] = [];
    for (let n = 0; n < 4; n++) refused.push((await mux.hooks.upgrade(asking())) instanceof Response);
    expect(refused).toEqual([false, false, true, true]);
  });

  it('A server of requests forgets the address of a peer that has left, without limits too', async () => {
    const kept = new Set<unknown>();
    const set = jest.spyOn(Map.prototype, 'set');
    const remove = jest.spyOn(Map.prototype, 'delete');
    for (let n = 0; n < 10; n++) {
      const { mux, peer } = await admitted({ addressOf: () => `2001:db8:0:${n}::1` });
      mux.hooks.open(peer);
      const [made] = mux.peers;
      mux.hooks.close(peer, {});
      await made?.closed;
    }
    for (const [key] of set.mock.calls) if (String(key).startsWith('2001:db8:')) kept.add(key);
    for (const [key] of remove.mock.calls) kept.delete(key);
    jest.restoreAllMocks();
    expect([...kept]).toEqual([]);
  });

  it('A server of requests answers 503 if its own `addressOf` has closed it', async () => {
    const mux = serve({ addressOf: () => (void mux.close(), null) });
    expect(await mux.hooks.upgrade(asking())).toMatchObject({ status: 503 });
  });

  // Bun builds the URL from the header `Host`, which a stranger chooses.
  it.each(['http://[/mux', 'http://a:b:c/mux', 'http://%/mux', '/mux'])(
    'A server of requests judges a request whose URL is %s',
    async (url) => {
      const headers = new Headers({ ...OFFER, Origin: 'https://evil.example' });
      const mux = serve({});
      const refusals: string[] = [];
      mux.refusals$.subscribe((refusal) => refusals.push(String(refusal)));
      const answer = await mux.hooks.upgrade({ url, headers, signal: new AbortController().signal } as Request);
      expect([(answer as Response).status, refusals]).toEqual([403, ['403 /mux: this origin is not allowed']]);
    },
  );

  it('A server of requests takes the host of the URL where a request has no header `Host`, as over HTTP/2', async () => {
    const headers = { Upgrade: 'websocket', 'Sec-WebSocket-Protocol': 'mux.v1.json', Origin: 'https://example.org' };
    const judged = await serve({}).hooks.upgrade(new Request('https://example.org/mux', { headers }));
    expect(judged).not.toBeInstanceOf(Response);
  });

  // Bun, Deno and workerd have the functions of a page that report its network, though no server has a page.
  it('A server of requests listens to no events of a page', async () => {
    const listens = jest.fn();
    onPlatform({ addEventListener: listens, navigator: {} });
    const { mux, peer } = await admitted({ onPeer: () => undefined });
    mux.hooks.open(peer);
    await new Promise(setImmediate);
    mux.notify('news');
    expect(listens).not.toHaveBeenCalled();
    expect(peer.did).toHaveLength(1);
  });

  it('A socket that opens after the drain has begun is closed with 1001', async () => {
    const { mux, peer } = await admitted();
    void mux.close();
    mux.hooks.open(peer);
    expect(peer.did).toEqual(['close 1001 this side is going away']);
    expect(mux.peers.size).toBe(0);
    await mux.closed;
  });

  it('A socket that opens after the drain has begun is terminated if its remote does not close', async () => {
    const time = virtualTime();
    try {
      const { mux, peer } = await admitted();
      void mux.close();
      mux.hooks.open(peer);
      await time.advance(10_000);
      expect(peer.did).toEqual(['close 1001 this side is going away', 'terminate']);
    } finally {
      time.restore();
    }
  });

  it('A socket that opens 10 s after its admission is closed with 1001, and leaves its place once', async () => {
    const time = virtualTime();
    try {
      const { mux, peer } = await admitted({ totalLimits: { maxConnections: 2 } });
      await time.advance(10_000);
      mux.hooks.open(peer);
      await time.advance();
      expect(peer.did).toEqual(['close 1001 this side is going away']);
      mux.hooks.close(peer, {});
      await time.advance(10_000);
      expect([mux.peers.size, mux.stats().limits.maxConnections]).toEqual([0, { used: 0, max: 2 }]);
    } finally {
      time.restore();
    }
  });

  it('A peer hears a message whose socket closes in the turn in which it has opened', async () => {
    const heard: unknown[] = [];
    const { mux, peer } = await admitted({ onPeer: () => undefined, handler: (payload) => void heard.push(payload) });
    mux.hooks.open(peer);
    mux.hooks.message(peer, { rawData: '{"type":"open","stream":1,"payload":"last","end":true}', uint8Array: () => new Uint8Array() });
    const [made] = mux.peers;
    mux.hooks.close(peer, { code: 1000, reason: 'bye' });
    expect([await made?.closed, heard]).toEqual([{ code: 1000, reason: 'bye', wasClean: true, willRetry: false }, ['last']]);
  });

  it('A peer ends with its socket, and its place is free again', async () => {
    const { mux, peer } = await admitted({ totalLimits: { maxConnections: 1 } });
    mux.hooks.open(peer);
    expect(mux.stats().limits.maxConnections).toEqual({ used: 1, max: 1 });
    expect((await mux.hooks.upgrade(asking())) instanceof Response).toBe(true);
    const [made] = mux.peers;
    mux.hooks.close(peer, {});
    await made?.closed;
    expect(mux.stats().limits.maxConnections).toEqual({ used: 0, max: 1 });
    expect(mux.stats().refusals).toEqual({ 503: 1 });
  });

  // The request of srvx, which Nitro and H3 pass on, has the socket. crossws listens for no error before it is open.
  it('A dialer of crossws on Node that resets its connection while it is judged does not end the process', async () => {
    const socket = new EventEmitter();
    const judged = serve({}).hooks.upgrade(Object.assign(asking(), { runtime: { node: { req: { socket } } } }));
    socket.emit('error', new Error('read ECONNRESET'));
    expect(await judged).not.toBeInstanceOf(Response);
  });

  describe('on Deno', () => {
    async function dialed(options: ServeOptions = {}) {
      const socket = new FakeSocket('CONNECTING');
      onPlatform({ Deno: { upgradeWebSocket: () => ({ socket, response: new Response() }) } });
      const mux = serveDeno({ totalLimits: { maxConnections: 1 }, handler: () => undefined, ...options });
      await mux.fetch(asking());
      return { mux, socket };
    }

    // Deno reports neither an error nor a close of such a socket.
    it('A dialer that leaves before its socket opens is no peer, and leaves its place after 10 s', async () => {
      const time = virtualTime();
      try {
        const { mux, socket } = await dialed();
        await time.advance(9_999);
        expect([mux.peers.size, mux.stats().limits.maxConnections]).toEqual([0, { used: 1, max: 1 }]);
        await time.advance(1);
        expect(mux.stats().limits.maxConnections).toEqual({ used: 0, max: 1 });
        socket.emit('open', {}, 'OPEN');
        expect([mux.peers.size, socket.closes]).toEqual([0, [[1001, 'this side is going away']]]);
      } finally {
        time.restore();
      }
    });

    it('A peer hears the first message behind the event `open`', async () => {
      const heard: unknown[] = [];
      const { mux, socket } = await dialed({ handler: (payload) => void heard.push(payload) });
      socket.emit('open', {}, 'OPEN');
      socket.emit('message', { data: '{"type":"open","stream":1,"payload":"first","end":true}' });
      expect([mux.peers.size, heard]).toEqual([1, ['first']]);
      void mux.close();
      socket.emit('close', {}, 'CLOSED');
      await mux.closed;
    });

    it('A peer whose remote is silent leaves its place at the close of its socket', async () => {
      const time = virtualTime();
      try {
        const { mux, socket } = await dialed();
        socket.emit('open', {}, 'OPEN');
        await time.advance(60_000);
        expect([mux.peers.size, socket.closes.length, mux.stats().limits.maxConnections]).toEqual([0, 1, { used: 1, max: 1 }]);
        socket.emit('close', {}, 'CLOSED');
        expect(mux.stats().limits.maxConnections).toEqual({ used: 0, max: 1 });
      } finally {
        time.restore();
      }
    });
  });

  it('A socket that another hook has upgraded is refused by name', () => {
    const { hooks } = serve({});
    expect(() => {
      hooks.open(fakePeer({}));
    }).toThrow(new TypeError('mux.hooks: expected a peer that its hook upgrade has admitted: pass all hooks to crossws'));
  });

  it('A message that Bun drops ends its peer', async () => {
    const mux = serveBun({});
    const data: BunSocketData[] = [];
    const server: BunServer = { upgrade: (_request, options) => data.push(options.data) > 0, requestIP: () => null };
    expect(await mux.fetch(asking(), server)).toBeUndefined();
    const [own] = data;
    if (own === undefined) throw new Error('expected the data of a socket');
    const did: string[] = [];
    const ws: BunSocket = {
      data: own,
      send: () => 0,
      close: () => undefined,
      terminate: () => did.push('terminate'),
      getBufferedAmount: () => 0,
    };
    mux.websocket.open(ws);
    const [peer] = mux.peers;
    peer?.notify({ op: 'news' });
    await peer?.closed;
    expect(did).toEqual(['terminate']);
    expect(peer?.status).toMatchObject({ state: 'closed' });
  });

  it.each([
    [1_048_576, 1_048_576],
    [65_536.5, 65_536],
    [2 ** 32, 2 ** 31 - 1],
    [Infinity, 2 ** 31 - 1],
  ])('Bun gets a `maxMessageBytes` of %s as an integer that it can keep', (maxMessageBytes, kept) => {
    expect(serveBun({ limits: { maxMessageBytes } }).websocket.maxPayloadLength).toBe(kept);
  });

  it.each<readonly [call: () => unknown, says: string]>([
    [() => serveBun({ port: 1 } as ServeOptions), 'port: expected none, because Bun.serve listens: pass it mux.fetch and mux.websocket'],
    [() => serveDeno({ path: '/' } as ServeOptions), 'path: expected none, because Deno.serve listens: pass it mux.fetch'],
    [() => serve({ server: {} } as ServeOptions), 'server: expected none, because crossws listens: pass it mux.hooks'],
    [() => serveWorkerd({ host: '' } as ServeOptions), 'host: expected none, because the runtime listens: call mux.fetch'],
    [
      () => serveBun({ trustProxy: 1 } as ServeOptions),
      'trustProxy: expected none, because this runtime has addressOf in its place, got 1',
    ],
    [() => serveBun({ healthPath: '/healthz' } as ServeOptions), 'healthPath: expected none, because Bun.serve listens'],
    [() => serveDeno({ listenWhileDraining: true } as ServeOptions), 'listenWhileDraining: expected none, because Deno.serve listens'],
    [() => serve({ perMessageDeflate: true } as ServeOptions), 'perMessageDeflate: expected none, because crossws listens'],
    [() => serve({ addressOf: 1 as never }), 'addressOf: expected a function, got 1'],
    [() => refuse(200), 'status: expected an integer from 400 to 599, got 200'],
    [() => refuse(429, { Connection: 'close' }), 'headers: expected none that frames the answer, got connection'],
  ])('A bad option gets an error that says what to do: %#', (call, says) => {
    expect(call).toThrow(TypeError);
    expect(call).toThrow(says);
  });

  it('The hook `error` of crossws ends its peer, whose close names the error', async () => {
    const { mux, peer: socket } = await admitted();
    mux.hooks.open(socket);
    const [peer] = mux.peers;
    mux.hooks.error(socket, new Error('ECONNRESET'));
    expect(socket.did).toEqual(['terminate']);
    expect(await peer?.closed).toMatchObject({ code: 1006, reason: 'the socket has failed: ECONNRESET' });
  });

  it('Outside their runtimes the doors say what is missing', async () => {
    await expect(serveDeno({}).fetch(asking())).rejects.toThrow('Deno: expected a runtime with Deno.upgradeWebSocket');
    await expect(serveWorkerd({}).fetch(asking())).rejects.toThrow('WebSocketPair: expected a runtime that has it');
    await expect(serveBun({}).fetch(asking(), undefined as never)).rejects.toThrow("server: expected Bun's server");
  });
});
