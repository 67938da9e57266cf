import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, firstValueFrom, lastValueFrom, Subject, take, toArray } from 'rxjs';
import { CloseCode, respond } from '../../src/index.js';
import type { ConnectOptions, Frame, Peer, PeerStatus } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { answering, client, contract, request } from '../../src/contract.js';
import { renewing, sessionEnds } from '../../src/session.js';
import { createServer, virtualTime } from '../../src/testing.js';
import type { FaultScript, Pair, PairOptions, Side, TestServer, TestServerOptions } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { connect, createPair } from '../support/peer/tracked.js';
import { CLOCKS } from './clocks.js';
import type { Clock } from './clocks.js';

/** Creates a pair whose acceptor echoes the payload. */
function echo(options: PairOptions = {}): Pair {
  const pair = createPair(options);
  pair.acceptor.onStream((payload, stream) => stream.reply(payload));
  return pair;
}

/** The types of the frames on a link, in order, by their sender. */
function traffic({ link }: Pair): Record<Side, string[]> {
  const seen: Record<Side, string[]> = { dialer: [], acceptor: [] };
  link.messages$.subscribe(({ from, frame }) => seen[from].push(frame.type));
  return seen;
}

describe.each(CLOCKS)('createPair in $kind time', ({ start }) => {
  let clock: Clock;

  beforeEach(() => {
    clock = start();
  });

  afterEach(() => {
    clock.stop();
  });

  collectLogs();

  it('A pair joins two peers that are open at once', () => {
    const { dialer, acceptor } = createPair();
    expect([dialer.isDialer, acceptor.isDialer]).toEqual([true, false]);
    expect([dialer.status.state, acceptor.status.state]).toEqual(['open', 'open']);
  });

  it.each([
    ['calls of the dialer', (pair: Pair) => [pair.dialer, pair.acceptor] as const],
    ['pushes of the acceptor', (pair: Pair) => [pair.acceptor, pair.dialer] as const],
  ])('A pair carries %s', async (_, ends) => {
    const [asking, answering] = ends(createPair());
    answering.onStream((payload, stream) => stream.reply([payload, stream.headers]));
    const answer = asking.request('x', { headers: { a: 1 } });
    expect(await clock.until(answer)).toEqual(['x', { a: 1 }]);
  });

  it('A pair calls the handlers of its options', async () => {
    const { dialer, acceptor } = createPair({
      dialer: { onStream: (_, stream) => stream.reply('from the dialer') },
      acceptor: { onStream: (_, stream) => stream.reply('from the acceptor') },
    });
    expect(await clock.until(Promise.all([dialer.request(), acceptor.request()]))).toEqual(['from the acceptor', 'from the dialer']);
  });

  it('A pair answers two hundred calls at once, each with its own answer', async () => {
    const { dialer } = echo({ latencyMs: 1 });
    const answers = Array.from({ length: 200 }, (_, nth) => dialer.request(nth));
    expect(await clock.until(Promise.all(answers))).toEqual(Array.from({ length: 200 }, (_, nth) => nth));
  });

  it('A pair delivers each message after latencyMs', async () => {
    const { dialer } = echo({ latencyMs: 7 });
    const sooner = jest.fn();
    asyncScheduler.schedule(sooner, 10);
    const roundTrip = await clock.until(dialer.ping());
    expect(sooner).toHaveBeenCalled();
    if (clock.kind === 'virtual') expect(roundTrip).toBe(14);
  });

  it('A pair uses the codec of its options', async () => {
    const { dialer, acceptor } = echo({ codec: new MsgpackCodec() });
    expect([dialer.codec.name, acceptor.codec.name]).toEqual(['msgpack', 'msgpack']);
    expect(await clock.until(dialer.request(new Uint8Array([1, 2])))).toEqual(new Uint8Array([1, 2]));
  });

  it('A pair passes limits and maxFrameBytes to both peers, and to each its own options', async () => {
    const pair = echo({ maxFrameBytes: 100, limits: { maxPayloadBytes: 1_000 }, acceptor: { maxFrameBytes: 10_000 } });
    const seen = traffic(pair);
    await clock.until(pair.dialer.request('x'.repeat(500)));
    expect(seen.dialer.length).toBeGreaterThan(5);
    expect(seen.acceptor).toEqual(['data']);
    await expect(clock.until(pair.dialer.request('x'.repeat(1_001)))).rejects.toMatchObject({ code: 'RESET', resetCode: 6 });
  });

  it('A pair closes cleanly', async () => {
    const { dialer, acceptor } = createPair();
    const reasons = Promise.all([dialer.close({ reason: 'done' }), acceptor.closed]);
    const reason = { code: CloseCode.CLEAN, reason: 'done', wasClean: true, willRetry: false };
    expect(await clock.until(reasons)).toEqual([reason, reason]);
  });

  it("The fault 'drop' drops a message", async () => {
    const { dialer } = echo({ faults: ({ from, nth }) => (from === 'acceptor' && nth === 1 ? 'drop' : undefined) });
    await expect(clock.until(dialer.request('x', { timeoutMs: 20 }))).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(await clock.until(dialer.request('y'))).toBe('y');
  });

  it("The fault 'duplicate' delivers a message twice", async () => {
    const pair = createPair({ faults: ({ frame }) => (frame.payload === 'b' ? 'duplicate' : undefined) });
    pair.acceptor.streams$.pipe(respond(() => ['a', 'b', 'c'])).subscribe();
    expect(await clock.until(firstValueFrom(pair.dialer.open$('x').pipe(toArray())))).toEqual(['a', 'b', 'b', 'c']);
  });

  it('An open that is delivered twice ends the connection', async () => {
    const { dialer } = echo({ faults: ({ frame }) => (frame.type === 'open' ? 'duplicate' : undefined) });
    dialer.notify('x');
    expect(await clock.until(dialer.closed)).toMatchObject({ code: CloseCode.PROTOCOL_ERROR });
  });

  it("The fault 'cut' cuts the line at a message without the sender's knowledge", async () => {
    const { dialer, acceptor } = echo({ faults: ({ frame }) => (frame.payload === 'x' ? 'cut' : undefined) });
    const lost = dialer.request('x');
    const alsoLost = dialer.request('y');
    expect(dialer.status.state).toBe('open');
    await expect(clock.until(lost)).rejects.toMatchObject({ code: 'CONNECTION_LOST', reason: { code: CloseCode.ABNORMAL } });
    await expect(alsoLost).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(await clock.until(acceptor.closed)).toMatchObject({ code: CloseCode.ABNORMAL, wasClean: false });
  });

  it('The fault delayMs delays a message and the messages after it', async () => {
    const pair = createPair({ faults: ({ frame }) => (frame.payload === 1 ? { delayMs: 30 } : undefined) });
    const arrived: unknown[] = [];
    let beforeHalf: unknown[] = [];
    pair.acceptor.streams$.subscribe(({ payload }) => arrived.push(payload));
    asyncScheduler.schedule(() => (beforeHalf = [...arrived]), 15);
    for (const payload of [0, 1, 2]) pair.dialer.notify(payload);
    const roundTrip = await clock.until(pair.dialer.ping());
    expect(beforeHalf).toEqual([0]);
    expect(arrived).toEqual([0, 1, 2]);
    if (clock.kind === 'virtual') expect(roundTrip).toBe(30);
  });

  it.each<[what: string, message: string | ArrayBuffer, code: number]>([
    ['text that is no frame', 'nonsense', CloseCode.PROTOCOL_ERROR],
    ['a message of the wrong kind', new ArrayBuffer(2), CloseCode.WRONG_MESSAGE_KIND],
  ])('The fault replace replaces a message with %s', async (_, message, code) => {
    const { dialer } = echo({ faults: ({ from, nth }) => (from === 'dialer' && nth === 1 ? { replace: message } : undefined) });
    dialer.notify('x');
    expect(await clock.until(dialer.closed)).toMatchObject({ code });
  });

  it('The fault replace replaces a frame with another', async () => {
    const other: Frame = { type: 'open', stream: 1, payload: 'other', end: true };
    const replace = JSON.stringify(other);
    const { dialer } = echo({ faults: ({ frame }) => (frame.payload === 'x' && frame.type === 'open' ? { replace } : undefined) });
    expect(await clock.until(dialer.request('x'))).toBe('other');
  });

  it('A fault script receives the sender, the frame and the number of each message', async () => {
    const seen: unknown[] = [];
    const faults: FaultScript = ({ from, frame, nth }) => {
      seen.push([from, frame.type, nth]);
      return undefined;
    };
    const { dialer } = echo({ faults });
    await clock.until(dialer.request('x').then(() => dialer.request('y')));
    expect(seen).toEqual([
      ['dialer', 'open', 1],
      ['acceptor', 'data', 1],
      ['dialer', 'open', 2],
      ['acceptor', 'data', 2],
    ]);
  });
});

