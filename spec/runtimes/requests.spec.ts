import { describe, expect, it } from '@jest/globals';
import { serve as serveBun } from '../../src/bun.js';
import type { BunServer, BunSocket, BunSocketData } from '../../src/bun.js';
import { refuse, serve } from '../../src/crossws.js';
import type { CrosswsPeer, ServeOptions } from '../../src/crossws.js';
import { serve as serveDeno } from '../../src/deno.js';
import { serve as serveWorkerd } from '../../src/workerd.js';
import { collectLogs } from '../support/peer/logs.js';

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
    ['offers an empty name', {}, { 'Sec-WebSocket-Protocol': 'mux.v1.json,, other' }, 400, 'different tokens'],
    ['comes from a foreign page', {}, { Origin: 'https://evil.example' }, 403, 'this origin is not allowed'],
    ['is no upgrade', {}, { Upgrade: '' }, 426, 'expected a WebSocket upgrade'],
    ['is refused by `verify`', { verify: () => 401 }, {}, 401, 'verify refused'],
    ['is refused with headers', { verify: () => refuse(429, { 'Retry-After': '5' }, 'slow down') }, {}, 429, 'slow down'],
    ['waits for `verify` too long', { verify: () => new Promise(() => undefined), verifyTimeoutMs: 1 }, {}, 503, 'in time'],
    ['fails `addressOf`', { addressOf: () => '10.0.0.1:8080' }, {}, 500, 'could not be judged'],
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

  it('A socket that opens after the drain has begun is closed with 1001', async () => {
    const { mux, peer } = await admitted();
    void mux.close();
    mux.hooks.open(peer);
    expect(peer.did).toEqual(['close 1001 this side is going away']);
    expect(mux.peers.size).toBe(0);
    await mux.closed;
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

  it.each<readonly [call: () => unknown, says: string]>([
    [() => serveBun({ port: 1 } as ServeOptions), 'port: expected none, because Bun.serve listens: pass it mux.fetch and mux.websocket'],
    [() => serveDeno({ path: '/' } as ServeOptions), 'path: expected none, because Deno.serve listens: pass it mux.fetch'],
    [() => serve({ server: {} } as ServeOptions), 'server: expected none, because crossws listens: pass it mux.hooks'],
    [() => serveWorkerd({ host: '' } as ServeOptions), 'host: expected none, because the runtime listens: call mux.fetch'],
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
