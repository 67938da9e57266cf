import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Subject } from 'rxjs';
import { clearCodecs, connect, JsonCodec, registerCodec, settings } from '../../../src/index.js';
import type { ConnectOptions, ConnectUrl, DialContext, Peer } from '../../../src/index.js';
import { MsgpackCodec } from '../../../src/msgpack.js';
import { connectOver } from '../../../src/peer/connect.js';
import { PeerCore } from '../../../src/peer/core.js';
import { connectError } from '../../../src/peer/dial/failure.js';
import type { ConnectFacts } from '../../../src/peer/dial/failure.js';
import { MemoryLink } from '../../../src/testing/memory-link.js';
import type { SocketLike } from '../../../src/transport/transport.js';
import { ADDRESS, dialing, echoing } from '../../support/peer/dialing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Network } from '../../support/peer/network.js';
import { settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';

describe('connect', () => {
  const time = virtualPeerTime();
  collectLogs();

  describe('`connect`', () => {
    it('`connect` returns a peer at once, and dials with exactly one subprotocol', async () => {
      const network = echoing();
      const peer = dialing(network);
      expect(peer.isDialer).toBe(true);
      expect(peer.status).toEqual({ state: 'connecting', attempt: 1, last: null });
      expect(network.dials).toEqual([expect.objectContaining({ url: ADDRESS, protocol: 'mux.v1.json' })]);
      await time.advance();
      expect(await peer.opened).toBe(peer);
      expect(peer.status).toEqual({ state: 'open', reconnects: 0 });
    });

    it('`connect` accepts a URL', () => {
      const network = echoing();
      dialing(network, {}, new URL(ADDRESS));
      expect(network.last.url).toBe(ADDRESS);
    });

    it('Calls made while a peer connects leave in order, and get their ids then', async () => {
      const network = echoing();
      const peer = dialing(network);
      const sent = framesOf(peer);
      const stream = peer.open('first');
      void stream.send(1);
      const answer = peer.request('second');
      peer.notify('third');
      void stream.end();
      expect([stream.id, stream.phase, sent]).toEqual([null, 'idle', []]);
      await time.advance();
      expect(sent).toEqual([
        { type: 'open', stream: 1, payload: 'first' },
        { type: 'data', stream: 1, payload: 1 },
        { type: 'data', stream: 1, end: true },
        { type: 'open', stream: 3, end: true, payload: 'second' },
        { type: 'open', stream: 5, end: true, payload: 'third' },
      ]);
      expect([await answer, stream.id]).toEqual(['second', 1]);
    });

    it('A call made when the socket opens follows the calls that waited', async () => {
      const network = echoing();
      const peer = dialing(network);
      const sent = framesOf(peer);
      peer.status$.subscribe(({ state }) => {
        if (state === 'open') peer.notify('at the opening');
      });
      peer.notify('before');
      await time.advance();
      expect(sent.map((frame) => frame['payload'])).toEqual(['before', 'at the opening']);
    });

    it('A stream keeps its order when a hook sends on it while its open leaves', async () => {
      const network = echoing();
      const peer = dialing(network);
      const stream = peer.open('p');
      void stream.send(1);
      const sent: unknown[] = [];
      peer.onFrame((direction, frame) => {
        if (direction !== 'tx') return;
        sent.push(frame.payload);
        if (frame.type === 'open') void stream.send('from the hook');
      });
      await time.advance();
      expect(sent).toEqual(['p', 1, 'from the hook']);
    });

    it('A stream that a hook resets while its open leaves ends with a reset', async () => {
      const network = echoing();
      const peer = dialing(network);
      const stream = peer.open('p');
      void stream.send(1);
      peer.onFrame((_direction, frame) => {
        if (frame.type === 'open') stream.reset(300, 'no');
      });
      const sent = framesOf(peer);
      await time.advance();
      expect(sent.map((frame) => frame['type'])).toEqual(['open', 'data', 'reset']);
      expect([stream.cause, peer.status.state]).toEqual([expect.objectContaining({ how: 'reset', code: 300 }), 'open']);
    });

    it('A stream that ended before the connection opened sends no frame and uses no id', async () => {
      const network = echoing();
      const peer = dialing(network);
      const sent = framesOf(peer);
      peer.open('dropped').reset();
      peer.open$('left').subscribe().unsubscribe();
      const kept = peer.open('kept');
      await time.advance();
      expect([sent, kept.id]).toEqual([[{ type: 'open', stream: 1, payload: 'kept' }], 1]);
    });

    it('A deadline runs while the peer connects', async () => {
      const network = new Network();
      network.answer = 'silence';
      const peer = dialing(network);
      const outcome = settled(peer.request('p', { timeoutMs: 100 }));
      await time.advance(100);
      expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'DEADLINE_EXCEEDED', timeoutMs: 100, streamId: null }) });
    });

    it('A connecting peer queues 16 MiB of opens; one more throws a retriable QueueOverflowError', () => {
      const network = new Network();
      network.answer = 'silence';
      const peer = dialing(network);
      // With its quotes a payload takes 1 MiB.
      const payload = 'x'.repeat(1024 * 1024 - 2);
      for (let n = 0; n < 16; n++) peer.open(payload);
      for (const more of [payload, 'small'])
        expect(() => peer.open(more)).toThrow(
          expect.objectContaining({
            code: 'QUEUE_OVERFLOW',
            retriable: true,
            message: expect.stringContaining('16777216 (maxQueuedBytes)'),
          }),
        );
    });

    it('An open larger than `maxQueuedBytes` may wait alone, and 15 small ones may wait instead', () => {
      const network = new Network();
      network.answer = 'silence';
      const peer = dialing(network, { limits: { maxQueuedBytes: 1_000 } });
      const alone = peer.open('x'.repeat(2_000));
      expect(() => peer.open('y')).toThrow(
        expect.objectContaining({ code: 'QUEUE_OVERFLOW', retriable: true, message: expect.stringContaining('1000 (maxQueuedBytes)') }),
      );
      alone.subscribe({ error: () => undefined });
      alone.reset();
      for (let n = 0; n < 15; n++) peer.open('small');
      expect(() => peer.open('one too many')).toThrow(expect.objectContaining({ code: 'QUEUE_OVERFLOW', retriable: true }));
    });

    it('A waiting stream that exceeds the queue limit fails, and no other stream does', async () => {
      const network = echoing();
      const peer = dialing(network, { limits: { maxQueuedBytes: 1_000 } });
      const other = peer.open('other');
      const stream = peer.open('fed');
      const sends = [1, 2, 3].map(() => settled(stream.send('x'.repeat(600))));
      expect(await sends[2]).toEqual({ error: expect.objectContaining({ code: 'QUEUE_OVERFLOW', retriable: true }) });
      await time.advance();
      expect([stream.phase, other.id]).toEqual(['closed', 1]);
    });

    it('`send` waits while the queue is over its limit, and resolves when the socket has opened', async () => {
      const network = echoing();
      const peer = dialing(network, { limits: { maxQueuedBytes: 1_000 } });
      const stream = peer.open('p');
      const seen: string[] = [];
      void stream.send('x'.repeat(2_000)).then(() => seen.push('sent'));
      await Promise.resolve();
      expect(seen).toEqual([]);
      await time.advance();
      expect(seen).toEqual(['sent']);
    });

    it('A failed dial fails the waiting calls with a retriable error', async () => {
      const network = new Network();
      network.answer = { status: 503 };
      const peer = dialing(network);
      const outcome = settled(peer.request('p'));
      const reasons: unknown[] = [];
      peer.onClose((reason) => reasons.push(reason));
      await time.advance();
      expect(await outcome).toEqual({
        error: expect.objectContaining({
          code: 'CONNECT',
          status: 503,
          retriable: true,
          message: expect.stringContaining('HTTP 503'),
          reason: { code: 1006, reason: '', wasClean: false, willRetry: false },
        }),
      });
      expect(reasons).toEqual([{ code: 1006, reason: '', wasClean: false, willRetry: false }]);
      expect(peer.status).toMatchObject({ state: 'closed', error: { code: 'CONNECT', status: 503 } });
      await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT' });
      expect(await peer.closed).toEqual(reasons[0]);
      expect(time.isOver()).toBe(true);
    });

    it('A failed dial names possible causes when the platform reports none', async () => {
      const network = new Network();
      network.answer = { status: null };
      const peer = dialing(network);
      await time.advance();
      await expect(peer.opened).rejects.toMatchObject({
        code: 'CONNECT',
        status: null,
        message: expect.stringMatching(/codec.*origin.*prox/),
      });
    });

    it.each<[string, number, number]>([
      ['10 s by default', NaN, 10_000],
      ['connectTimeoutMs', 300, 300],
    ])('A socket that does not open within %s is abandoned', async (_what, connectTimeoutMs, ms) => {
      const network = new Network();
      network.answer = 'silence';
      const peer = dialing(network, Number.isNaN(connectTimeoutMs) ? {} : { connectTimeoutMs });
      const outcome = settled(peer.opened);
      await time.advance(ms - 1);
      expect(network.givenUp).toBe(0);
      await time.advance(1);
      expect(network.givenUp).toBe(1);
      const message = `expected a connection within ${ms} ms, got none`;
      expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'CONNECT', message }) });
      expect(time.isOver()).toBe(true);
    });

    it.each([0, Infinity, 2 ** 31])('A dial waits for ever with `connectTimeoutMs` %p', async (connectTimeoutMs) => {
      const network = new Network();
      network.answer = 'silence';
      const peer = dialing(network, { connectTimeoutMs });
      await time.advance(86_400_000);
      expect(peer.status.state).toBe('connecting');
    });

    it('A socket with another subprotocol fails with CodecMismatch and closes with 1008', async () => {
      const network = new Network();
      network.answer = { protocol: 'mux.v1.msgpack' };
      const peer = dialing(network, { reconnect: true });
      const outcome = settled(peer.request('p'));
      const closed = settled(network.last.peer.serve());
      await time.advance(1_000);
      expect(await outcome).toEqual({
        error: expect.objectContaining({ code: 'CODEC_MISMATCH', offered: 'mux.v1.json', selected: 'mux.v1.msgpack', retriable: false }),
      });
      expect(await peer.closed).toMatchObject({ code: 1008, wasClean: false, willRetry: false });
      expect(await closed).toEqual({ value: expect.objectContaining({ code: 1008, wasClean: true }) });
      expect(network.dials).toHaveLength(1);
      expect(time.isOver()).toBe(true);
    });

    it('A socket with another subprotocol that the server does not close ends after 2 s without progress', async () => {
      const network = new Network();
      network.answer = { protocol: 'mux.v1.msgpack' };
      const peer = dialing(network);
      const { socket } = network.last;
      await time.advance(1_999);
      expect([peer.status.state, socket.readyState]).toEqual(['closed', 2]);
      await time.advance(1);
      expect([socket.readyState, time.isOver()]).toEqual([3, true]);
    });

    it.each<[what: string, answeredProtocol: string | null, error: object]>([
      ['an acceptor that refuses the offer', '', { code: 'CODEC_MISMATCH', offered: 'mux.v1.json', selected: '' }],
      ['anything else', null, { code: 'CONNECT', status: 400, message: `expected ${ADDRESS} to accept the handshake, got HTTP 400` }],
    ])(
      'A handshake refused with 400 fails with an error about %s, and the peer does not dial again',
      async (_what, answeredProtocol, error) => {
        const network = new Network();
        network.answer = { status: 400 };
        const socket = (url: string, protocol: string): SocketLike =>
          Object.defineProperty(network.socket(url, protocol), 'answeredProtocol', { value: answeredProtocol });
        const peer = dialing(network, { reconnect: true, socket });
        await time.advance(1_000);
        await expect(peer.opened).rejects.toMatchObject(error);
        expect(network.dials).toHaveLength(1);
      },
    );

    it.each<[string, ConnectOptions]>([
      ['connectTimeoutMs', { connectTimeoutMs: -1 }],
      ['helloTimeoutMs', { helloTimeoutMs: NaN }],
      ['requestTimeoutMs', { requestTimeoutMs: -1 }],
      ['maxFrameBytes', { maxFrameBytes: 1 }],
      ['maxFrameBytes', { maxFrameBytes: 100.5 }],
      ['maxFrameBytes', { maxFrameBytes: 65_537 }],
      ['keepalive.idleMs', { keepalive: { idleMs: 0 } }],
      ['limits.maxStreams', { limits: { maxStreams: -1 } }],
      ['reconnect.minDelayMs', { reconnect: { minDelayMs: -1 } }],
      ['reconnect.maxDelayMs', { reconnect: { minDelayMs: 10, maxDelayMs: 5 } }],
      ['reconnect.maxAttempts', { reconnect: { maxAttempts: NaN } }],
      ['reconnect.stableMs', { reconnect: { stableMs: -1 } }],
    ])('`connect` throws a TypeError that names the option %s, before it dials', (name, options) => {
      const network = new Network();
      expect(() => dialing(network, options)).toThrow(
        expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(name) }),
      );
      expect(network.dials).toEqual([]);
    });
  });

  describe('Lazy peer', () => {
    it.each<[string, (peer: Peer) => unknown]>([
      ['open', (peer) => peer.open()],
      ['request', (peer) => void settled(peer.request())],
      [
        'notify',
        (peer) => {
          peer.notify();
        },
      ],
      ['subscription to open$', (peer) => peer.open$().subscribe({ error: () => undefined })],
    ])('A lazy peer dials on the first %s', async (_call, call) => {
      const network = echoing();
      const peer = dialing(network, { lazy: true });
      await time.advance(60_000);
      expect(network.dials).toEqual([]);
      call(peer);
      expect(network.dials).toHaveLength(1);
      call(peer);
      await time.advance();
      expect([network.dials.length, peer.status.state]).toEqual([1, 'open']);
    });

    it('A lazy peer does not dial for a call whose signal has aborted', async () => {
      const network = echoing();
      const peer = dialing(network, { lazy: true });
      expect(await settled(peer.request('p', { signal: AbortSignal.abort() }))).toEqual({
        error: expect.objectContaining({ code: 'CANCELLED' }),
      });
      await time.advance();
      expect([network.dials, peer.status.state]).toEqual([[], 'connecting']);
    });

    it('A lazy peer that is closed first never dials', async () => {
      const network = echoing();
      const peer = dialing(network, { lazy: true });
      expect(await peer.close()).toEqual({ code: 1000, reason: 'closed before it was open', wasClean: false, willRetry: false });
      expect(await settled(peer.request())).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: false }) });
      expect(network.dials).toEqual([]);
    });
  });

  describe('A dial with a slow handshake', () => {
    function slow(): { readonly peer: Peer; readonly opened$: Subject<never> } {
      const opened$ = new Subject<never>();
      const transport = new MemoryLink({ protocol: 'mux.v1.json' }).ends.dialer;
      Object.defineProperty(transport, 'opened$', { value: opened$ });
      return { peer: connectOver('ws://test', { keepalive: { idleMs: 1_000 } }, () => transport), opened$ };
    }

    it('A dial makes its session while the handshake is under way', async () => {
      const made = jest.spyOn(PeerCore.prototype, 'connectionOver');
      const { peer, opened$ } = slow();
      await time.advance();
      expect([made.mock.calls.length, peer.status.state]).toEqual([1, 'connecting']);
      opened$.complete();
      expect([made.mock.calls.length, peer.status.state]).toEqual([1, 'open']);
      made.mockRestore();
      void peer.close();
    });

    it('The time of a handshake does not count as silence of the remote', async () => {
      const { peer, opened$ } = slow();
      const sent = framesOf(peer);
      await time.advance(5_000);
      opened$.complete();
      await time.advance(999);
      expect(sent).toEqual([]);
      await time.advance(1);
      expect(sent).toEqual([{ type: 'ping', nonce: expect.any(String) }]);
      void peer.close();
    });
  });

  describe('`connect` without a WebSocket of the platform', () => {
    const had = Reflect.get(globalThis, 'WebSocket') as unknown;
    beforeEach(() => {
      Reflect.deleteProperty(globalThis, 'WebSocket');
    });
    afterEach(() => {
      if (had !== undefined) Reflect.set(globalThis, 'WebSocket', had);
    });

    it('A dial without a WebSocket of the platform fails, and names the package that has one', async () => {
      const peer = connect('ws://localhost');
      const outcome = settled(peer.opened);
      await time.advance();
      expect(await outcome).toEqual({
        error: expect.objectContaining({ code: 'CONNECT', message: expect.stringContaining('rxmux/node') }),
      });
    });

    it('A dial without a WebSocket of the platform is repeated only if `shouldRetry` decides so', async () => {
      const peer = connect('ws://localhost', { reconnect: { maxAttempts: Infinity } });
      const stubborn = connect('ws://localhost', { reconnect: { shouldRetry: () => true } });
      await time.advance();
      expect([peer.status.state, stubborn.status.state]).toEqual(['closed', 'waiting']);
      await stubborn.close();
    });
  });
});

