import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, firstValueFrom, toArray } from 'rxjs';
import { CloseCode, respond } from '../../src/index.js';
import type { Frame } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { virtualTime } from '../../src/testing.js';
import { createPair } from '../support/tracked.js';
import type { FaultScript, Pair, PairOptions, Side } from '../../src/testing.js';
import { CLOCKS } from './clocks.js';
import type { Clock } from './clocks.js';

/** A pair whose acceptor answers with the payload. */
function echo(options: PairOptions = {}): Pair {
  const pair = createPair(options);
  pair.acceptor.onStream((payload, stream) => stream.reply(payload));
  return pair;
}

/** `types` of the frames that went over a link, in order, by who sent them. */
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

  it('joins two peers that are open at once', () => {
    const { dialer, acceptor } = createPair();
    expect([dialer.isDialer, acceptor.isDialer]).toEqual([true, false]);
    expect([dialer.status.state, acceptor.status.state]).toEqual(['open', 'open']);
  });

  it.each([
    ['calls of the dialer', (pair: Pair) => [pair.dialer, pair.acceptor] as const],
    ['pushes of the acceptor', (pair: Pair) => [pair.acceptor, pair.dialer] as const],
  ])('carries %s', async (_, ends) => {
    const [asking, answering] = ends(createPair());
    answering.onStream((payload, stream) => stream.reply([payload, stream.headers]));
    const answer = asking.request('x', { headers: { a: 1 } });
    expect(await clock.until(answer)).toEqual(['x', { a: 1 }]);
  });

  it('takes the handlers of its options', async () => {
    const { dialer, acceptor } = createPair({
      dialer: { onStream: (_, stream) => stream.reply('from the dialer') },
      acceptor: { onStream: (_, stream) => stream.reply('from the acceptor') },
    });
    expect(await clock.until(Promise.all([dialer.request(), acceptor.request()]))).toEqual(['from the acceptor', 'from the dialer']);
  });

  it('answers two hundred calls at once, each with its own answer', async () => {
    const { dialer } = echo({ latencyMs: 1 });
    const answers = Array.from({ length: 200 }, (_, nth) => dialer.request(nth));
    expect(await clock.until(Promise.all(answers))).toEqual(Array.from({ length: 200 }, (_, nth) => nth));
  });

  it('lets each message travel for latencyMs', async () => {
    const { dialer } = echo({ latencyMs: 7 });
    const sooner = jest.fn();
    asyncScheduler.schedule(sooner, 10);
    const roundTrip = await clock.until(dialer.ping());
    expect(sooner).toHaveBeenCalled();
    if (clock.kind === 'virtual') expect(roundTrip).toBe(14);
  });

  it('uses the codec that it is given', async () => {
    const { dialer, acceptor } = echo({ codec: new MsgpackCodec() });
    expect([dialer.codec.name, acceptor.codec.name]).toEqual(['msgpack', 'msgpack']);
    expect(await clock.until(dialer.request(new Uint8Array([1, 2])))).toEqual(new Uint8Array([1, 2]));
  });

  it('gives both peers its limits and its cap, and each its own options', async () => {
    const pair = echo({ maxFrameBytes: 100, limits: { maxPayloadBytes: 1_000 }, acceptor: { maxFrameBytes: 10_000 } });
    const seen = traffic(pair);
    await clock.until(pair.dialer.request('x'.repeat(500)));
    expect(seen.dialer.length).toBeGreaterThan(5);
    expect(seen.acceptor).toEqual(['data']);
    await expect(clock.until(pair.dialer.request('x'.repeat(1_001)))).rejects.toMatchObject({ code: 'RESET', resetCode: 6 });
  });

  it('closes in good order', async () => {
    const { dialer, acceptor } = createPair();
    const reasons = Promise.all([dialer.close({ reason: 'done' }), acceptor.closed]);
    const reason = { code: CloseCode.CLEAN, reason: 'done', wasClean: true, willRetry: false };
    expect(await clock.until(reasons)).toEqual([reason, reason]);
  });

  it('drops a message', async () => {
    const { dialer } = echo({ faults: ({ from, nth }) => (from === 'acceptor' && nth === 1 ? 'drop' : undefined) });
    await expect(clock.until(dialer.request('x', { timeoutMs: 20 }))).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(await clock.until(dialer.request('y'))).toBe('y');
  });

  it('delivers a message twice', async () => {
    const pair = createPair({ faults: ({ frame }) => (frame.payload === 'b' ? 'duplicate' : undefined) });
    pair.acceptor.streams$.pipe(respond(() => ['a', 'b', 'c'])).subscribe();
    expect(await clock.until(firstValueFrom(pair.dialer.open$('x').pipe(toArray())))).toEqual(['a', 'b', 'b', 'c']);
  });

  it('ends the connection for an open that is delivered twice', async () => {
    const { dialer } = echo({ faults: ({ frame }) => (frame.type === 'open' ? 'duplicate' : undefined) });
    dialer.notify('x');
    expect(await clock.until(dialer.closed)).toMatchObject({ code: CloseCode.PROTOCOL_ERROR });
  });

  it('cuts the line at a message, behind the back of its sender', async () => {
    const { dialer, acceptor } = echo({ faults: ({ frame }) => (frame.payload === 'x' ? 'cut' : undefined) });
    const lost = dialer.request('x');
    const alsoLost = dialer.request('y');
    expect(dialer.status.state).toBe('open');
    await expect(clock.until(lost)).rejects.toMatchObject({ code: 'CONNECTION_LOST', reason: { code: CloseCode.ABNORMAL } });
    await expect(alsoLost).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(await clock.until(acceptor.closed)).toMatchObject({ code: CloseCode.ABNORMAL, wasClean: false });
  });

  it('delays a message, and what follows it', async () => {
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
    ['what is no frame', 'nonsense', CloseCode.PROTOCOL_ERROR],
    ['a message of the wrong kind', new ArrayBuffer(2), CloseCode.WRONG_MESSAGE_KIND],
  ])('replaces a message with %s', async (_, message, code) => {
    const { dialer } = echo({ faults: ({ from, nth }) => (from === 'dialer' && nth === 1 ? { replace: message } : undefined) });
    dialer.notify('x');
    expect(await clock.until(dialer.closed)).toMatchObject({ code });
  });

  it('replaces a frame with another', async () => {
    const other: Frame = { type: 'open', stream: 1, payload: 'other', end: true };
    const replace = JSON.stringify(other);
    const { dialer } = echo({ faults: ({ frame }) => (frame.payload === 'x' && frame.type === 'open' ? { replace } : undefined) });
    expect(await clock.until(dialer.request('x'))).toBe('other');
  });

  it('tells its script who sends what as which message', async () => {
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
  let clock: Clock;

  beforeEach(() => {
    clock = start();
  });

  afterEach(() => {
    clock.stop();
  });

  it('shows every message, and completes when both ends have ended', async () => {
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
  ])('is cut with %j', async (given, reason) => {
    const { dialer, acceptor, link } = createPair();
    link.cut(given);
    expect(await clock.until(Promise.all([dialer.closed, acceptor.closed]))).toEqual([reason, reason]);
  });

  it('carries nothing to a side that is stalled, and everything when it is resumed', async () => {
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

  it('lets a stalled side send', async () => {
    const { dialer, acceptor, link } = createPair();
    link.stall('acceptor');
    const pushed = firstValueFrom(dialer.streams$);
    acceptor.notify('still here');
    expect((await clock.until(pushed)).payload).toBe('still here');
  });

  it.each<Side>(['dialer', 'acceptor'])('gives the %s what it injects', async (side) => {
    const pair = createPair();
    const opened = firstValueFrom(pair[side].streams$);
    const stream = side === 'dialer' ? 2 : 1;
    pair.link.inject(side, JSON.stringify({ type: 'open', stream, payload: 'injected' }));
    expect(await clock.until(opened)).toMatchObject({ id: stream, payload: 'injected' });
  });

  it('ends the peer that reads an injected message that cannot be decoded', async () => {
    const { acceptor, link } = createPair();
    link.inject('acceptor', '{');
    expect(await clock.until(acceptor.closed)).toMatchObject({ code: CloseCode.PROTOCOL_ERROR });
  });
});

describe('createPair', () => {
  it('sends no keepalive unless it is asked for', async () => {
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
    ['one end, where both have it', { keepalive: { idleMs: 1_000 }, dialer: { keepalive: undefined } }, ['dialer']],
  ])('takes a keepalive that is undefined for one that is not given: %s', async (_what, options, pinging) => {
    const time = virtualTime();
    const seen = traffic(createPair(options));
    await time.advance(60_000);
    time.restore();
    expect((['dialer', 'acceptor'] as const).filter((side) => seen[side].includes('ping'))).toEqual(pinging);
  });

  it('keeps the order where a message is due just when another is sent', async () => {
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

  it('refuses bad options', () => {
    expect(() => createPair({ maxFrameBytes: 1 })).toThrow(TypeError);
    expect(() => createPair({ limits: { maxStreams: -1 } })).toThrow(TypeError);
  });
});
