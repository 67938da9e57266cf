import { describe, expect, it, jest } from '@jest/globals';
import { EMPTY, firstValueFrom, timer } from 'rxjs';
import type { ConnectOptions, DialContext, Hello, OpenInterceptor, Peer, StreamHandler } from '../../src/index.js';
import { connectOver } from '../../src/peer/connect.js';
import { DEFAULT_HELLO_LIMITS, narrowed, resolveHelloLimits } from '../../src/peer/hello.js';
import { MemoryLink } from '../../src/testing/memory-link.js';
import { DEFAULT_LIMITS, resolveLimits } from '../../src/wire/limits.js';
import type { Limits } from '../../src/wire/limits.js';
import { echo, greeted, later, welcome } from '../support/peer/dialing.js';
import { framesOf } from '../support/peer/frames.js';
import type { Envelope } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import type { NetworkOptions } from '../support/peer/network.js';
import { settled } from '../support/peer/outcome.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { ScriptedTransport } from '../support/socket/scripted-transport.js';

/** The header of a hello. */
const MARK = { 'mux.hello': true };

describe('Hello of an acceptor', () => {
  const time = virtualPeerTime();
  collectLogs();

  const unsaid = (server: NetworkOptions) => greeted({ hello: () => ({ payload: 'me' }), helloTimeoutMs: 60_000 }, server);

  it('The hello is the first stream of the dialer, and the handler answers after its reply', async () => {
    const greeted: unknown[] = [];
    const { peer } = unsaid({ onHello: (payload, stream) => (greeted.push(payload), stream.reply()), onStream: echo });
    const answers = Promise.all([peer.request('a'), peer.request('b')]);
    await time.advance();
    expect([greeted, await answers]).toEqual([['me'], ['a', 'b']]);
  });

  it('An acceptor refuses other streams until it has replied to the hello', async () => {
    const { network, peer, sent } = unsaid({ onHello: later(100, welcome), onStream: echo });
    const received: unknown[] = [];
    await time.advance(50);
    network.last.link.messages$.subscribe(({ from, frame }) => {
      if (from === 'acceptor') received.push(frame);
    });
    network.last.link.inject('acceptor', JSON.stringify({ type: 'open', stream: 3, payload: 'too early', end: true }));
    await time.advance();
    expect(received).toEqual([expect.objectContaining({ type: 'reset', stream: 3, code: 7, reason: expect.stringContaining('hello') })]);
    await time.advance(50);
    expect([peer.status.state, sent.length]).toEqual(['open', 1]);
  });

  it('`streams$` does not emit the hello', async () => {
    const { network, peer } = unsaid({ onHello: welcome, onStream: echo });
    const shown: unknown[] = [];
    network.last.peer.streams$.subscribe((stream) => shown.push(stream.payload));
    await time.advance();
    peer.notify('second');
    await time.advance();
    expect(shown).toEqual(['second']);
  });

  it('An incoming-headers interceptor that resets the hello rejects it, and its handler does not run', async () => {
    const greeted: unknown[] = [];
    const { network, peer } = unsaid({ onHello: (payload, stream) => (greeted.push(payload), stream.reply()) });
    network.last.peer.interceptIncomingHeaders((_, stream) => {
      stream.reset(300, 'not today');
    });
    await time.advance(3_000);
    expect([greeted, peer.status.state]).toEqual([[], 'closed']);
    await expect(peer.opened).rejects.toMatchObject({ code: 'RESET', resetCode: 300 });
  });

  it('A hello is accepted once the thenable of its handler has resolved, even when the thenable rejects later', async () => {
    const twice = {
      then(resolve: () => void, reject: (error: Error) => void) {
        resolve();
        reject(new Error('again'));
      },
    };
    const { peer } = unsaid({ onHello: (_, stream) => (void stream.reply(), twice), onStream: echo });
    const answer = peer.request('a');
    await time.advance();
    expect([await answer, peer.status.state]).toEqual(['a', 'open']);
  });

  it('A rejected hello closes the connection, after a reset with the reason', async () => {
    const { network, peer } = unsaid({ onHello: () => Promise.reject(new Error('bad token')) });
    const accepted = network.last.peer;
    const sent = framesOf(accepted);
    await time.advance(3_000);
    expect(sent).toEqual([
      { type: 'reset', stream: 1, code: 16, payload: { name: 'Error', message: 'bad token' }, reason: 'bad token' },
      { type: 'goaway', code: 7, last_stream: 1, reason: 'the hello was refused' },
    ]);
    await expect(peer.opened).rejects.toMatchObject({ code: 'REMOTE', message: 'bad token' });
    expect(await accepted.closed).toMatchObject({ willRetry: false });
    expect(time.isOver()).toBe(true);
  });

  /** A hello, and a second stream of a dialer that continues after any answer. */
  async function insisting(onHello: StreamHandler, hang: (peer: Peer) => void = () => undefined, { end } = { end: true }) {
    const { network } = greeted({}, { onHello, onStream: echo, helloTimeoutMs: 500 });
    const { link, peer } = network.last;
    hang(peer);
    const sent = framesOf(peer);
    await time.advance();
    link.inject('acceptor', JSON.stringify({ type: 'open', stream: 1, headers: MARK, payload: 'me', end }));
    await time.advance(100);
    link.inject('acceptor', JSON.stringify({ type: 'open', stream: 3, payload: 'second', end: true }));
    await time.advance(10);
    return { sent, peer };
  }

  it.each<[string, StreamHandler]>([
    [
      'resets it',
      (_, stream) => {
        stream.reset(300, 'not you');
      },
    ],
    [
      'refuses it',
      (_, stream) => {
        stream.reset(7);
      },
    ],
    [
      'resets it with NO_ERROR, which is no answer',
      (_, stream) => {
        stream.reset(0);
      },
    ],
    [
      'resets it later',
      async (_, stream) => {
        await Promise.resolve();
        stream.reset(300, 'not you');
      },
    ],
    ['throws', () => Promise.reject(new Error('not you'))],
  ])('An acceptor closes the connection when the hello handler %s: a dialer that continues gets no answer', async (_what, onHello) => {
    const { sent, peer } = await insisting(onHello);
    expect(sent.map((frame) => frame['type'])).toEqual(['reset', 'goaway']);
    expect(sent.at(-1)).toMatchObject({ code: 7, reason: 'the hello was refused' });
    expect(peer.status.state).toBe('closed');
  });

  it('An end alone answers a hello, even when the dialer has not ended it', async () => {
    const onHello: StreamHandler = (_, stream) => {
      void stream.end();
      return new Promise(() => undefined);
    };
    const { sent } = await insisting(onHello, undefined, { end: false });
    expect(sent).toEqual([
      { type: 'data', stream: 1, end: true },
      { type: 'data', stream: 3, end: true, payload: 'second' },
    ]);
  });

  it('An acceptor closes the connection when an interceptor has reset the hello, and does not run the hello handler', async () => {
    const met: unknown[] = [];
    const { sent } = await insisting(
      (payload) => met.push(payload),
      (peer) => {
        peer.interceptIncomingHeaders((_headers, stream) => {
          stream.reset(300, 'no token');
        });
      },
    );
    expect([met, sent.map((frame) => frame['type'])]).toEqual([[], ['reset', 'goaway']]);
  });

  it('An acceptor accepts other streams after its reply to the hello, while the hello handler still works', async () => {
    const { sent } = await insisting(async (_, stream) => {
      await stream.reply('welcome');
      await new Promise(() => undefined);
    });
    expect(sent).toEqual([
      { type: 'data', stream: 1, end: true, payload: 'welcome' },
      { type: 'data', stream: 3, end: true, payload: 'second' },
    ]);
    await time.advance(10_000);
    expect(sent).toHaveLength(2);
  });

  it('The first payload is the reply to a hello, even when its end comes later', async () => {
    const { sent, peer } = await insisting(async (_, stream) => {
      await stream.send('welcome');
      await new Promise(() => undefined);
    });
    expect(sent).toEqual([
      { type: 'data', stream: 1, payload: 'welcome' },
      { type: 'data', stream: 3, end: true, payload: 'second' },
    ]);
    expect(peer.status.state).toBe('open');
  });

  it('A hello stays accepted when the dialer cancels it after the reply', async () => {
    const onHello: StreamHandler = async (_, stream) => {
      await stream.send('welcome');
      await stream.send('and more');
      await new Promise((_resolve, reject) => stream.signal.addEventListener('abort', reject));
    };
    const { network, peer } = unsaid({ onHello, onStream: echo });
    const answer = peer.request('a');
    await time.advance(100);
    expect([await answer, network.last.peer.status.state]).toEqual(['a', 'open']);
  });

  it('A reset after a payload rejects the hello', async () => {
    const { sent, peer } = await insisting((_, stream) => {
      void stream.send('go away');
      stream.reset(300, 'not you');
    });
    expect(sent.map((frame) => frame['type'])).toEqual(['data', 'reset', 'goaway']);
    expect(peer.status.state).toBe('closed');
  });

  it('An acceptor closes the connection when the hello handler rejects after its reply', async () => {
    const { sent } = await insisting(async (_, stream) => {
      await stream.reply('welcome');
      throw new Error('on second thoughts');
    });
    expect(sent.map((frame) => frame['type'])).toEqual(['data', 'goaway']);
  });

  it('An acceptor answers a hello whose dialer has not ended it', async () => {
    const { network } = greeted({}, { onHello: (payload, stream) => void welcome(payload, stream), onStream: echo });
    const { link, peer } = network.last;
    const sent = framesOf(peer);
    await time.advance();
    link.inject('acceptor', JSON.stringify({ type: 'open', stream: 1, headers: MARK, payload: 'me' }));
    link.inject('acceptor', JSON.stringify({ type: 'open', stream: 3, payload: 'second', end: true }));
    await time.advance();
    expect(sent).toEqual([
      { type: 'data', stream: 1, end: true, payload: 'welcome me' },
      { type: 'reset', stream: 1, code: 0 },
      { type: 'data', stream: 3, end: true, payload: 'second' },
    ]);
  });

  it.each<[string, ConnectOptions, StreamHandler]>([
    ['does not come', {}, welcome],
    ['is not answered', { hello: () => ({}), helloTimeoutMs: 0 }, () => new Promise(() => undefined)],
  ])('An acceptor closes the connection when the hello %s in time', async (_what, options, onHello) => {
    const { network } = greeted(options, { onHello, helloTimeoutMs: 500 });
    const sent = framesOf(network.last.peer);
    await time.advance(499);
    expect(sent).toEqual([]);
    await time.advance(2_001);
    expect(sent).toEqual([expect.objectContaining({ type: 'goaway', code: 7 })]);
    expect(network.last.peer.status.state).toBe('closed');
  });

  it.each<[string, Envelope, number]>([
    ['sends data after its end', { type: 'data', stream: 1, payload: 'again' }, 5],
    ['sends a fragment after it', { type: 'open', stream: 1, fragment: '"x', more: true }, 1],
  ])('An acceptor resets a hello whose dialer %s, and refuses the next stream', async (_what, frame, code) => {
    const { network } = greeted({}, { onHello: () => new Promise(() => undefined), helloTimeoutMs: 500, onStream: echo });
    const { link, peer } = network.last;
    const sent = framesOf(peer);
    await time.advance();
    for (const each of [
      { type: 'open', stream: 1, headers: MARK, payload: 'bad token', end: true },
      frame,
      { type: 'open', stream: 3, payload: 'let me in', end: true },
    ])
      link.inject('acceptor', JSON.stringify(each));
    await time.advance();
    expect(sent).toEqual([
      expect.objectContaining({ type: 'reset', stream: 1, code }),
      expect.objectContaining({ type: 'reset', stream: 3, code: 7 }),
    ]);
    await time.advance(500);
    expect(sent.slice(2)).toEqual([expect.objectContaining({ type: 'goaway', code: 7 })]);
  });

  it.each([0, 8])('An acceptor refuses the next stream when the dialer resets the hello with %i before the answer', async (code) => {
    const { network } = greeted({}, { onHello: () => new Promise(() => undefined), helloTimeoutMs: 500, onStream: echo });
    const { link, peer } = network.last;
    const sent = framesOf(peer);
    await time.advance();
    for (const frame of [
      { type: 'open', stream: 1, headers: MARK, payload: 'me', end: true },
      { type: 'reset', stream: 1, code },
      { type: 'open', stream: 3, payload: 'let me in', end: true },
    ])
      link.inject('acceptor', JSON.stringify(frame));
    await time.advance();
    expect(sent).toEqual([expect.objectContaining({ type: 'reset', stream: 3, code: 7 })]);
    await time.advance(500);
    expect(sent.slice(1)).toEqual([expect.objectContaining({ type: 'goaway', code: 7 })]);
  });

  it('A hello has no time-out after its answer, and leaves no timer after a lost socket', async () => {
    const answered = unsaid({ onHello: welcome, helloTimeoutMs: 500 });
    await time.advance(1_000);
    expect(answered.peer.status.state).toBe('open');
    const lost = greeted({}, { onHello: welcome });
    await time.advance(10);
    lost.network.last.link.cut();
    void answered.peer.close();
    await time.advance(10);
    expect(time.isOver()).toBe(true);
  });
});