describe('Address function', () => {
  const time = virtualPeerTime();

  const logs = collectLogs();

  it('An address function runs for each dial, and receives facts of the earlier dials', async () => {
    const network = echoing();
    const contexts: DialContext[] = [];
    const peer = dialing(network, { reconnect: { minDelayMs: 10, maxDelayMs: 10 } }, (context) => {
      contexts.push(context);
      return `${ADDRESS}?${contexts.length}`;
    });
    await time.advance();
    network.last.link.cut({ code: 1011, reason: 'crash' });
    await time.advance(20);
    expect(network.dials.map(({ url }) => url)).toEqual([`${ADDRESS}?1`, `${ADDRESS}?2`]);
    expect(contexts.map(({ attempt, reconnects, last }) => ({ attempt, reconnects, last }))).toEqual([
      { attempt: 1, reconnects: 0, last: null },
      { attempt: 2, reconnects: 1, last: { code: 1011, reason: 'crash', wasClean: false, willRetry: true } },
    ]);
    void peer.close();
    // No dial was aborted: both have opened.
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });

  it('An address function may return a promise, and the dial waits', async () => {
    const network = echoing();
    const peer = dialing(network, {}, async () => {
      await Promise.resolve();
      return new URL(ADDRESS);
    });
    expect(network.dials).toEqual([]);
    const answer = peer.request('p');
    await time.advance();
    expect([network.last.url, await answer]).toEqual([ADDRESS, 'p']);
  });

  const thrown = new Error('no token');

  it.each<[string, ConnectUrl]>([
    [
      'throws',
      () => {
        throw thrown;
      },
    ],
    ['rejects', () => Promise.reject(thrown)],
  ])('An address function that %s makes the dial fail', async (_what, url) => {
    const network = echoing();
    const peer = dialing(network, {}, url);
    await time.advance();
    const reason = { code: 1006, reason: 'no token', wasClean: false, willRetry: false };
    await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT', message: 'no token', reason, cause: thrown });
    expect(await peer.closed).toEqual(reason);
    expect(network.dials).toEqual([]);
  });

  it.each([false, true])('An address function that throws at once still reports to `onClose`, with reconnect %p', async (reconnect) => {
    const peer = dialing(echoing(), { reconnect }, () => {
      throw thrown;
    });
    const reasons: unknown[] = [];
    peer.onClose((reason) => reasons.push(['onClose', reason]));
    peer.closes$.subscribe((reason) => reasons.push(['closes$', reason]));
    expect(peer.status).toEqual({ state: 'connecting', attempt: 1, last: null });
    await time.advance();
    const reason = { code: 1006, reason: 'no token', wasClean: false, willRetry: reconnect };
    expect(reasons).toEqual([
      ['onClose', reason],
      ['closes$', reason],
    ]);
    void peer.close();
  });

  it('An address function that throws at once reports nothing when the peer is closed right after', async () => {
    const peer = dialing(echoing(), {}, () => {
      throw thrown;
    });
    const reasons: unknown[] = [];
    peer.onClose((reason) => reasons.push(reason));
    void peer.close();
    await time.advance();
    expect([reasons, peer.status.state]).toEqual([[], 'closed']);
  });

  it('An address function that failed runs again for the next dial of the reconnect helper', async () => {
    const network = echoing();
    let asked = 0;
    const peer = dialing(network, { reconnect: { minDelayMs: 10, maxDelayMs: 10 } }, () => {
      if (++asked < 3) throw thrown;
      return ADDRESS;
    });
    await time.advance(100);
    expect([asked, peer.status.state]).toEqual([3, 'open']);
  });

  it('The signal of an address function aborts on a time-out and on `close`', async () => {
    const network = echoing();
    const signals: AbortSignal[] = [];
    const never: ConnectUrl = ({ signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    dialing(network, { connectTimeoutMs: 100 }, never);
    const peer = dialing(network, {}, never);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    await time.advance(100);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    void peer.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it('An address function has one signal, which has already aborted when it is first read after the end', async () => {
    const contexts: DialContext[] = [];
    const never: ConnectUrl = (context) => {
      contexts.push(context);
      return new Promise(() => undefined);
    };
    const [asked, unasked] = [dialing(echoing(), {}, never), dialing(echoing(), {}, never)];
    const early = contexts[0]?.signal;
    await Promise.all([asked.close(), unasked.close()]);
    expect(early?.aborted).toBe(true);
    expect(contexts[0]?.signal).toBe(early);
    expect(contexts[1]?.signal.aborted).toBe(true);
  });

  it('An address function that closes the peer prevents the socket', async () => {
    const network = echoing();
    const peers: Peer[] = [];
    const peer = dialing(network, { lazy: true, reconnect: true }, () => {
      void peers[0]?.close();
      return ADDRESS;
    });
    peers.push(peer);
    const outcome = settled(peer.request('p'));
    await time.advance(60_000);
    expect(await outcome).toEqual({ error: expect.objectContaining({ retriable: true }) });
    expect([network.dials, peer.status.state]).toEqual([[], 'closed']);
    expect(time.isOver()).toBe(true);
  });

  it('A socket factory that throws makes the dial fail', async () => {
    const peer = connect(ADDRESS, {
      socket: () => {
        throw new SyntaxError('bad address');
      },
    });
    const reasons: unknown[] = [];
    peer.onClose(({ reason }) => reasons.push(reason));
    await time.advance();
    await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT', message: 'bad address' });
    expect(reasons).toEqual(['bad address']);
    expect(logs.errors).toEqual([]);
  });
});

const call = () => '';
const CALLS = { encode: call, decode: call, encodePayload: call, decodePayload: call };

describe('Codec of `connect`', () => {
  afterEach(() => {
    clearCodecs();
    registerCodec('json', new JsonCodec());
    settings.reload();
  });

  it('`connect` throws CodecNotRegistered at once, before it opens a socket', () => {
    const network = new Network();
    settings.codec = 'cbor';
    expect(() => dialing(network)).toThrow(
      expect.objectContaining({ code: 'CODEC_NOT_REGISTERED', configured: 'cbor', available: ['json'], retriable: false }),
    );
    clearCodecs();
    settings.codec = 'json';
    expect(() => dialing(network)).toThrow(expect.objectContaining({ code: 'CODEC_NOT_REGISTERED', available: [] }));
    expect(network.dials).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['a name', 'msgpack', "'msgpack'"],
    ['an object without methods', { name: 'json' }, 'an object'],
    ['a class', JsonCodec, 'a function'],
    ['a codec without a name', { ...CALLS, binary: false }, 'one without a name'],
    [
      'a codec whose methods are no functions',
      { name: 'n', binary: false, encode: 1, decode: 1, encodePayload: 1, decodePayload: 1 },
      'an object',
    ],
    ['a codec without `binary`', { ...CALLS, name: 'n' }, 'one without binary'],
  ])('`connect` throws a TypeError for %s, before it opens a socket', (_, given, got) => {
    const network = new Network();
    const codec = given as JsonCodec;
    expect(() => dialing(network, { codec })).toThrow(new TypeError(`codec: expected a codec, such as new JsonCodec(), got ${got}`));
    expect(network.dials).toEqual([]);
  });

  it.each([undefined, null])('`connect` uses the configured codec for %p', (codec) => {
    const network = new Network();
    expect(dialing(network, { codec: codec as undefined }).codec.name).toBe('json');
  });

  it('`connect` prefers an explicit codec to the configured one', () => {
    const network = new Network({ codec: new MsgpackCodec() });
    settings.codec = 'cbor';
    const codec = new MsgpackCodec();
    const peer = dialing(network, { codec });
    expect([peer.codec, network.last.protocol]).toEqual([codec, 'mux.v1.msgpack']);
  });

  it('`connect` reads the codec from the settings at every call', () => {
    const network = new Network();
    const binary = new MsgpackCodec();
    registerCodec('msgpack', binary);
    const protocols = ['json', 'msgpack', 'json'].map((name) => {
      settings.codec = name;
      dialing(network);
      return network.last.protocol;
    });
    expect(protocols).toEqual(['mux.v1.json', 'mux.v1.msgpack', 'mux.v1.json']);
  });
});

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
      'the hint of the transport',
      '',
      { address, status: 426, hint: '; is there a proxy?' },
      'expected wss://example.org:8443/mux to accept the handshake, got HTTP 426; is there a proxy?',
    ],
  ])('The error names %s', (_what, reason, facts, message) => {
    expect(connectError({ ...close, reason }, facts).message).toBe(message);
  });

  it('The error names possible causes only when the platform reports none', () => {
    expect(connectError(close, { opaque: true }).message).toMatch(
      /^the connection could not be opened \(1006\); this platform does not say why: /,
    );
    expect(connectError({ ...close, reason: 'Received network error or non-101 status code.' }, { opaque: true }).message).toMatch(
      /^the connection could not be opened \(1006 Received .+\); this platform does not say why: .+ use connect of 'rxmux\/node' in Node$/,
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