describe.each(CLOCKS)('the link of a pair in $kind time', ({ start }) => {
  collectLogs();

  let clock: Clock;

  beforeEach(() => {
    clock = start();
  });

  afterEach(() => {
    clock.stop();
  });

  it('A link emits every message, and completes when both ends have ended', async () => {
    const pair = echo();
    const messages = firstValueFrom(pair.link.messages$.pipe(toArray()));
    void pair.dialer.request('x').then(() => pair.dialer.close());
    expect((await clock.until(messages)).map(({ from, frame, nth }) => `${from} ${frame.type} ${nth}`)).toEqual([
      'dialer open 1',
      'acceptor data 1',
      'dialer goaway 2',
    ]);
  });

  it.each([
    [undefined, { code: CloseCode.ABNORMAL, reason: '', wasClean: false, willRetry: false }],
    [
      { code: 4000, reason: 'pulled', wasClean: true },
      { code: 4000, reason: 'pulled', wasClean: true, willRetry: false },
    ],
    [
      { code: undefined, reason: 'pulled', wasClean: undefined },
      { code: CloseCode.ABNORMAL, reason: 'pulled', wasClean: false, willRetry: false },
    ],
  ])('A link is cut with %j', async (given, reason) => {
    const { dialer, acceptor, link } = createPair();
    link.cut(given);
    expect(await clock.until(Promise.all([dialer.closed, acceptor.closed]))).toEqual([reason, reason]);
  });

  it('A link delivers no message to a stalled side, and all of them when the side is resumed', async () => {
    const { dialer, acceptor, link } = createPair({ dialer: { requestTimeoutMs: 0 } });
    const arrived: unknown[] = [];
    acceptor.streams$.subscribe(({ payload }) => arrived.push(payload));
    acceptor.onStream((payload, stream) => stream.reply(payload));
    link.stall('acceptor');
    const answers = Promise.all([dialer.request(1), dialer.request(2)]);
    await clock.until(createPair({ latencyMs: 1 }).dialer.ping());
    expect(arrived).toEqual([]);
    link.resume('acceptor');
    expect(await clock.until(answers)).toEqual([1, 2]);
  });

  it('A stalled side can send', async () => {
    const { dialer, acceptor, link } = createPair();
    link.stall('acceptor');
    const pushed = firstValueFrom(dialer.streams$);
    acceptor.notify('still here');
    expect((await clock.until(pushed)).payload).toBe('still here');
  });

  it.each<Side>(['dialer', 'acceptor'])('A link delivers to the %s the message that a test injects', async (side) => {
    const pair = createPair();
    const opened = firstValueFrom(pair[side].streams$);
    const stream = side === 'dialer' ? 2 : 1;
    pair.link.inject(side, JSON.stringify({ type: 'open', stream, payload: 'injected' }));
    expect(await clock.until(opened)).toMatchObject({ id: stream, payload: 'injected' });
  });

  it('An injected message that does not decode ends its reader', async () => {
    const { acceptor, link } = createPair();
    link.inject('acceptor', '{');
    expect(await clock.until(acceptor.closed)).toMatchObject({ code: CloseCode.PROTOCOL_ERROR });
  });
});

