import { describe, expect, it } from '@jest/globals';
import { Peer } from '../../../src/index.js';
import type { CloseReason } from '../../../src/index.js';
import { GivenSocket } from '../../../src/peer/dial/given-socket.js';
import { acceptorCore } from '../../../src/peer/hello.js';
import { DEFAULT_HELLO_LIMITS } from '../../../src/peer/hello.js';
import { resolveOptions } from '../../../src/peer/options.js';
import { PeerCore } from '../../../src/peer/core.js';
import { MemorySocket } from '../../../src/testing/memory-socket.js';
import { MemoryLink } from '../../../src/testing/memory-link.js';
import { ConnectError } from '../../../src/wire/errors.js';
import { framesOf } from '../../support/peer/frames.js';
import { settled } from '../../support/peer/outcome.js';
import { collectLogs } from '../../support/peer/logs.js';
import { stays } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { FakeSocket } from '../../support/socket/fake.js';

const time = virtualPeerTime();
const logs = collectLogs();

const CLEAN: CloseReason = { code: 1000, reason: '', wasClean: true, willRetry: false };

describe('`new Peer(socket)`', () => {
  function given() {
    const line = new MemoryLink({ protocol: 'mux.v1.json' });
    const remote = new Peer(new MemorySocket(line.ends.acceptor, null), { isDialer: false, keepalive: false });
    remote.onStream((payload, stream) => stream.reply(payload));
    void remote.serve();
    const socket = new MemorySocket(line.ends.dialer, null);
    const peer = new Peer(socket, { isDialer: true, keepalive: false });
    return { line, socket, peer, remote };
  }

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['dialer', "'dialer'"],
  ])('Peer throws a TypeError for `isDialer` %p', (isDialer, got) => {
    const socket = new MemorySocket(new MemoryLink({ protocol: 'mux.v1.json' }).ends.dialer, null);
    const options = { isDialer } as unknown as { readonly isDialer: boolean };
    expect(() => new Peer(socket, options)).toThrow(new TypeError(`isDialer: expected a boolean, got ${got}`));
  });

  it('Peer reads nothing before `serve`, and keeps early messages until then', async () => {
    const { peer, remote } = given();
    await time.advance();
    remote.notify('early');
    await time.advance();
    const got: unknown[] = [];
    expect(peer.status.state).toBe('connecting');
    const closed = peer.serve((payload) => {
      got.push(payload);
    });
    await time.advance();
    expect([got, peer.status.state]).toEqual([['early'], 'open']);
    void peer.close();
    await time.advance();
    expect(await closed).toEqual(CLEAN);
  });

  it('Peer over a closing socket is never open, and ends with the socket', async () => {
    const socket = new FakeSocket('CLOSING');
    const peer = new Peer(socket, { isDialer: true, keepalive: false });
    void peer.serve();
    const opened = settled(peer.opened);
    await time.advance();
    expect(peer.status.state).toBe('connecting');
    socket.emit('close', { code: 1001, reason: 'gone', wasClean: true }, 'CLOSED');
    await time.advance();
    expect(peer.status.state).toBe('closed');
    expect(await opened).toEqual({ error: expect.objectContaining({ code: 'CONNECT' }) });
  });

  it('Peer keeps its calls until `serve`', async () => {
    const { peer } = given();
    const answer = peer.request('p');
    await time.advance();
    void peer.serve();
    void peer.serve();
    await time.advance();
    expect(await answer).toBe('p');
  });

  it('Peer accepts its handler as an option', async () => {
    const line = new MemoryLink({ protocol: 'mux.v1.json' });
    const [peer, remote] = ([true, false] as const).map(
      (isDialer) =>
        new Peer(new MemorySocket(isDialer ? line.ends.dialer : line.ends.acceptor, null), {
          isDialer,
          keepalive: false,
          onStream: (_, stream) => stream.reply(isDialer),
        }),
    );
    void peer?.serve();
    void remote?.serve();
    const answers = Promise.all([peer?.request(), remote?.request()]);
    await time.advance();
    expect(await answers).toEqual([false, true]);
    expect([peer?.isDialer, remote?.isDialer]).toEqual([true, false]);
  });

  it('Peer that is closed before `serve` ends its open socket cleanly, after earlier calls', async () => {
    const { peer, remote } = given();
    const got: unknown[] = [];
    await time.advance();
    remote.streams$.subscribe((stream) => got.push(stream.payload));
    peer.notify('bye');
    const closed = peer.close();
    await time.advance();
    expect([await closed, got, await remote.closed]).toEqual([CLEAN, ['bye'], CLEAN]);
    expect(time.isOver()).toBe(true);
  });

  it('Peer that is closed before its socket opens ends the socket, and fails waiting calls with a retriable error', async () => {
    const { peer, socket } = given();
    const outcome = settled(peer.request('p'));
    const closed = await peer.close();
    expect(closed).toEqual({ code: 1000, reason: 'closed before it was open', wasClean: false, willRetry: false });
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'CONNECTION_LOST', retriable: true }) });
    expect(socket.readyState).toBe(3);
    await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    void peer.serve();
    await time.advance(10_000);
    expect(peer.status.state).toBe('closed');
    expect(time.isOver()).toBe(true);
  });

  it('Peer over a socket that ends before it opens is closed with a ConnectError', async () => {
    const { peer, socket } = given();
    const reasons: unknown[] = [];
    peer.onClose((reason) => reasons.push(reason));
    void peer.serve();
    socket.terminate();
    await time.advance();
    await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT' });
    expect(reasons).toEqual([expect.objectContaining({ code: 1006, willRetry: false })]);
  });

  /** A peer over a socket of another subprotocol, one second after the peer has closed its side. */
  async function turnedAway() {
    const line = new MemoryLink({ protocol: 'mux.v1.msgpack' });
    const socket = new MemorySocket(line.ends.dialer, null);
    const peer = new Peer(socket, { isDialer: true });
    void peer.serve();
    await time.advance(1_000);
    return { line, socket, peer };
  }

  it('Peer ends a socket of another subprotocol that the remote does not close after 2 s without progress', async () => {
    const { line, socket, peer } = await turnedAway();
    line.ends.acceptor.send('still here');
    await time.advance(1_999);
    expect([peer.status.state, socket.readyState]).toEqual(['connecting', 2]);
    await time.advance(1);
    await expect(peer.opened).rejects.toMatchObject({ code: 'CODEC_MISMATCH', selected: 'mux.v1.msgpack' });
    expect(await peer.closed).toEqual({ code: 1006, reason: 'closing made no progress', wasClean: false, willRetry: false });
    expect([socket.readyState, time.isOver()]).toEqual([3, true]);
  });

  it('Peer that is closed ends a closing socket of another subprotocol at once', async () => {
    const { socket, peer } = await turnedAway();
    void peer.close();
    expect([peer.status, socket.readyState]).toEqual([expect.objectContaining({ state: 'closed', error: null }), 3]);
    await time.advance();
    expect(time.isOver()).toBe(true);
  });

  it('Peer refuses calls once its socket has ended, because no other socket follows', async () => {
    const { peer, line } = given();
    void peer.serve();
    await time.advance();
    line.cut();
    await time.advance();
    expect(await settled(peer.request())).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: true }) });
    peer.reconnectNow();
    expect(peer.status.state).toBe('closed');
  });
});