describe('hello limits', () => {
  const time = virtualPeerTime();
  collectLogs();

  const KIB = 1024;
  const NEVER: StreamHandler = () => new Promise(() => undefined);
  const { maxPayloadBytes, maxPayloadItems, maxHeldBytes } = DEFAULT_HELLO_LIMITS;

  /** JSON of exactly `bytes` bytes. */
  const text = (bytes: number): string => 'x'.repeat(bytes - 2);

  /** An acceptor, and a dialer without the library that sends the given frames. */
  async function accepting(options: NetworkOptions) {
    const { network } = greeted({}, { helloTimeoutMs: 60_000, onStream: echo, ...options });
    const { link, peer } = network.last;
    const sent = framesOf(peer);
    await time.advance();
    const send = async (...frames: readonly Envelope[]): Promise<void> => {
      for (const frame of frames) link.inject('acceptor', JSON.stringify(frame));
      await time.advance(10);
    };
    return { sent, send, peer };
  }

  /** The frames of an open whose payload is JSON of `bytes` bytes, in slices of 32 KiB. */
  function opened(stream: number, bytes: number): readonly Envelope[] {
    const json = JSON.stringify(text(bytes));
    const slices: Envelope[] = [];
    for (let from = 0; from < json.length; from += 32 * KIB)
      slices.push({ type: 'open', stream, fragment: json.slice(from, from + 32 * KIB), more: true });
    if (stream === 1) slices[0] = { ...slices[0], headers: MARK };
    return [...slices.slice(0, -1), { ...slices.at(-1), more: false, end: true }];
  }

  const begun = (stream: number, bytes: number): Envelope => ({ type: 'open', stream, fragment: 'x'.repeat(bytes), more: true });
  const items = (count: number): readonly number[] => Array.from({ length: count - 1 }, () => 0);

  describe('Acceptor before it has accepted the hello', () => {
    it('An acceptor accepts a hello of 64 KiB', async () => {
      const { sent, send } = await accepting({ onHello: (_, stream) => stream.reply('welcome') });
      await send(...opened(1, maxPayloadBytes));
      expect(sent).toEqual([{ type: 'data', stream: 1, end: true, payload: 'welcome' }]);
    });

    it.each<[string, readonly Envelope[], string]>([
      ['in fragments', opened(1, maxPayloadBytes + 1), `payload of at least ${maxPayloadBytes + 1} bytes`],
      ['in one piece', [{ type: 'open', stream: 1, payload: text(maxPayloadBytes + 1) }], `payload of ${maxPayloadBytes + 1} bytes`],
    ])(
      'An acceptor resets a hello over 64 KiB with PAYLOAD_TOO_LARGE and a reason that names the hello: %s',
      async (_how, frames, what) => {
        const { sent, send } = await accepting({ onHello: welcome });
        await send(...frames);
        const reason = `${what} is over the receiver's limit of ${maxPayloadBytes} (maxPayloadBytes), before the hello was accepted`;
        expect(sent).toEqual([{ type: 'reset', stream: 1, code: 6, reason }]);
      },
    );

    it('An acceptor ends a connection for a message of more than 10 000 items', async () => {
      const { sent, send, peer } = await accepting({ onHello: welcome });
      await send({ type: 'open', stream: 1, payload: items(maxPayloadItems + 1) });
      const reason = `codec 'json': expected at most ${maxPayloadItems} items (maxPayloadItems), got more, before the hello was accepted`;
      expect(sent).toEqual([{ type: 'goaway', code: 1, last_stream: 0, reason }]);
      expect(await peer.closed).toMatchObject({ code: 1002, reason });
    });

    it('An acceptor resets a stream for fragments of more than 10 000 items', async () => {
      const { sent, send } = await accepting({ onHello: welcome });
      const json = JSON.stringify(items(maxPayloadItems + 1));
      await send(
        { type: 'open', stream: 1, fragment: json.slice(0, 9), more: true },
        { type: 'open', stream: 1, fragment: json.slice(9), end: true },
      );
      const reason = `codec 'json': expected at most ${maxPayloadItems} items (maxPayloadItems), got more, before the hello was accepted`;
      expect(sent).toEqual([{ type: 'reset', stream: 1, code: 1, reason }]);
    });

    it('An acceptor holds 1 MiB of unfinished payloads, and resets the stream that exceeds it', async () => {
      const { sent, send } = await accepting({ onHello: NEVER });
      const pieces = maxHeldBytes / (32 * KIB);
      await send(...Array.from({ length: pieces }, (_, nth) => begun(1 + 2 * nth, 32 * KIB)));
      expect(sent).toEqual([]);
      await send(begun(1 + 2 * pieces, 1));
      const reason = `${maxHeldBytes + 64} bytes held by this connection are over the limit of ${maxHeldBytes} (maxHeldBytes), before the hello was accepted`;
      expect(sent).toEqual([{ type: 'reset', stream: 1 + 2 * pieces, code: 11, reason }]);
    });

    it('An acceptor counts headers in the same limit', async () => {
      const { sent, send } = await accepting({ onHello: NEVER });
      await send({ type: 'open', stream: 1, headers: { token: 'x'.repeat(maxHeldBytes - 100) } });
      expect(sent).toEqual([
        expect.objectContaining({
          type: 'reset',
          code: 11,
          reason: expect.stringMatching(/\(maxHeldBytes\), before the hello was accepted$/),
        }),
      ]);
    });

    it('An acceptor applies the same limits to the answers to its own calls', async () => {
      const { send, peer } = await accepting({ onHello: NEVER });
      const answer = expect(peer.request('who are you')).rejects.toThrow(/maxPayloadBytes\), before the hello was accepted/);
      await send({ type: 'data', stream: 2, payload: text(maxPayloadBytes + 1), end: true });
      await answer;
    });
  });

  describe('Acceptor after it has accepted the hello', () => {
    const answers: readonly (readonly [string, StreamHandler])[] = [
      ['by a reply', (_, stream) => stream.reply()],
      ['by a payload, while its handler continues', (payload, stream) => (void stream.send('welcome'), NEVER(payload, stream))],
      ['by an end', (payload, stream) => (void stream.end(), NEVER(payload, stream))],
      ['by its handler’s end', () => undefined],
    ];

    it.each(answers)('An acceptor that has accepted the hello applies its own limits: %s', async (_how, onHello) => {
      const { sent, send, peer } = await accepting({ onHello, onStream: (_, stream) => stream.reply('taken') });
      await send({ type: 'open', stream: 1, headers: MARK, payload: 'me', end: true });
      await send(
        ...opened(3, 3 * maxPayloadBytes),
        { type: 'open', stream: 5, payload: items(2 * maxPayloadItems), end: true },
        ...[7, 9, 11].map((stream) => begun(stream, maxHeldBytes / 2)),
      );
      const taken = [3, 5].map((stream) => ({ type: 'data', stream, end: true, payload: 'taken' }));
      expect(sent.filter(({ stream }) => Number(stream) > 1)).toEqual(taken);
      expect(peer.status.state).toBe('open');
    });

    it('An acceptor that has accepted the hello does not mention it in the reason of a reset', async () => {
      const { sent, send } = await accepting({ onHello: (_, stream) => stream.reply(), limits: { maxPayloadBytes: 100 * KIB } });
      await send({ type: 'open', stream: 1, headers: MARK, payload: 'me', end: true }, ...opened(3, 100 * KIB + 1));
      expect(sent.at(-1)).toEqual({
        type: 'reset',
        stream: 3,
        code: 6,
        reason: `payload of at least ${100 * KIB + 1} bytes is over the receiver's limit of ${100 * KIB} (maxPayloadBytes)`,
      });
    });

    it.each<[string, StreamHandler]>([
      ['sends headers alone', (payload, stream) => (stream.sendHeaders({ server: 'a' }), NEVER(payload, stream))],
      ['resets the hello', (_, stream) => (stream.reset(300, 'not you'), NEVER(null, stream))],
    ])('An acceptor keeps the narrow limits when it %s', async (_what, onHello) => {
      const { sent, send } = await accepting({ onHello });
      await send({ type: 'open', stream: 1, headers: MARK, payload: 'me', end: true });
      await send(...opened(3, maxPayloadBytes + 1));
      expect(sent.at(-1)).toMatchObject({ type: 'reset', stream: 3, code: 6 });
    });
  });

  describe('Dialer that sends a hello', () => {
    it('A dialer may make large calls at once: they wait for the answer to the hello', async () => {
      const { peer } = greeted({ hello: () => ({ payload: 'me' }) }, { onHello: later(100, welcome), onStream: echo });
      const load = text(2 * maxHeldBytes);
      const answers = Promise.all([peer.request(load), peer.request(items(2 * maxPayloadItems))]);
      await time.advance(500);
      expect((await answers).map((answer) => JSON.stringify(answer).length)).toEqual([
        load.length + 2,
        JSON.stringify(items(2 * maxPayloadItems)).length,
      ]);
    });

    it('A dialer reports in the error of its dial that its hello was too large', async () => {
      const { peer } = greeted({ hello: () => ({ payload: text(maxPayloadBytes + 1) }) });
      const failed = expect(peer.opened).rejects.toMatchObject({
        code: 'RESET',
        resetCode: 6,
        reason: expect.stringContaining('(maxPayloadBytes), before the hello was accepted'),
      });
      await time.advance(3_000);
      await failed;
    });

    it('A dialer gets the limits of the peer when the acceptor expects no hello', async () => {
      const { sent, send } = await accepting({});
      await send(...opened(3, 3 * maxPayloadBytes));
      expect(sent.filter(({ type }) => type === 'reset')).toEqual([]);
    });
  });

  describe('helloLimits', () => {
    it('`helloLimits` may be wider than the defaults', async () => {
      const { sent, send } = await accepting({
        onHello: (_, stream) => stream.reply('welcome'),
        helloLimits: { maxPayloadBytes: 200 * KIB },
      });
      await send(...opened(1, 200 * KIB));
      expect(sent).toEqual([{ type: 'data', stream: 1, end: true, payload: 'welcome' }]);
    });

    it.each<[string, Partial<Limits>]>([
      ['maxPayloadBytes', { maxPayloadBytes: 1 }],
      ['maxPayloadItems', { maxPayloadItems: 1 }],
      ['maxHeldBytes', { maxHeldBytes: 1 }],
    ])('`helloLimits` are never wider than `limits`: %s', (_name, limits) => {
      const wide = resolveLimits(limits);
      expect(narrowed(wide, resolveHelloLimits({ maxHeldBytes: Infinity }))).toMatchObject(limits);
    });

    it('`helloLimits` narrow the limits of the peer', () => {
      expect(narrowed(DEFAULT_LIMITS, DEFAULT_HELLO_LIMITS)).toMatchObject(DEFAULT_HELLO_LIMITS);
    });

    it.each<[unknown, string]>([
      [{ maxStreams: 5 }, "helloLimits: expected one of maxPayloadBytes, maxPayloadItems, maxHeldBytes, got 'maxStreams'"],
      [{ maxPayloadItems: 0 }, 'helloLimits.maxPayloadItems: expected a number of at least 1, got 0'],
      [{ maxHeldBytes: '1' }, "helloLimits.maxHeldBytes: expected a number of at least 0, got '1'"],
      [5, 'helloLimits: expected an object, got 5'],
    ])('`resolveHelloLimits` throws for %p', (given, message) => {
      expect(() => resolveHelloLimits(given as object)).toThrow(new TypeError(message));
    });
  });
});

