import { describe, expect, it } from '@jest/globals';
import { concatMap, firstValueFrom, from, interval, lastValueFrom, range, take, toArray } from 'rxjs';
import { connect, Peer, ResetCode, respond } from '../../src/index.js';
import type { CloseOptions, CloseReason, StreamHandler } from '../../src/index.js';
import { accept } from '../../src/node.js';
import { createPair } from '../../src/testing.js';
import { CODECS } from '../support/codec/shipped.js';
import { ADDRESS, dialing, echo, holding } from '../support/peer/dialing.js';
import { endless } from '../support/peer/endless.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { progressOf, settled } from '../support/peer/outcome.js';
import { pair } from '../support/peer/pairs.js';
import { stays } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { CountedCode, PLACES } from '../support/peer/user-code.js';
import type { UserPlace } from '../support/peer/user-code.js';
import { synchronousSockets } from '../support/socket/synchronous.js';

describe('close()', () => {
  const time = virtualPeerTime();

  const logs = collectLogs();

  const CLEAN: CloseReason = { code: 1000, reason: '', wasClean: true, willRetry: false };

  it('`close` returns the promise of `closed`', async () => {
    const { dialer } = pair();
    expect(dialer.close()).toBe(dialer.closed);
    await time.advance();
    expect(await dialer.closed).toEqual(CLEAN);
  });

  it('`close` delivers everything accepted before it', async () => {
    const got: unknown[] = [];
    const { dialer } = pair((payload) => got.push(payload));
    dialer.notify('x');
    void dialer.close();
    await time.advance();
    expect(got).toEqual(['x']);
  });

  it('`close` writes everything queued first, even when the socket is full', async () => {
    const got: unknown[] = [];
    const { dialer, link } = pair((payload) => got.push((payload as string).length));
    link.stall('acceptor');
    for (let n = 0; n < 4; n++) dialer.notify('x'.repeat(900_000));
    void dialer.close();
    await time.advance(500);
    link.resume('acceptor');
    await time.advance(1_000);
    expect(got).toEqual([900_000, 900_000, 900_000, 900_000]);
    expect(await dialer.closed).toEqual(CLEAN);
  });

  it('`close` refuses new streams: calls of this side fail, and the remote gets REFUSED', async () => {
    const { dialer, acceptor } = pair();
    dialer.onStream(stays);
    const live = dialer.open('live');
    await time.advance();
    void dialer.close({ drainMs: 1_000 });
    expect(await settled(dialer.request('new'))).toEqual({
      error: expect.objectContaining({ code: 'REFUSED', resetCode: null, retriable: false, streamId: null }),
    });
    // The goaway has not reached the remote yet.
    const push = settled(acceptor.request('push'));
    await time.advance();
    expect(await push).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: true }) });
    expect([live.phase, acceptor.status]).toEqual(['open', { state: 'draining', by: 'remote' }]);
  });

  it.each<[string, object, string]>([
    ['code', { code: '8' }, "close: expected an integer for a code, got '8'"],
    ['reason', { reason: new Error('why') }, 'close: expected a string for a reason, got object'],
  ])('`close` refuses a %s of the wrong type and closes nothing', async (_what, options, message) => {
    const { dialer } = createPair();
    await time.advance();
    expect(() => dialer.close(options)).toThrow(new TypeError(message));
    expect(dialer.status.state).toBe('open');
  });

  it('`close` waits up to `drainMs` for live streams, and stops waiting when the last one ends', async () => {
    const { dialer, streams } = pair();
    const stream = dialer.open('p', { end: true });
    stream.subscribe();
    await time.advance();
    void dialer.close({ drainMs: 10_000 });
    await time.advance(5_000);
    expect(dialer.status.state).toBe('draining');
    void streams[0]?.reply('in time');
    await time.advance();
    expect([stream.cause, dialer.status.state]).toEqual([{ how: 'ended' }, 'closed']);
    expect(time.isOver()).toBe(true);
  });

  it('`close` resets the streams left after `drainMs` with CANCEL, and their consumers see CancelledError', async () => {
    const { dialer, sent } = pair();
    const errors: unknown[] = [];
    dialer.open('p').subscribe({ error: (error: unknown) => errors.push(error) });
    await time.advance();
    void dialer.close({ drainMs: 1_000 });
    await time.advance(999);
    expect(errors).toEqual([]);
    await time.advance(1);
    expect(errors).toEqual([expect.objectContaining({ code: 'CANCELLED', streamId: 1, retriable: false })]);
    expect(sent.slice(1)).toEqual([
      { type: 'goaway', code: 0, last_stream: 0 },
      { type: 'reset', stream: 1, code: 8, reason: 'the connection is closing' },
    ]);
    await time.advance();
    expect(await dialer.closed).toEqual(CLEAN);
  });

  it('The goaway of `close` names the highest stream whose handler was invoked, or 0', async () => {
    const { dialer, acceptor } = pair();
    const sent = framesOf(acceptor);
    dialer.open('one');
    dialer.open('two');
    await time.advance();
    void acceptor.close({ drainMs: 100 });
    expect(sent).toEqual([{ type: 'goaway', code: 0, last_stream: 3 }]);
    const other = pair();
    const none = framesOf(other.acceptor);
    void other.acceptor.close();
    expect(none).toEqual([{ type: 'goaway', code: 0, last_stream: 0 }]);
  });

  it('A second `close` sends no second goaway', async () => {
    const { dialer, sent } = pair();
    dialer.open('p');
    await time.advance();
    void dialer.close({ drainMs: 1_000 });
    void dialer.close({ drainMs: 1_000 });
    await time.advance(2_000);
    void dialer.close();
    expect(sent.filter((frame) => frame['type'] === 'goaway')).toHaveLength(1);
    expect(dialer.status.state).toBe('closed');
  });

  it.each<[unknown, string]>([
    [null, 'close: expected { drainMs, code, reason }, got null'],
    [5, 'close: expected { drainMs, code, reason }, got 5'],
    [{ drainMs: -1 }, 'drainMs: expected a number of at least 0, got -1'],
  ])('`close` refuses %p as options, and the peer stays open', (options, message) => {
    const { dialer } = pair();
    expect(() => dialer.close(options as CloseOptions)).toThrow(new TypeError(message));
    expect(dialer.status.state).toBe('open');
  });

  it.each<[string, number, number, number]>([
    ['shortens', 10_000, 500, 500],
    ['does not lengthen', 500, 10_000, 500],
  ])('A second `close` %s the drain', async (_what, first, second, ms) => {
    const { dialer } = pair();
    dialer.open('p').subscribe({ error: () => undefined });
    await time.advance();
    void dialer.close({ drainMs: first });
    void dialer.close({ drainMs: second });
    await time.advance(ms - 1);
    expect(dialer.status.state).toBe('draining');
    await time.advance(1);
    expect(dialer.status.state).toBe('closed');
  });

  it('`close` with `drainMs` Infinity waits until a second call', async () => {
    const { dialer } = pair();
    dialer.open('p').subscribe({ error: () => undefined });
    await time.advance();
    void dialer.close({ drainMs: Infinity });
    await time.advance(86_400_000);
    expect(dialer.status.state).toBe('draining');
    void dialer.close();
    await time.advance();
    expect(dialer.status.state).toBe('closed');
  });

  it.each([-1, NaN, '1' as unknown as number])('`close` throws a TypeError for `drainMs` %p and closes nothing', async (drainMs) => {
    const { dialer, sent } = pair();
    expect(() => dialer.close({ drainMs })).toThrow(TypeError);
    await time.advance();
    expect([sent, dialer.status.state]).toEqual([[], 'open']);
  });

  it('`close` terminates a socket that moves no bytes for 2 s', async () => {
    const { dialer, link } = pair();
    await time.advance();
    link.stall('acceptor');
    void dialer.close();
    await time.advance(1_900);
    expect(dialer.status.state).toBe('draining');
    await time.advance(200);
    expect(await dialer.closed).toMatchObject({ code: 1006, wasClean: false });
    expect(time.isOver()).toBe(true);
  });

  it('A stream rejects a `send` after `close` as cancelled', async () => {
    const { dialer } = pair();
    const stream = dialer.open('p');
    stream.subscribe({ error: () => undefined });
    await time.advance();
    void dialer.close();
    await expect(stream.send('late')).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(logs.warnings).toEqual([]);
  });

  it.each(<const>[
    ['this side', 'dialer', 'CANCELLED', 'stream 3: the peer is closing'],
    ['the remote', 'acceptor', 'PROTOCOL', 'stream 3: expected nothing to be sent after the end'],
  ])('A stream rejects a `send` after its end and says why, while %s drains', async (_who, side, code, message) => {
    const { dialer, acceptor } = pair();
    dialer.open('live');
    const stream = dialer.open('p', { end: true });
    await time.advance();
    void { dialer, acceptor }[side].close({ drainMs: 1_000 });
    await time.advance();
    expect([dialer.status.state, acceptor.status.state]).toEqual(['draining', 'draining']);
    await expect(stream.send('late')).rejects.toMatchObject({ code, message, ...(code === 'CANCELLED' ? { streamId: 3 } : {}) });
  });

  it('Both sides end cleanly when both call `close` at once', async () => {
    const { dialer, acceptor } = pair();
    await time.advance();
    void dialer.close();
    void acceptor.close();
    await time.advance(5_000);
    expect([await dialer.closed, await acceptor.closed]).toEqual([CLEAN, CLEAN]);
    expect(time.isOver()).toBe(true);
  });

  /** Both sides call each other. The code in the given place closes the acceptor. */
  async function closeFromWithin({ hang }: UserPlace) {
    const { dialer, acceptor, link } = createPair();
    for (const peer of [dialer, acceptor]) peer.onStream((_, stream) => stream.reply());
    const code = new CountedCode(() => void acceptor.close());
    hang(acceptor, code.run);
    await time.advance();
    void settled(acceptor.request('push'));
    const stream = dialer.open('p', { headers: { a: 1 } });
    stream.subscribe({ error: () => undefined });
    void stream.reply(1);
    await time.advance(3_000);
    return { peers: [dialer, acceptor], code, link };
  }

  it.each(PLACES.filter(({ atEnd }) => atEnd !== true))('Code in $place may call `close`', async (place) => {
    const { peers, code } = await closeFromWithin(place);
    expect(code.runs).toBeGreaterThan(0);
    expect(peers.map(({ status }) => status)).toEqual(peers.map(() => ({ state: 'closed', reason: CLEAN, error: null })));
    expect(time.isOver()).toBe(true);
  });

  it.each(PLACES.filter(({ atEnd }) => atEnd === true))('Code in $place may call `close` when the connection is lost', async (place) => {
    const { peers, code, link } = await closeFromWithin(place);
    expect(code.runs).toBe(0);
    link.cut();
    await time.advance();
    expect([code.runs, peers.map(({ status }) => status.state)]).toEqual([1, ['closed', 'closed']]);
    expect(time.isOver()).toBe(true);
  });
});