describe('Peer over a given socket without free stream ids', () => {
  /** A peer that may open one more stream. */
  async function withLastId(): Promise<Peer> {
    const { ends } = new MemoryLink({ protocol: 'mux.v1.json' });
    const options = { ...resolveOptions({ keepalive: false }, true), firstId: Number.MAX_SAFE_INTEGER };
    const core = new PeerCore(options);
    const peer = new Peer(core, new GivenSocket(core, ends.dialer));
    const remote = new Peer(new MemorySocket(ends.acceptor, null), { isDialer: false, keepalive: false });
    remote.onStream(stays);
    for (const side of [remote, peer]) void side.serve();
    await time.advance();
    return peer;
  }

  it('`open` throws StreamIdsExhaustedError and sends nothing when a given socket has no free id', async () => {
    const peer = await withLastId();
    expect(peer.open('last').id).toBe(Number.MAX_SAFE_INTEGER);
    const sent = framesOf(peer);
    expect(() => peer.open('one more')).toThrow(expect.objectContaining({ code: 'IDS_EXHAUSTED', retriable: false }));
    expect([sent, await settled(peer.request('another'))]).toMatchObject([[], { error: { code: 'IDS_EXHAUSTED' } }]);
  });

  it('A notification that waited for another is dropped with a warning when a given socket has no free id', async () => {
    const peer = await withLastId();
    peer.notify('x'.repeat(300_000));
    peer.notify('one more');
    await time.advance(100);
    expect(logs.warnings).toEqual(['rxmux: 1 notify() never left: this connection has used all stream ids']);
    expect(peer.bufferedAmount).toBe(0);
  });
});