describe('createPair', () => {
  collectLogs();

  it('`createPair` sends no keepalive unless an option asks for it', async () => {
    const clock = CLOCKS[0]?.start();
    const quiet = traffic(createPair());
    const probing = traffic(createPair({ keepalive: { idleMs: 1_000 } }));
    const probed = traffic(createPair({ acceptor: { keepalive: { idleMs: 1_000 } } }));
    await clock?.until(Promise.resolve());
    clock?.stop();
    expect(quiet).toEqual({ dialer: [], acceptor: [] });
    expect(probing.dialer).toContain('ping');
    expect(probed.dialer).toContain('pong');
    expect(probed.dialer).not.toContain('ping');
  });

  it.each<[what: string, options: PairOptions, pinging: readonly Side[]]>([
    ['both ends', { keepalive: undefined }, []],
    ['each end', { dialer: { keepalive: undefined }, acceptor: { keepalive: undefined } }, []],
    ['one end of a pair with keepalive', { keepalive: { idleMs: 1_000 }, dialer: { keepalive: undefined } }, ['dialer']],
  ])('`createPair` treats an undefined keepalive as a missing one: %s', async (_what, options, pinging) => {
    const time = virtualTime();
    const seen = traffic(createPair(options));
    await time.advance(60_000);
    time.restore();
    expect((['dialer', 'acceptor'] as const).filter((side) => seen[side].includes('ping'))).toEqual(pinging);
  });

  it.each<readonly [string, PairOptions]>([
    ['a latency of Infinity', { latencyMs: Infinity }],
    ['a latency that no timer counts', { latencyMs: 2 ** 40 }],
    ['a delay of Infinity', { faults: () => ({ delayMs: Infinity }) }],
  ])('A message with %s does not arrive at once', async (_, options) => {
    const time = virtualTime();
    const { dialer, acceptor } = createPair(options);
    const arrived: unknown[] = [];
    acceptor.onStream((payload) => void arrived.push(payload));
    dialer.notify('late');
    await time.advance(60_000);
    time.restore();
    expect(arrived).toEqual([]);
  });

  it('A pair keeps the order when a message is due as another is sent', async () => {
    const time = virtualTime();
    const { dialer, acceptor } = createPair({ faults: ({ frame }) => (frame.payload === 'slow' ? { delayMs: 5 } : undefined) });
    const arrived: unknown[] = [];
    acceptor.streams$.subscribe(({ payload }) => arrived.push(payload));
    asyncScheduler.schedule(() => {
      dialer.notify('next');
    }, 5);
    dialer.notify('slow');
    await time.advance(5);
    time.restore();
    expect(arrived).toEqual(['slow', 'next']);
  });

  it('`createPair` throws for bad options', () => {
    expect(() => createPair({ maxFrameBytes: 1 })).toThrow(TypeError);
    expect(() => createPair({ limits: { maxStreams: -1 } })).toThrow(TypeError);
  });
});