describe('synchronous sockets', () => {
  const logs = collectLogs();

  const LARGE = 'x'.repeat(300_000);

  describe.each(CODECS)('Sockets that deliver within `send`, under %s', (_name, codec) => {
    function pair(onStream: StreamHandler = echo) {
      const sockets = synchronousSockets(`mux.v1.${codec.name}`);
      const acceptor = new Peer(sockets.acceptor, { isDialer: false, codec, onStream, keepalive: false });
      const dialer = new Peer(sockets.dialer, { isDialer: true, codec, keepalive: false });
      void acceptor.serve();
      void dialer.serve(echo);
      return { acceptor, dialer };
    }

    it('Calls from before `serve` fail at once when the observer of one of them closes the peer with a drain', async () => {
      const sockets = synchronousSockets(`mux.v1.${codec.name}`);
      const remote = new Peer(sockets.dialer, { isDialer: true, codec, keepalive: false });
      const peer = new Peer(sockets.acceptor, { isDialer: false, codec, keepalive: false });
      void remote.serve(stays);
      const first = peer.onFrame(() => {
        first();
        void peer.close({ drainMs: Infinity });
      });
      const outcomes = ['first', 'second'].map((payload) => progressOf(peer.request(payload)));
      void peer.serve();
      for (let n = 0; n < 20; n++) await Promise.resolve();
      expect(outcomes).toEqual([
        { settled: false, error: null },
        { settled: true, error: expect.objectContaining({ code: 'REFUSED', reason: 'this peer was closed' }) },
      ]);
      void peer.close();
    });

    it.each([
      ['a small payload', 'p'],
      ['a payload of several slices', LARGE],
    ])('A synchronous socket answers requests with %s in both directions', async (_what, payload) => {
      const { acceptor, dialer } = pair();
      const answers = await Promise.all([dialer.request(payload), dialer.request(payload), acceptor.request(payload)]);
      expect(answers.map((answer) => answer === payload)).toEqual([true, true, true]);
      expect([logs.warnings, logs.errors]).toEqual([[], []]);
    });

    it('A synchronous socket answers requests that are made within an answer', async () => {
      const { dialer } = pair();
      const answer$ = dialer.request$<number>(1).pipe(concatMap((one) => dialer.request$<number>(one + 1)));
      expect(await firstValueFrom(answer$)).toBe(2);
    });

    it('A synchronous socket carries an upload and its answers', async () => {
      const { acceptor, dialer } = pair();
      acceptor.streams$.pipe(respond((_payload, stream) => from(stream))).subscribe();
      const answers$ = dialer.open$('up', { input: range(0, 100) }).pipe(toArray());
      expect(await lastValueFrom(answers$)).toEqual(Array.from({ length: 100 }, (_, i) => i));
    });

    it('A synchronous socket carries pulled inputs in both directions', async () => {
      const { dialer } = pair(async (_payload, stream) => stream.sendAll(stream));
      const stream = dialer.open<number, number>('up');
      const answers = lastValueFrom(stream.pipe(toArray()));
      await stream.sendAll([1, 2, 3]);
      expect(await answers).toEqual([1, 2, 3]);
    });

    it('A synchronous socket carries a cancel, and delivers notifications in order', async () => {
      const seen: unknown[] = [];
      const { dialer } = pair((payload, stream) => {
        seen.push(payload);
        return stream.sendAll(range(0, 1_000));
      });
      expect(await lastValueFrom(dialer.open$('ticks').pipe(take(2), toArray()))).toEqual([0, 1]);
      dialer.notify('a');
      dialer.notify(LARGE);
      dialer.notify('b');
      await dialer.close();
      expect(seen.map((value) => String(value).length)).toEqual([5, 1, 300_000, 1]);
    });

    it('A synchronous socket carries a ping, and both sides close cleanly', async () => {
      const { acceptor, dialer } = pair();
      expect(await dialer.ping()).toBeGreaterThanOrEqual(0);
      expect(await dialer.close()).toMatchObject({ code: 1000, wasClean: true });
      expect(await acceptor.closed).toMatchObject({ code: 1000, wasClean: true });
    });

    it('A synchronous socket answers calls that waited for the hello reply, and counts unread bytes', async () => {
      const sockets = synchronousSockets(`mux.v1.${codec.name}`);
      accept(sockets.acceptor, { codec, onHello: echo, handler: echo, keepalive: false });
      const peer = connect('ws://example.org', {
        codec,
        socket: () => sockets.dialer,
        hello: () => ({ payload: 'token' }),
        limits: { maxUnreadBytes: 1_000 },
        keepalive: false,
      });
      const [read, unread] = [peer.open('p', { end: true }), peer.open('x'.repeat(2_000), { end: true })];
      expect(await peer.request('asked')).toBe('asked');
      expect(await firstValueFrom(read)).toBe('p');
      expect(unread.cause).toMatchObject({ how: 'reset', by: 'library', code: ResetCode.FLOW_CONTROL });
      await peer.close();
    });
  });
});

