import { describe, expect, it } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { answering, client, contract, request } from '../../src/contract.js';
import { Peer } from '../../src/index.js';
import type { ConnectOptions, StreamHandler } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import type { AcceptOptions } from '../../src/node.js';
import { dialing, echo, greeted, watched, welcome } from '../support/peer/dialing.js';
import { framesOf } from '../support/peer/frames.js';
import type { Envelope } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { Network } from '../support/peer/network.js';
import type { NetworkOptions } from '../support/peer/network.js';
import { settled } from '../support/peer/outcome.js';
import { virtualPeerTime } from '../support/peer/time.js';

const EXPECTS = 'this server expects a hello: pass connect() a hello';
const api = contract({ me: request<void, { name: string }>() });

const broken: StreamHandler = (payload) => {
  const { token } = payload as { token: string };
  return void token.startsWith('x');
};

describe('Mark of a hello', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  /** The frames of an acceptor after one open of a dialer without the library. */
  async function answersTo(open: Envelope, server: NetworkOptions) {
    const { network } = greeted({}, server);
    const { link, peer } = network.last;
    const sent = framesOf(peer);
    await time.advance();
    link.inject('acceptor', JSON.stringify({ type: 'open', stream: 1, end: true, ...open }));
    await time.advance(10);
    return { sent, peer };
  }

  it('A contract call without a hello is refused, and the error names the missing hello', async () => {
    const seen: unknown[] = [];
    const { peer, reasons } = greeted({ reconnect: true }, { onHello: (payload, stream) => (seen.push(payload), stream.reply('welcome')) });
    const outcome = settled(client(peer, api).me.promise());
    await time.advance(60_000);
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'RESET', resetCode: 1, reason: EXPECTS, retriable: false }) });
    expect([seen, peer.status.state]).toEqual([[], 'closed']);
    expect(reasons).toEqual([expect.objectContaining({ code: 1002, reason: EXPECTS, willRetry: false })]);
    expect(logs.warnings).toContainEqual(expect.stringContaining(`refused a stream with PROTOCOL_ERROR: ${EXPECTS}`));
  });

  it.each<[string, unknown, StreamHandler]>([
    ['that is accepted', { op: 'me' }, (_, stream) => stream.reply({ welcome: true })],
    ['without a payload that is accepted', undefined, (_, stream) => stream.reply({ welcome: true })],
    ['that is accepted by several frames', { op: 'me' }, (_, stream) => stream.sendAll(['welcome', 'again'])],
    ['that is refused', { op: 'me' }, () => Promise.reject(new Error('no token'))],
    ['on which the handler throws', { op: 'me' }, broken],
  ])('A request without a hello never gets the outcome of a hello %s', async (_what, payload, onHello) => {
    const { peer } = greeted({}, { onHello, onStream: echo });
    const outcome = settled(peer.request(payload));
    await time.advance(100);
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'RESET', resetCode: 1, reason: EXPECTS }) });
    void peer.close();
    await time.advance(3_000);
  });

  it('A call without a hello that `onHello` refuses ends the connection with a reason that names the missing hello', async () => {
    const { sent } = await answersTo({ payload: { op: 'me' } }, { onHello: () => Promise.reject(new Error('no token')) });
    expect(sent).toEqual([
      { type: 'data', stream: 1, headers: { 'mux.hello': true } },
      expect.objectContaining({ type: 'reset', code: 16, reason: 'no token' }),
      expect.objectContaining({
        type: 'goaway',
        code: 7,
        reason: 'the hello was refused; it was not marked as one, so the client may lack the option hello',
      }),
    ]);
  });

  it('An older dialer sends no mark: its hello is accepted, and the reply has the mark', async () => {
    const { sent, peer } = await answersTo({ payload: 'me' }, { onHello: welcome });
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true, headers: { 'mux.hello': true }, payload: 'welcome me' }]);
    expect(peer.status.state).toBe('open');
  });

  it('An older acceptor answers a marked hello as any stream', async () => {
    const { network, peer } = greeted({ hello: () => ({ payload: 'me' }) }, { onHello: () => new Promise(() => undefined) });
    await time.advance();
    network.last.link.inject('dialer', JSON.stringify({ type: 'data', stream: 1, end: true, payload: 'welcome' }));
    await time.advance(10);
    expect(peer.status.state).toBe('open');
  });

  it('A hello whose reply has the headers of the hello is accepted', async () => {
    const { network, peer } = greeted({ hello: () => ({ payload: 'me', headers: { trace: 'a7' } }) });
    network.last.peer.interceptReplyHeaders((headers, stream) => {
      Object.assign(headers, stream.headers);
    });
    await time.advance();
    expect(peer.status.state).toBe('open');
  });

  it('A server without `onHello` refuses a hello, and its handler never sees the hello', async () => {
    const seen: unknown[] = [];
    const { peer } = greeted({ hello: () => ({ payload: { token: 't' } }) }, { onStream: (payload) => void seen.push(payload) });
    const outcome = settled(peer.opened);
    await time.advance(3_000);
    const reason = 'this server expects no hello: set its onHello, or pass connect() no hello';
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'REFUSED', reason }) });
    expect([seen, peer.status.state]).toEqual([[], 'closed']);
  });

  it('A header of the same name on an ordinary stream of the acceptor reaches the dialer', async () => {
    const { network, peer } = watched(new Network({ onStream: echo }));
    const seen: unknown[] = [];
    peer.onStream((_, stream) => (seen.push(stream.headers), stream.reply()));
    await time.advance();
    const answer = network.last.peer.request('x', { headers: { 'mux.hello': true } });
    await time.advance();
    expect([seen, await answer]).toEqual([[{ 'mux.hello': true }], null]);
  });

  it('The log names the hello handler that has thrown, and shows it once a minute', async () => {
    // The log bounds errors by their place, so this row has a place of its own.
    const onHello: StreamHandler = (payload) => (payload as { token: string }).token.length;
    const network = new Network({ onHello });
    for (let nth = 0; nth < 3; nth++) {
      dialing(network, { hello: () => ({ payload: {} }) });
      await time.advance(3_000);
    }
    expect(network.dials).toHaveLength(3);
    expect(logs.errors).toEqual([expect.stringMatching(/^rxmux: peer \d+, stream 1: the hello handler onHello failed/)]);
  });
});