describe('Peer that awaits its socket', () => {
  function promised() {
    const core = new PeerCore(resolveOptions({ keepalive: false }, false));
    const source = new GivenSocket(core);
    const peer = new Peer(core, source);
    void peer.serve();
    return { source, peer, line: new MemoryLink({ protocol: 'mux.v1.json' }) };
  }

  it('Peer does not open a socket that arrives before `serve`', async () => {
    const core = new PeerCore(resolveOptions({ keepalive: false }, false));
    const source = new GivenSocket(core);
    const peer = new Peer(core, source);
    source.give(new MemoryLink({ protocol: 'mux.v1.json' }).ends.acceptor);
    await time.advance(1_000);
    const before = peer.status.state;
    void peer.serve();
    await time.advance();
    expect([before, peer.status.state]).toEqual(['connecting', 'open']);
  });

  it('Peer accepts an awaited socket without a subprotocol', async () => {
    const { source, peer } = promised();
    source.give(new MemoryLink({ protocol: '' }).ends.acceptor);
    await time.advance();
    expect(peer.status.state).toBe('open');
  });

  it('A closed peer reports nothing when its awaited socket fails', async () => {
    const { source, peer } = promised();
    const reasons: unknown[] = [];
    peer.onClose((reason) => reasons.push(reason));
    await peer.close();
    source.fail(new ConnectError('HTTP 401', { status: 401 }));
    await time.advance();
    expect([reasons, peer.status]).toEqual([[], expect.objectContaining({ error: null })]);
  });

  it('A closed peer ends an awaited socket that arrives', async () => {
    const { source, peer, line } = promised();
    void peer.close();
    source.give(line.ends.acceptor);
    expect([line.ends.acceptor.closed, peer.status.state]).toEqual([expect.objectContaining({ code: 1006 }), 'closed']);
    await time.advance();
  });

  it('Peer is closed with the ConnectError of its awaited socket', async () => {
    const { source, peer } = promised();
    const reasons: unknown[] = [];
    peer.onClose((reason) => reasons.push(reason));
    source.fail(new ConnectError('HTTP 401', { status: 401 }));
    await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT', status: 401 });
    expect(reasons).toEqual([{ code: 1006, reason: 'HTTP 401', wasClean: false, willRetry: false }]);
  });
});

describe('Peer that awaits a socket and a hello', () => {
  it('The time-out of a hello starts when the awaited socket arrives', async () => {
    const line = new MemoryLink({ protocol: 'mux.v1.json' });
    const hello = { handler: () => undefined, timeoutMs: 300, limits: DEFAULT_HELLO_LIMITS };
    const core = acceptorCore({ ...resolveOptions({ keepalive: false }, false), hello });
    const source = new GivenSocket(core);
    const peer = new Peer(core, source);
    const sent = framesOf(peer);
    void peer.serve();
    await time.advance(400);
    source.give(line.ends.acceptor);
    await time.advance(299);
    expect([peer.status.state, sent]).toEqual(['open', []]);
    await time.advance(1);
    expect(sent).toEqual([{ type: 'goaway', code: 7, last_stream: 0, reason: 'the hello was refused' }]);
  });
});