describe('Stream that waits for a connection', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  const KIB = 1024;

  /** A peer whose dial gets no answer, and its network. */
  function unanswered() {
    const network = holding();
    network.answer = 'silence';
    return { network, peer: dialing(network, { reconnect: { minDelayMs: 10, maxDelayMs: 10 } }) };
  }

  /** Whether one more call may wait. */
  async function takesMore(peer: Peer): Promise<boolean> {
    const outcome = settled(peer.request('small', { timeoutMs: 1 }));
    await time.advance(1);
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: expect.stringMatching(/DEADLINE_EXCEEDED|QUEUE_OVERFLOW/) }) });
    return ((await outcome) as { readonly error: { readonly code: string } }).error.code === 'DEADLINE_EXCEEDED';
  }

  it('A waiting stream blocks its sender from 256 KiB on, and leaves room for other calls', async () => {
    const { peer } = unanswered();
    const stream = peer.open('p');
    const sends = Array.from({ length: 6 }, () => progressOf(stream.send('x'.repeat(64 * KIB))));
    await time.advance();
    expect(sends.map((send) => send.settled)).toEqual([true, true, true, false, false, false]);
    expect(await takesMore(peer)).toBe(true);
  });

  it('A waiting `send` continues when another stream releases enough room', async () => {
    const network = holding();
    network.answer = 'silence';
    const peer = dialing(network, { limits: { maxQueuedBytes: 200 * KIB } });
    const [large, larger, small] = [peer.open('x'.repeat(60 * KIB)), peer.open('x'.repeat(70 * KIB)), peer.open('p')];
    const send = progressOf(small.send('x'.repeat(140 * KIB)));
    await time.advance();
    const full = send.settled;
    large.reset();
    await time.advance();
    const stillFull = send.settled;
    larger.reset();
    await time.advance();
    expect([full, stillFull, send.settled]).toEqual([false, false, true]);
  });

  it.each([
    [1_999, false],
    [2_000, true],
  ])(
    'A waiting stream without other values survives up to twice `maxQueuedBytes`: at %i of 1 000 bytes its `send` fails: %p',
    async (waiting, fails) => {
      const network = holding();
      network.answer = 'silence';
      const peer = dialing(network, { limits: { maxQueuedBytes: 1_000 } });
      const stream = peer.open('x'.repeat(waiting - '""'.length));
      const send = progressOf(stream.send('little'));
      await time.advance();
      expect([stream.phase, send.error]).toEqual(
        fails ? ['closed', expect.objectContaining({ code: 'QUEUE_OVERFLOW', retriable: true })] : ['idle', null],
      );
    },
  );

  it.each([
    [16 * KIB, false],
    [16 * KIB + 1, true],
  ])('A waiting stream without other values may queue 16 KiB: with %i bytes its `send` fails: %p', async (bytes, fails) => {
    const network = holding();
    network.answer = 'silence';
    const peer = dialing(network, { limits: { maxQueuedBytes: 20 * KIB } });
    const stream = peer.open('x'.repeat(20 * KIB));
    const send = progressOf(stream.send('x'.repeat(bytes - '""'.length)));
    await time.advance();
    expect([stream.phase, send.error]).toEqual(
      fails ? ['closed', expect.objectContaining({ code: 'QUEUE_OVERFLOW', retriable: true })] : ['idle', null],
    );
  });

  it('The overflow error names the bytes that would wait', () => {
    const network = holding();
    network.answer = 'silence';
    const peer = dialing(network, { limits: { maxQueuedBytes: 1_000 } });
    peer.open('x'.repeat(498));
    expect(() => peer.open('x'.repeat(500))).toThrow('1002 bytes waiting for a connection are over the limit of 1000 (maxQueuedBytes)');
    // Exactly the limit may wait.
    peer.open('x'.repeat(498));
  });

  it('A waiting stream accepts no value after its end', async () => {
    const { peer, network } = unanswered();
    const sent = framesOf(peer);
    const ended = peer.open('p', { end: true });
    const replied = peer.open('q');
    void replied.reply('last');
    const outcomes = await Promise.all([settled(ended.send('more')), settled(replied.send('more'))]);
    const refused = { error: expect.objectContaining({ code: 'PROTOCOL', message: 'expected nothing to be sent after the end' }) };
    expect(outcomes).toEqual([refused, refused]);
    const warning = 'rxmux: a value was sent after the end and is lost';
    expect(logs.warnings).toEqual([warning, warning]);
    network.answer = 'accept';
    await time.advance(10_100);
    expect(sent).toEqual([
      { type: 'open', stream: 1, payload: 'p', end: true },
      { type: 'open', stream: 3, payload: 'q' },
      { type: 'data', stream: 3, payload: 'last', end: true },
    ]);
  });

  it('A waiting stream moves to the next connection when this one ends while another stream leaves', async () => {
    const { peer, network } = unanswered();
    const sent: unknown[] = [];
    peer.frames$.subscribe(({ direction, frame, connection }) => {
      if (direction !== 'tx' || frame.type !== 'open') return;
      sent.push([connection, frame.payload]);
      if (frame.payload === 'first') network.last.link.cut();
    });
    const first = settled(peer.open('first').closed);
    const second = peer.open('second');
    network.answer = 'accept';
    await time.advance(10_100);
    expect(await first).toMatchObject({ value: { how: 'lost' } });
    expect([second.phase, sent]).toEqual([
      'open',
      [
        [1, 'first'],
        [2, 'second'],
      ],
    ]);
  });

  it('A waiting stream does not leave when the peer is closed while another stream leaves', async () => {
    const { peer, network } = unanswered();
    const sent = framesOf(peer);
    peer.onFrame((direction, { payload }) => {
      if (direction === 'tx' && payload === 'first') void peer.close();
    });
    const outcomes = [settled(peer.request('first')), settled(peer.request('second'))];
    network.answer = 'accept';
    await time.advance(10_100);
    expect(sent.filter(({ type }) => type === 'open')).toEqual([{ type: 'open', stream: 1, payload: 'first', end: true }]);
    expect(await Promise.all(outcomes)).toMatchObject([{ error: { code: 'CANCELLED' } }, { error: { retriable: true } }]);
  });

  it('A waiting `send` keeps waiting when a socket ends that accepted nothing, and continues over the next', async () => {
    const network = holding();
    const isFull = () => network.dials.length === 1;
    const peer = connect(ADDRESS, {
      keepalive: false,
      reconnect: { minDelayMs: 10, maxDelayMs: 10 },
      socket: (url, protocol) =>
        Object.defineProperty(network.socket(url, protocol), 'bufferedAmount', { get: () => (isFull() ? 8 * 1024 * KIB : 0) }),
    });
    const sent = framesOf(peer);
    await time.advance();
    const stream = peer.open('p');
    const sends = Array.from({ length: 6 }, () => progressOf(stream.send('x'.repeat(64 * KIB))));
    await time.advance();
    const settledThen = sends.map((send) => send.settled);
    network.answer = 'silence';
    network.last.link.cut();
    await time.advance(100);
    expect([settledThen, sends.map((send) => send.settled)]).toEqual([1, 2].map(() => [true, true, true, false, false, false]));
    network.answer = 'accept';
    await time.advance(10_100);
    expect(sends).toEqual(sends.map(() => ({ settled: true, error: null })));
    expect(sent.filter(({ type }) => type === 'open')).toEqual([{ type: 'open', stream: 1, payload: 'p' }]);
    stream.reset();
  });

  it('A waiting stream does not pull its input before it is connected', async () => {
    const { peer, network } = unanswered();
    const { pulled, iterator } = endless();
    const sent = framesOf(peer);
    const call = peer.open$('p', { input: iterator }).subscribe({ error: () => undefined });
    await time.advance();
    expect([pulled.count, await takesMore(peer)]).toEqual([0, true]);
    network.answer = 'accept';
    await time.advance(10_100);
    expect(sent.slice(0, 3)).toEqual([
      { type: 'open', stream: 1, payload: 'p' },
      { type: 'data', stream: 1, payload: 0 },
      { type: 'data', stream: 1, payload: 1 },
    ]);
    call.unsubscribe();
  });

  it('A waiting stream keeps the newest pushed value with overflow `latest`', async () => {
    const { peer, network } = unanswered();
    const sent = framesOf(peer);
    const stream = peer.open('p');
    void stream.send('x'.repeat(256 * KIB));
    void stream.sendAll(interval(1), { overflow: 'latest' });
    await time.advance(1_000);
    network.answer = 'accept';
    await time.advance(9_500);
    const ticks = sent.map(({ payload }) => payload).filter((payload) => typeof payload === 'number');
    expect(ticks[0]).toBeGreaterThan(9_000);
    stream.reset();
  });

  it('A waiting stream leaves before a stream that is opened while the socket opens', async () => {
    const network = holding();
    const open = network.socket(ADDRESS, 'mux.v1.json');
    await time.advance();
    const peer = connect(ADDRESS, { lazy: true, keepalive: false, socket: () => open });
    const sent = framesOf(peer);
    peer.status$.subscribe(({ state }) => {
      if (state === 'open') peer.notify('second');
    });
    peer.notify('first');
    await time.advance();
    expect(sent.map(({ stream, payload }) => [stream, payload])).toEqual([
      [1, 'first'],
      [3, 'second'],
    ]);
  });
});