const SOON = { minDelayMs: 1, maxDelayMs: 5 };

const echoing = (options: TestServerOptions = {}): TestServer =>
  createServer({ onStream: (payload, stream) => stream.reply(payload), ...options });

const dial = ({ socket }: TestServer, options: ConnectOptions = {}): Peer =>
  connect('ws://test', { socket, keepalive: false, reconnect: SOON, ...options });

/** Resolves at the next status of this state. */
const reaches = (peer: Peer, state: PeerStatus['state'], reconnects = 0): Promise<PeerStatus> =>
  new Promise((resolve) => {
    peer.status$.subscribe((status) => {
      if (status.state === state && (status.state !== 'open' || status.reconnects >= reconnects)) resolve(status);
    });
  });

describe.each(CLOCKS)('createServer in $kind time', ({ start }) => {
  let clock: Clock;

  beforeEach(() => {
    clock = start();
  });

  afterEach(() => {
    clock.stop();
  });

  collectLogs();

  it('A test server answers its dialers', async () => {
    const peer = dial(echoing());
    expect(peer.status.state).toBe('connecting');
    expect(await clock.until(peer.request('x'))).toBe('x');
  });

  it('A test server emits each peer before the peer reads anything', async () => {
    const server = createServer();
    server.peers$.subscribe((accepted) => {
      accepted.onStream((_, stream) => stream.reply(accepted.isDialer ? 'dialer' : 'acceptor'));
    });
    expect(await clock.until(dial(server).request())).toBe('acceptor');
  });

  it('A test server answers a contract, as `serve` does', async () => {
    const api = contract({ square: request<number, number>() });
    const peer = dial(createServer(answering(api, { square: (n) => n * n })));
    expect(await clock.until(client(peer, api).square.promise(12))).toBe(144);
  });

  it('A test server with `onHello` renews sessions on one socket, and its handler sees no hello', async () => {
    const hellos = new Subject<unknown>();
    const seen: unknown[] = [];
    const server = createServer({
      onHello: (payload, stream) => {
        sessionEnds(stream, asyncScheduler.now() + 400);
        hellos.next(payload);
        return stream.reply();
      },
      onStream: (payload, stream) => (seen.push(payload), stream.reply(payload)),
    });
    let nth = 0;
    const third = lastValueFrom(hellos.pipe(take(3), toArray()));
    const peer = dial(server, { hello: renewing(() => ({ payload: ++nth })) });
    expect(await clock.until(peer.request('x'))).toBe('x');
    expect(await clock.until(third)).toEqual([1, 2, 3]);
    expect([seen, peer.status]).toEqual([['x'], { state: 'open', reconnects: 0 }]);
  });

  it('A test server without `onHello` passes each hello to `onStream`', async () => {
    const seen: unknown[] = [];
    const server = createServer({ onStream: (payload, stream) => (seen.push(payload), stream.reply(payload)) });
    expect(await clock.until(dial(server, { hello: () => ({ payload: 'token' }) }).request('x'))).toBe('x');
    expect(seen).toEqual(['token', 'x']);
  });

  it('A test server accepts many dialers, each by itself', async () => {
    const server = echoing();
    const peers = [dial(server), dial(server), dial(server)];
    expect(await clock.until(Promise.all(peers.map((peer, nth) => peer.request(nth))))).toEqual([0, 1, 2]);
  });

  it('A test server has no link before the first dial, and then the newest', async () => {
    const server = echoing();
    expect(server.link).toBeNull();
    const first = dial(server);
    await clock.until(first.opened);
    const { link } = server;
    await clock.until(dial(server).opened);
    expect(server.link).not.toBe(link);
    link?.cut();
    await clock.until(reaches(first, 'open', 1));
    expect(await clock.until(first.request('again'))).toBe('again');
  });

  it('A peer reconnects when its link is cut', async () => {
    const server = echoing();
    const peer = dial(server);
    await clock.until(peer.opened);
    server.link?.cut({ code: 1012, reason: 'restart' });
    expect(await clock.until(reaches(peer, 'open', 1))).toEqual({ state: 'open', reconnects: 1 });
    expect(await clock.until(peer.request('x'))).toBe('x');
  });

  it.each([
    [503, 'CONNECT'],
    [403, 'CONNECT'],
    [400, 'CODEC_MISMATCH'],
  ])('A test server refuses a dial with HTTP %d', async (status, code) => {
    const server = echoing();
    server.refuse(status);
    const peer = dial(server, { reconnect: false });
    await expect(clock.until(peer.opened)).rejects.toMatchObject(status === 400 ? { code } : { code, status });
    expect(server.link).toBeNull();
  });

  it('A test server refuses a dialer of another codec, as a server does', async () => {
    const server = echoing({ codec: new MsgpackCodec() });
    const peer = dial(server, { reconnect: false });
    await expect(clock.until(peer.opened)).rejects.toMatchObject({ code: 'CODEC_MISMATCH' });
    expect(server.link).toBeNull();
  });

  it('A test server is unreachable while it refuses with 0', async () => {
    const server = echoing();
    server.refuse(0);
    const peer = dial(server, { reconnect: false });
    await expect(clock.until(peer.opened)).rejects.toMatchObject({ code: 'CONNECT', status: null });
    expect(await clock.until(peer.closed)).toMatchObject({ code: CloseCode.ABNORMAL });
  });

  it('A test server accepts dials again when it refuses with null', async () => {
    const server = echoing();
    server.refuse(503);
    const peer = dial(server, { reconnect: { ...SOON, maxAttempts: Infinity } });
    const waiting = reaches(peer, 'waiting');
    const answer = peer.request('x');
    answer.catch(() => undefined);
    void waiting.then(() => {
      server.refuse(null);
    });
    expect(await clock.until(answer)).toBe('x');
  });

  it('A test server passes its options to its peers, and applies latency and faults to its messages', async () => {
    const server = echoing({
      codec: new MsgpackCodec(),
      latencyMs: 3,
      faults: ({ frame }) => (frame.payload === 'lost' ? 'drop' : undefined),
    });
    const peer = dial(server, { codec: new MsgpackCodec() });
    await clock.until(peer.opened);
    const sooner = jest.fn();
    asyncScheduler.schedule(sooner, 4);
    const roundTrip = await clock.until(peer.ping());
    expect(sooner).toHaveBeenCalled();
    if (clock.kind === 'virtual') expect(roundTrip).toBe(6);
    expect(await clock.until(peer.request(new Uint8Array([1])))).toEqual(new Uint8Array([1]));
    await expect(clock.until(peer.request('lost', { timeoutMs: 20 }))).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it("A peer reconnects after the server's clean close", async () => {
    const server = echoing();
    let accepted: Peer | null = null;
    server.peers$.subscribe((peer) => (accepted = peer));
    const peer = dial(server);
    await clock.until(peer.opened);
    const again = reaches(peer, 'open', 1);
    void (accepted as Peer | null)?.close();
    await clock.until(again);
    expect(await clock.until(peer.request('x'))).toBe('x');
  });

  it('A closed peer abandons its dial', async () => {
    const peer = dial(echoing());
    expect(await clock.until(peer.close())).toMatchObject({ willRetry: false });
    expect(peer.status.state).toBe('closed');
  });

  it("A socket of a test server that is closed before it opens behaves as the platform's socket", async () => {
    const socket = echoing().socket('ws://test', 'mux.v1.json');
    const closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, wasClean }) => resolve({ code, wasClean }));
    });
    expect([socket.readyState, socket.protocol]).toEqual([0, '']);
    socket.send('too early');
    socket.close();
    expect(await clock.until(closed)).toEqual({ code: CloseCode.ABNORMAL, wasClean: false });
    socket.close();
    expect(socket.readyState).toBe(3);
  });
});

describe('createServer', () => {
  it('`refuse` expects a status', () => {
    expect(() => createServer().refuse(JSON.parse('"503"') as number)).toThrow("refuse: expected a number of at least 0, got '503'");
  });

  it('`createServer` treats an undefined keepalive as a missing one', async () => {
    const time = virtualTime();
    const server = createServer({ keepalive: undefined });
    const peer = connect('ws://test', { socket: server.socket, keepalive: false });
    const types: string[] = [];
    server.link?.messages$.subscribe(({ frame }) => types.push(frame.type));
    await time.advance(60_000);
    time.restore();
    expect([peer.status.state, types]).toEqual(['open', []]);
  });
});