describe('hello dialer', () => {
  const time = virtualPeerTime();

  const logs = collectLogs();

  describe('Hello of a dialer', () => {
    it('The hello is the first stream, has the shape of a request, and skips the open interceptors', async () => {
      const interceptor = jest.fn<OpenInterceptor>();
      const { peer, sent } = greeted({ hello: () => ({ payload: 'me', headers: { token: 't' } }) });
      peer.interceptOpen(interceptor);
      const answer = peer.request('p');
      await time.advance();
      expect(sent).toEqual([
        { type: 'open', stream: 1, end: true, headers: { ...MARK, token: 't' }, payload: 'me' },
        { type: 'open', stream: 3, end: true, payload: 'p' },
      ]);
      expect(interceptor.mock.calls).toEqual([[{}, 'p']]);
      expect(await answer).toBe('p');
    });

    it('Opens of the user and `opened` wait for the reply to the hello', async () => {
      const { peer, sent } = greeted({ hello: () => ({}) }, { onHello: later(100, welcome), onStream: echo });
      const seen: string[] = [];
      void peer.opened.then(() => seen.push('opened'));
      void peer.request('p').then(() => seen.push('answered'));
      await time.advance(99);
      expect([sent.length, seen, peer.status.state]).toEqual([1, [], 'connecting']);
      await time.advance(1);
      expect([sent.length, seen, peer.status.state]).toEqual([2, ['opened', 'answered'], 'open']);
    });

    it.each<[string, (context: DialContext) => Hello | Promise<Hello>, object]>([
      ['a payload', () => ({ payload: { a: 1 } }), { payload: { a: 1 } }],
      ['a null payload', () => ({ payload: null }), { payload: null }],
      ['nothing', () => ({}), {}],
      ['a promise', () => Promise.resolve({ payload: 'later' }), { payload: 'later' }],
    ])('The hello may be %s', async (_what, hello, fields) => {
      const { peer, sent } = greeted({ hello });
      await time.advance();
      expect(sent).toEqual([{ type: 'open', stream: 1, end: true, headers: MARK, ...fields }]);
      expect(peer.status.state).toBe('open');
    });

    it('`onReply` receives the reply and the stream of the hello before any waiting call leaves', async () => {
      const seen: unknown[] = [];
      const { peer, sent } = greeted({
        hello: () => ({ payload: 'me', onReply: (reply, stream) => seen.push(reply, stream.id, stream.replyHeaders, sent.length) }),
      });
      void peer.request('p');
      await time.advance();
      expect(seen).toEqual(['welcome me', 1, {}, 1]);
    });

    it('`onReply` that throws is logged, and the peer still opens', async () => {
      const { peer } = greeted({
        hello: () => ({
          onReply: () => {
            throw new Error('broken');
          },
        }),
      });
      await time.advance();
      expect([peer.status.state, logs.errors]).toEqual(['open', ['rxmux: onReply of the hello failed']]);
    });

    it('The hello function runs on every dial, and receives facts of the earlier dials', async () => {
      const contexts: DialContext[] = [];
      const { network, peer } = greeted({
        reconnect: { minDelayMs: 10, maxDelayMs: 10 },
        hello: (context) => {
          contexts.push(context);
          return { payload: contexts.length };
        },
      });
      await time.advance();
      network.last.link.cut({ reason: 'gone' });
      await time.advance(10);
      expect(contexts).toEqual([
        expect.objectContaining({ attempt: 1, reconnects: 0, last: null }),
        expect.objectContaining({ attempt: 2, reconnects: 1, last: { code: 1006, reason: 'gone', wasClean: false, willRetry: true } }),
      ]);
      void peer.close();
    });

    const refusal = new Error('no cursor');
    /** The message names the type and not the value, which may be a secret. */
    const notAHello = (got: string): object => {
      const message = `hello(): expected { payload, headers, onReply }, got ${got}`;
      return { code: 'CONNECT', message, cause: new TypeError(message) };
    };

    it.each<[string, ConnectOptions['hello'], StreamHandler, object]>([
      [
        'that is reset',
        () => ({}),
        (_, stream) => {
          stream.reset(300, 'not you');
        },
        { code: 'RESET', resetCode: 300, reason: 'not you' },
      ],
      ['whose handler fails', () => ({}), () => Promise.reject(new Error('bad token')), { code: 'REMOTE', message: 'bad token' }],
      [
        'function that throws',
        () => {
          throw refusal;
        },
        welcome,
        { code: 'CONNECT', message: 'no cursor', cause: refusal },
      ],
      ['function that rejects', () => Promise.reject(refusal), welcome, { code: 'CONNECT', message: 'no cursor', cause: refusal }],
      ['that cannot be sent', () => ({ payload: 1n }), welcome, { code: 'CONNECT' }],
      ['that is a payload', () => ({ token: 'secret' }) as Hello, welcome, notAHello("'token': write { payload: { token } }")],
      ['function that returns undefined', () => undefined as unknown as Hello, welcome, notAHello('undefined')],
      ['function that returns null', () => null as unknown as Hello, welcome, notAHello('null')],
      ['function that returns an array', () => ['secret'] as unknown as Hello, welcome, notAHello('array')],
      ['function that resolves with a bare token', () => Promise.resolve('secret' as unknown as Hello), welcome, notAHello('string')],
    ])('A hello %s makes the dial fail', async (_what, hello, onHello, error) => {
      const { peer, reasons } = greeted({ hello }, { onHello });
      const outcome = settled(peer.request('p'));
      await time.advance(3_000);
      await expect(peer.opened).rejects.toMatchObject(error);
      // No frame of the call has left, even when the stream of the hello was open.
      expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'CONNECT', retriable: true }) });
      expect(await settled(peer.request('late'))).toEqual({ error: expect.objectContaining({ code: 'CONNECT', retriable: true }) });
      expect(reasons).toHaveLength(1);
      expect(reasons[0]).toMatchObject({ willRetry: false });
      expect(time.isOver()).toBe(true);
    });

    it('A refused hello is the cause of the error of the waiting calls', async () => {
      const { peer } = greeted({ hello: () => ({}) }, { onHello: () => Promise.reject(new Error('bad token')) });
      const outcome = settled(peer.request('p'));
      await time.advance(3_000);
      expect(await outcome).toEqual({
        error: expect.objectContaining({
          name: 'ConnectError',
          message: 'the hello has failed: bad token',
          cause: expect.objectContaining({ code: 'REMOTE', streamId: 1 }),
        }),
      });
      expect(logs.warnings).toEqual([]);
    });

    it('The reconnect helper repeats a refused hello within its budget', async () => {
      let refusals = 0;
      const { network, peer, reasons } = greeted(
        { reconnect: { minDelayMs: 10, maxDelayMs: 10 }, hello: () => ({}) },
        { onHello: (payload, stream) => (++refusals < 3 ? Promise.reject(new Error('busy')) : stream.reply(payload)) },
      );
      await time.advance(200_000);
      expect([network.dials.length, peer.status.state, reasons.length]).toEqual([3, 'open', 2]);
      expect(logs.warnings).toEqual([
        'rxmux: a dial failed, and more follow: the hello has failed: busy',
        'rxmux: connected to wss://example.org/mux after 2 failed dials',
      ]);
      void peer.close();
    });

    it('A hello whose socket is lost reports the loss, and no failure of its own', async () => {
      const { network, peer, reasons } = greeted(
        { reconnect: true, hello: () => ({}) },
        { onHello: (payload, stream) => (network.dials.length === 1 ? new Promise(() => undefined) : stream.reply(payload)) },
      );
      await time.advance();
      network.last.link.cut();
      await time.advance(2_000);
      expect([reasons, network.dials.length, peer.status.state]).toEqual([
        [{ code: 1006, reason: '', wasClean: false, willRetry: true }],
        2,
        'open',
      ]);
      expect(logs.warnings).toEqual([
        'rxmux: a dial failed, and more follow: the connection to wss://example.org/mux could not be opened (1006)',
        'rxmux: connected to wss://example.org/mux after 1 failed dial',
      ]);
      void peer.close();
    });

    it.each<[string, number, number]>([
      ['10 s by default', NaN, 10_000],
      ['helloTimeoutMs', 300, 300],
    ])('The dialer waits %s for the reply to its hello', async (_what, helloTimeoutMs, ms) => {
      const options = Number.isNaN(helloTimeoutMs) ? {} : { helloTimeoutMs };
      const { peer } = greeted({ hello: () => ({}), ...options }, { onHello: () => new Promise(() => undefined), helloTimeoutMs: 0 });
      const outcome = settled(peer.opened);
      await time.advance(ms - 1);
      expect(peer.status.state).toBe('connecting');
      await time.advance(2_001);
      expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'DEADLINE_EXCEEDED', timeoutMs: ms }) });
      expect(time.isOver()).toBe(true);
    });

    it('The dialer waits `helloTimeoutMs` for the hello function', async () => {
      const { peer, sent } = greeted({ hello: () => new Promise(() => undefined), helloTimeoutMs: 300 });
      const outcome = settled(peer.opened);
      await time.advance(3_000);
      expect(await outcome).toEqual({
        error: expect.objectContaining({ code: 'CONNECT', message: 'expected a hello to send within 300 ms, got none' }),
      });
      expect(sent).toEqual([{ type: 'goaway', code: 0, last_stream: 0 }]);
      expect(time.isOver()).toBe(true);
    });

    it('The hello function and the reply share one `helloTimeoutMs`', async () => {
      const hello = async (): Promise<object> => {
        await firstValueFrom(timer(250));
        return {};
      };
      const { peer, sent } = greeted({ hello, helloTimeoutMs: 300 }, { onHello: () => new Promise(() => undefined), helloTimeoutMs: 0 });
      const outcome = settled(peer.opened);
      await time.advance(299);
      expect(sent.map((frame) => frame['type'])).toEqual(['open']);
      await time.advance(1);
      expect(sent.map((frame) => frame['type'])).toEqual(['open', 'reset', 'goaway']);
      await time.advance(2_000);
      expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'DEADLINE_EXCEEDED' }) });
      expect(time.now).toBe(2_300);
      expect(time.isOver()).toBe(true);
    });

    it('The dialer waits for ever with `helloTimeoutMs` 0', async () => {
      const { peer } = greeted(
        { hello: () => ({}), helloTimeoutMs: 0 },
        { onHello: () => new Promise(() => undefined), helloTimeoutMs: 0 },
      );
      await time.advance(86_400_000);
      expect(peer.status.state).toBe('connecting');
    });

    it('A hello function that closes the peer prevents the hello, and leaves no timer', async () => {
      const { network, peer, sent } = greeted({
        lazy: true,
        reconnect: true,
        hello: () => {
          void peer.close();
          return { payload: 'too late' };
        },
      });
      const outcome = settled(peer.request('p'));
      await time.advance(5_000);
      expect(await outcome).toEqual({ error: expect.objectContaining({ retriable: true }) });
      expect(sent.map((frame) => frame['type'])).toEqual(['goaway']);
      expect([network.dials.length, peer.status.state]).toEqual([1, 'closed']);
      expect(time.isOver()).toBe(true);
    });

    it.each<[string, boolean]>([
      ['at once', true],
      ['while it is being made', false],
    ])('The dialer sends no hello on a socket that is lost %s', async (_when, atOnce) => {
      const line = new MemoryLink({ protocol: 'mux.v1.json' });
      let said: (hello: Hello) => void = () => undefined;
      const peer = connectOver(
        'ws://test',
        {
          keepalive: false,
          lazy: true,
          hello: () => {
            if (atOnce) line.cut();
            return atOnce ? { payload: 'too late' } : new Promise((resolve) => (said = resolve));
          },
        },
        () => line.ends.dialer,
      );
      const sent = framesOf(peer);
      const outcome = settled(peer.request('p'));
      await time.advance();
      line.cut();
      said({ payload: 'too late' });
      await time.advance();
      expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'CONNECT', retriable: true }) });
      expect([sent, peer.status.state]).toEqual([[], 'closed']);
      expect(time.isOver()).toBe(true);
    });

    it('The hello function does not run for a socket that ends on its first read', async () => {
      const transport = new ScriptedTransport();
      Object.defineProperty(transport, 'messages$', {
        get: () => {
          transport.end();
          return EMPTY;
        },
      });
      const hello = jest.fn(() => ({}));
      const peer = connectOver('ws://test', { keepalive: false, reconnect: true, hello }, () => transport);
      expect([peer.status.state, hello.mock.calls]).toEqual(['waiting', []]);
      await peer.close();
    });

    it('The signal of the hello function aborts when the socket is lost meanwhile', async () => {
      const signals: AbortSignal[] = [];
      const { network, peer } = greeted({
        reconnect: { minDelayMs: 1_000, maxDelayMs: 1_000 },
        hello: ({ signal }) => {
          signals.push(signal);
          return new Promise(() => undefined);
        },
      });
      await time.advance();
      network.last.link.cut();
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      void peer.close();
    });

    it('A hello that has not left is dropped with its socket, and the next socket has its own', async () => {
      const { network, peer } = greeted({ reconnect: { minDelayMs: 10, maxDelayMs: 10 }, hello: ({ attempt }) => ({ payload: attempt }) });
      const seen: unknown[] = [];
      peer.onFrame((direction, frame) => {
        if (direction === 'tx') seen.push(frame.payload);
        // The socket ends on the first hello.
        if (seen.length === 1) network.last.link.cut();
      });
      await time.advance(100);
      expect([seen, peer.status.state]).toEqual([[1, 2], 'open']);
      void peer.close();
    });

    it('The dialer resets its hello at a second payload, and stays open', async () => {
      const { peer, sent } = greeted(
        { hello: () => ({}) },
        {
          onHello: (_, stream) => {
            void stream.send(1);
            void stream.send(2);
            return new Promise(() => undefined);
          },
        },
      );
      await time.advance();
      expect(peer.status.state).toBe('open');
      expect(sent.at(-1)).toMatchObject({ type: 'reset', stream: 1, code: 8 });
    });
  });

  describe('Peer with a hello', () => {
    it('Peer answers pushes of the remote during its hello', async () => {
      const { network, peer } = greeted({ hello: () => ({}), onStream: echo }, { onHello: later(100, welcome) });
      await time.advance(10);
      const pushed: Peer = network.last.peer;
      const answer = pushed.request('push');
      await time.advance(10);
      expect([await answer, peer.status.state]).toEqual(['push', 'connecting']);
    });
  });
});