describe('Hello over real sockets with the defaults', () => {
  const logs = collectLogs();

  async function outcomeOf(server: AcceptOptions, options: ConnectOptions): Promise<unknown> {
    const mux = serve({ port: 0, ...server });
    const { port } = (await mux.listening) as { port: number };
    const peer = connect(`ws://127.0.0.1:${port}`, options);
    try {
      return await settled(client(peer, api).me.promise());
    } finally {
      await Promise.all([peer.close(), mux.close()]);
    }
  }

  const answers = answering(api, { me: () => ({ name: 'ann' }) });

  it('The error of a client without `hello` says that the server expects one', async () => {
    const outcome = await outcomeOf({ onHello: (_, stream) => stream.reply({ welcome: true }), ...answers }, {});
    expect(outcome).toEqual({ error: expect.objectContaining({ code: 'RESET', message: expect.stringContaining(EXPECTS) }) });
    expect(logs.errors).toEqual([]);
  });

  it('The error of a client with `hello` says that the server has no `onHello`', async () => {
    const outcome = await outcomeOf({ ...answers }, { hello: () => ({ payload: 'me' }) });
    const message = expect.stringMatching(/^the hello has failed: stream 1: refused: this server expects no hello/);
    expect(outcome).toEqual({ error: expect.objectContaining({ code: 'CONNECT', message }) });
  });

  it('The handler of a `new Peer` over a socket of a program never sees a hello', async () => {
    const seen: unknown[] = [];
    const sockets = new WebSocketServer({ port: 0 });
    sockets.on('connection', (socket) => {
      const peer = new Peer(socket, { isDialer: false, onStream: (payload, stream) => (seen.push(payload), stream.reply()) });
      void peer.serve();
    });
    const { port } = sockets.address() as { port: number };
    const peer = connect(`ws://127.0.0.1:${port}`, { hello: () => ({ payload: 'token' }) });
    expect(await settled(peer.opened)).toEqual({ error: expect.objectContaining({ code: 'REFUSED', resetCode: 7 }) });
    const other = connect(`ws://127.0.0.1:${port}`);
    await other.request('me');
    await other.close();
    sockets.close();
    expect(seen).toEqual(['me']);
  });

  it('A client with `hello` calls a server with `onHello`', async () => {
    const outcome = await outcomeOf({ onHello: welcome, ...answers }, { hello: () => ({ payload: 'me' }) });
    expect(outcome).toEqual({ value: { name: 'ann' } });
  });
});
