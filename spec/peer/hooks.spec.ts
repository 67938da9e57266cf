import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { NEVER, of, Subject, take, throwError } from 'rxjs';
import { JsonCodec } from '../../src/codec/json.js';
import { connect, logger } from '../../src/index.js';
import type { FrameEvent, Peer, PeerOptions, Stream } from '../../src/index.js';
import type { StreamHandler } from '../../src/peer/hooks.js';
import { hook, observeFrames } from '../../src/peer/operators/hooks.js';
import { createPair } from '../../src/testing.js';
import type { Codec } from '../../src/wire/codec.js';
import { BreakableCodec } from '../support/codec/breakable.js';
import { CODECS } from '../support/codec/shipped.js';
import { framesOf } from '../support/peer/frames.js';
import type { Envelope } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { Network } from '../support/peer/network.js';
import { settled } from '../support/peer/outcome.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { createPair as createPairFromTracked } from '../support/peer/tracked.js';
import { CountedCode, PLACES } from '../support/peer/user-code.js';
import type { Code } from '../support/peer/user-code.js';

describe('hooks', () => {
  const time = virtualPeerTime();

  const logs = collectLogs();

  describe('Every hook', () => {
    const KINDS: readonly (readonly [kind: string, (peer: Peer, hook: () => undefined) => () => void])[] = [
      ['interceptOpen', (peer, hook) => peer.interceptOpen(hook)],
      ['interceptReplyHeaders', (peer, hook) => peer.interceptReplyHeaders(hook)],
      ['interceptIncomingHeaders', (peer, hook) => peer.interceptIncomingHeaders(hook)],
      ['onFrame', (peer, hook) => peer.onFrame(hook)],
      ['onClose', (peer, hook) => peer.onClose(hook)],
    ];

    async function exchange(register: (peer: Peer) => void): Promise<void> {
      const { dialer, acceptor } = createPair();
      register(dialer);
      register(acceptor);
      acceptor.onStream((_, stream) => stream.reply('r'));
      void dialer.request('p');
      await time.advance();
      void dialer.close();
      await time.advance();
    }

    it.each(KINDS)('Hooks of `%s` run in the order of registration, and twice when registered twice', async (_kind, add) => {
      const seen: number[] = [];
      const first = (): undefined => void seen.push(1);
      const second = (): undefined => void seen.push(2);
      await exchange((peer) => {
        add(peer, first);
        add(peer, second);
        add(peer, first);
      });
      expect(seen.length).toBeGreaterThan(0);
      expect(seen).toEqual(Array.from({ length: seen.length / 3 }, () => [1, 2, 1]).flat());
    });

    it.each(KINDS)('`%s` returns a function that removes its hook, and may be called twice', async (_kind, add) => {
      const seen: string[] = [];
      const hook = (): undefined => void seen.push('once');
      await exchange((peer) => {
        const remove = add(peer, hook);
        add(peer, hook);
        remove();
        remove();
      });
      const kept: string[] = [];
      await exchange((peer) => {
        add(peer, () => void kept.push('once'));
      });
      expect(seen).toEqual(kept);
    });
  });

  describe('`onStream`', () => {
    it('`onStream` replaces an earlier handler with a warning', async () => {
      const { dialer, acceptor } = createPair();
      const first = jest.fn<StreamHandler>();
      acceptor.onStream(first);
      expect(logs.warnings).toEqual([]);
      acceptor.onStream((_, stream) => stream.reply('second'));
      expect(logs.warnings).toEqual([expect.stringContaining('second onStream handler')]);
      const answer = dialer.request();
      await time.advance();
      expect(await answer).toBe('second');
      expect(first).not.toHaveBeenCalled();
    });

    it('`onStream` returns a function that removes only its own handler', async () => {
      const { dialer, acceptor } = createPair();
      const removeFirst = acceptor.onStream((_, stream) => stream.reply('first'));
      const removeSecond = acceptor.onStream((_, stream) => stream.reply('second'));
      removeFirst();
      const answer = dialer.request();
      await time.advance();
      expect(await answer).toBe('second');
      removeSecond();
      const refused = settled(dialer.request());
      await time.advance();
      expect(await refused).toMatchObject({ error: { code: 'REFUSED', retriable: true } });
      acceptor.onStream((_, stream) => stream.reply('third'));
      expect(logs.warnings.filter((line) => line.includes('a second onStream handler'))).toHaveLength(1);
    });
  });

  describe('`onStream` of the same function', () => {
    const handler: StreamHandler = (_, stream) => stream.reply('mine');

    it.each<[string, (peer: Peer) => void]>([
      [
        'called twice',
        (peer) => {
          const remove = peer.onStream(handler);
          remove();
          peer.onStream(handler);
          remove();
        },
      ],
      [
        'of a replaced handler',
        (peer) => {
          const remove = peer.onStream(handler);
          peer.onStream(handler);
          remove();
        },
      ],
    ])('A function of `onStream` removes no later handler: %s', async (_what, act) => {
      const { dialer, acceptor } = createPair();
      act(acceptor);
      const answer = settled(dialer.request());
      await time.advance();
      expect(await answer).toEqual({ value: 'mine' });
    });
  });

  describe('Frame observer', () => {
    it("A frame observer sees each frame once: before a user's codec encodes it, or after the codec decoded it", async () => {
      const json = new JsonCodec();
      const seen: string[] = [];
      const codec: Codec = {
        name: 'json',
        binary: false,
        encode: (frame) => {
          seen.push(`encode ${frame.type}`);
          return json.encode(frame);
        },
        decode: (message) => {
          const frame = json.decode(message);
          seen.push(`decode ${frame.type}`);
          return frame;
        },
        encodePayload: (payload) => json.encodePayload(payload),
        decodePayload: (data) => json.decodePayload(data),
      };
      const { dialer, acceptor } = createPair({ dialer: { codec } });
      acceptor.onStream((_, stream) => stream.reply('r'));
      dialer.onFrame((direction, { type }) => seen.push(`${direction} ${type}`));
      void dialer.request('p');
      await time.advance();
      expect(seen).toEqual(['tx open', 'encode open', 'decode data', 'rx data']);
    });

    it('A frame observer receives the direction and the frame, and no other argument', async () => {
      const { dialer, acceptor } = createPair();
      const given: unknown[][] = [];
      dialer.onFrame((...args) => given.push(args));
      of(acceptor)
        .pipe(observeFrames((...args) => given.push(args)))
        .subscribe();
      dialer.notify('p');
      await time.advance();
      expect(new Set(given.map((args) => args.length))).toEqual(new Set([2]));
    });

    it('A frame observer cannot change frames: it sees a frozen copy, and its error is logged', async () => {
      const { dialer, acceptor } = createPair();
      for (const peer of [dialer, acceptor])
        peer.onFrame((_direction, frame) => {
          Object.assign(frame, { stream: 77 });
        });
      acceptor.onStream((payload, stream) => stream.reply(payload));
      const answer = settled(dialer.request('p'));
      await time.advance();
      expect(await answer).toEqual({ value: 'p' });
      expect(logs.errors).toEqual(Array<string>(4).fill('rxmux: a frame observer failed'));
    });
  });

  describe('Close handler', () => {
    it('A close handler that throws is logged, and the later ones still run', async () => {
      const { dialer, link } = createPair();
      const seen: number[] = [];
      dialer.onClose(() => {
        throw new Error('no');
      });
      dialer.onClose(({ code }) => seen.push(code));
      link.cut();
      await time.advance();
      expect([seen, logs.errors]).toEqual([[1006], ['rxmux: a close handler failed']]);
    });
  });

  describe('Hooks that an operator adds to peers', () => {
    it('`hook` removes its hook when a peer ends, and its other hooks when it is unsubscribed', async () => {
      const { dialer } = createPair();
      const { dialer: other } = createPair();
      const removed: string[] = [];
      const peers$ = new Subject<Peer>();
      const hanging = peers$.pipe(hook((peer) => () => void removed.push(peer === dialer ? 'ended' : 'live'))).subscribe();
      peers$.next(dialer);
      peers$.next(other);
      void dialer.close();
      await time.advance();
      expect(removed).toEqual(['ended']);
      hanging.unsubscribe();
      expect(removed).toEqual(['ended', 'live']);
    });
  });
});

describe('hostile user', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  const bomb = (): never => {
    throw new Error('bomb');
  };
  const dud = (): undefined => Promise.reject(new Error('dud')) as unknown as undefined;

  /** Uses every function of a stream. No failure reaches the caller. */
  async function exercise(peer: Peer, other: Peer): Promise<void> {
    const quietly = (act: () => unknown): void => {
      try {
        const result = act();
        if (result instanceof Promise) result.catch(() => undefined);
      } catch {
        // The caller handles the errors that a call throws.
      }
    };
    const ignore = { error: () => undefined };
    const withStream = (act: (stream: Stream) => unknown) => () => {
      const stream = peer.open('p', { headers: { a: 1 } });
      stream.subscribe(ignore);
      return act(stream);
    };
    const acts: readonly (() => unknown)[] = [
      () => peer.request('p'),
      () => {
        peer.notify('p');
      },
      () => peer.request$('p').subscribe(ignore),
      () => peer.open$('p', { input: of(1, 2) }).subscribe(ignore),
      () => peer.open$('p', { input: throwError(() => new Error('input')) }).subscribe(ignore),
      () => peer.open$('p').subscribe(ignore).unsubscribe(),
      () => peer.ping(),
      () => other.request('push'),
      withStream((stream) => stream.send(1)),
      withStream((stream) => stream.reply(1, { trailers: { t: 1 } })),
      withStream((stream) => stream.sendAll([1, 2, 3])),
      withStream((stream) => {
        stream.reset(300, 'why');
      }),
    ];
    for (const act of acts) {
      quietly(act);
      await time.advance();
    }
    quietly(() => other.close({ drainMs: 10 }));
    await time.advance(5_000);
  }

  describe.each([
    ['throws', bomb],
    ['returns a promise that rejects', dud],
  ])('User code that %s', (_how, code) => {
    /** Places whose failures reach this library. */
    const places = PLACES.filter(({ own }) => own !== true);

    it.each(places)('User code that fails in $place harms no other code: both peers continue, and close cleanly', async ({ hang }) => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((payload, stream) => stream.reply(payload));
      dialer.onStream((payload, stream) => stream.reply(payload));
      const counted = new CountedCode(code);
      hang(acceptor, counted.run);
      await exercise(dialer, acceptor);
      expect(counted.runs).toBeGreaterThan(0);
      expect([dialer.status, acceptor.status]).toEqual(
        [dialer, acceptor].map(() => ({
          state: 'closed',
          reason: { code: 1000, reason: '', wasClean: true, willRetry: false },
          error: null,
        })),
      );
      expect(time.isOver()).toBe(true);
    });

    it.each<[string, (code: Code) => PeerOptions]>([
      ['the error serializer', (errorSerializer) => ({ errorSerializer, onStream: bomb })],
      ['the onStream option', (onStream) => ({ onStream })],
    ])('User code that fails in %s causes one reset', async (_place, options) => {
      const counted = new CountedCode(code);
      const { dialer } = createPair({ acceptor: options(counted.run) });
      const answer = dialer.request('p').catch((error: unknown) => error);
      await time.advance();
      expect(await answer).toMatchObject({ code: 'REMOTE' });
      expect([counted.runs, dialer.status.state]).toEqual([1, 'open']);
    });

    it('User code that fails in every hook at once leaves both peers working', async () => {
      const serializer = new CountedCode(code);
      const { dialer, acceptor } = createPair({ acceptor: { errorSerializer: serializer.run } });
      const hooks = places.filter(({ place, takes }) => takes !== true || place === 'an observer of a stream');
      const counted = hooks.map(({ place, hang }) => {
        const each = new CountedCode(code);
        hang(acceptor, each.run);
        return { place, each };
      });
      await exercise(dialer, acceptor);
      expect([dialer.status.state, acceptor.status.state]).toEqual(['closed', 'closed']);
      expect([...counted, { place: 'the error serializer', each: serializer }].filter(({ each }) => each.runs === 0)).toEqual([]);
      expect(logs.errors.length).toBeGreaterThan(0);
    });

    it('User code that fails around a dial makes the dial fail', async () => {
      const network = new Network({ onStream: (payload, stream) => stream.reply(payload) });
      const [hello, shouldRetry, onClose] = [new CountedCode(code), new CountedCode(code), new CountedCode(code)];
      const hooks = {
        hello: hello.run as unknown as () => object,
        reconnect: { minDelayMs: 1, maxDelayMs: 1, shouldRetry: shouldRetry.run as unknown as () => boolean },
      };
      const peer = connect('ws://test', { socket: network.socket, keepalive: false, ...hooks });
      peer.onClose(onClose.run);
      const answer = peer.request('p').catch((error: unknown) => error);
      await time.advance(60_000);
      expect(await answer).toMatchObject({ retriable: true });
      expect(peer.status.state).toBe('closed');
      expect([hello, shouldRetry, onClose].map(({ runs }) => runs > 0)).toEqual([true, true, true]);
      expect(time.isOver()).toBe(true);
    });
  });

  it.each<[what: string, input: (run: Code) => Iterable<number> | AsyncIterable<number>]>([
    [
      'that throws',
      (run) =>
        (function* () {
          run();
          yield 1;
        })(),
    ],
    [
      'whose return throws',
      (run) => {
        const results = [Promise.resolve({ done: false, value: 1 })];
        const next = (): Promise<IteratorResult<number>> => results.pop() ?? new Promise(() => undefined);
        const leave = (): Promise<IteratorResult<number>> => {
          run();
          return next();
        };
        return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
      },
    ],
  ])('An iterable %s does not disturb other streams', async (_what, input) => {
    const { dialer, acceptor } = createPair();
    const counted = new CountedCode(bomb);
    dialer.onStream((payload, stream) => stream.reply(payload));
    acceptor.onStream((_, stream) => stream.sendAll(input(counted.run)));
    await exercise(dialer, acceptor);
    expect([dialer.status.state, acceptor.status.state]).toEqual(['closed', 'closed']);
    expect(counted.runs).toBeGreaterThan(0);
  });
});

describe('frame events', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  /** Collects the frames of a peer that go one way, pings left out. */
  function framesOf(peer: Peer, way: 'tx' | 'rx'): FrameEvent[] {
    const seen: FrameEvent[] = [];
    peer.frames$.subscribe((event) => {
      if (event.direction === way && !/^p[io]ng$/.test(event.frame.type)) seen.push(event);
    });
    return seen;
  }

  describe.each(CODECS)('frames$ under %s', (_name, codec) => {
    it.each([
      ['a small payload', { op: 'sum', text: 'é😀' }],
      ['a payload in fragments', 'é'.repeat(200_000)],
    ])('Both ends of a connection report the same sizes of the frames of %s', async (_what, payload) => {
      const { dialer, acceptor } = createPairFromTracked({ codec });
      acceptor.onStream((value, stream) => stream.reply(value));
      const [sent, received] = [framesOf(dialer, 'tx'), framesOf(acceptor, 'rx')];
      const answer = settled(dialer.request(payload));
      await time.advance(1_000);
      expect(await answer).toEqual({ value: payload });
      expect(sent.length).toBeGreaterThan(0);
      expect(sent.map(({ frame, bytes }) => [frame.type, bytes])).toEqual(received.map(({ frame, bytes }) => [frame.type, bytes]));
      expect(sent.every(({ bytes }) => bytes > 0)).toBe(true);
    });
  });

  describe('frames$', () => {
    it('A frame has the time at which it leaves, and the time at which it arrives', async () => {
      const { dialer, acceptor } = createPairFromTracked({ latencyMs: 20 });
      const [sent, received] = [framesOf(dialer, 'tx'), framesOf(acceptor, 'rx')];
      dialer.notify('first');
      await time.advance(50);
      dialer.notify('second');
      await time.advance(50);
      const [first = NaN, second = NaN] = sent.map(({ at }) => at);
      expect(second - first).toBe(50);
      expect(received.map(({ at }) => at)).toEqual([first + 20, second + 20]);
    });

    it('A frame that cannot be encoded is seen by `onFrame` alone', async () => {
      const breakable = new BreakableCodec('json', ['encode', 'encodeWith']);
      const { dialer } = createPairFromTracked({ dialer: { codec: breakable.codec } });
      const observed: string[] = [];
      dialer.onFrame((direction, { type }) => observed.push(`${direction} ${type}`));
      const sent = framesOf(dialer, 'tx');
      breakable.breaksAt = ['encode', 'encodeWith'];
      const failed = settled(dialer.request('p'));
      await time.advance();
      expect(await failed).toHaveProperty('error');
      expect(observed).toEqual(['tx open']);
      expect(sent).toEqual([]);
      expect(logs.errors).toHaveLength(1);
    });

    it('A subscriber that closes the socket as a frame leaves sees no further frame, and the frame is not sent', async () => {
      const { dialer, acceptor, link } = createPairFromTracked();
      const arrived = framesOf(acceptor, 'rx');
      dialer.frames$.subscribe(() => {
        link.cut();
      });
      const lost = settled(dialer.request('p'));
      await time.advance();
      expect(await lost).toHaveProperty('error.code', 'CONNECTION_LOST');
      expect(arrived).toEqual([]);
    });

    it('A subscriber receives a frozen frame', async () => {
      const { dialer } = createPairFromTracked();
      const sent = framesOf(dialer, 'tx');
      dialer.notify('p');
      await time.advance();
      expect(sent.map(({ frame }) => Object.isFrozen(frame))).toEqual([true]);
    });
  });
});

describe('log frame', () => {
  const time = virtualPeerTime();
  const lines: string[] = [];

  beforeEach(() => {
    lines.length = 0;
    jest.spyOn(console, 'debug').mockImplementation((line: string) => {
      lines.push(line.replace(/peer \d+/, 'peer N'));
    });
  });

  afterEach(() => {
    logger.level = 'warn';
    jest.restoreAllMocks();
  });

  async function talk(): Promise<void> {
    const { dialer, acceptor } = createPairFromTracked();
    acceptor.onStream((_, stream) => stream.reply('secret answer', { headers: { key: 'secret header' }, trailers: { sum: 'secret sum' } }));
    const answers = [dialer.request({ question: 'secret' }, { headers: { token: 'secret' } }), dialer.request('x'.repeat(700_000))];
    await time.advance();
    await Promise.all(answers);
    dialer.open().reset(8, 'the user\u001b[2J left');
    dialer.open().reset(300);
    await time.advance();
    void dialer.close({ reason: 'new version' });
    await time.advance();
  }

  describe('Frame lines', () => {
    it('Frame lines appear at level debug: one for each frame and side, and one for all fragments of a payload', async () => {
      logger.level = 'debug';
      await talk();
      expect(lines.filter((line) => / tx (?!p[io]ng)/.test(line))).toEqual([
        'rxmux: peer N connection 1 tx open stream 1 end',
        'rxmux: peer N connection 1 tx data stream 1 end',
        'rxmux: peer N connection 1 tx open stream 3 end, 700002 bytes in 11 fragments, 0 ms',
        'rxmux: peer N connection 1 tx data stream 3 end',
        'rxmux: peer N connection 1 tx open stream 5',
        'rxmux: peer N connection 1 tx reset stream 5 CANCEL "the user\\u001b[2J left"',
        'rxmux: peer N connection 1 tx open stream 7',
        'rxmux: peer N connection 1 tx reset stream 7 300',
        'rxmux: peer N connection 1 tx data stream 5 end',
        'rxmux: peer N connection 1 tx data stream 7 end',
        'rxmux: peer N connection 1 tx goaway NO_ERROR last_stream 0 "new version"',
      ]);
      expect(lines.filter((line) => / rx (?!p[io]ng)/.test(line))).toHaveLength(11);
    });

    it('Frame lines contain no payload, headers or trailers, and no control characters of a reason', async () => {
      logger.level = 'debug';
      await talk();
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.filter((line) => line.includes('secret') || line.includes('\u001b'))).toEqual([]);
    });

    it.each(['info', 'warn', 'error', 'silent'] as const)('Frame lines do not appear at level %s', async (level) => {
      logger.level = level;
      await talk();
      expect(lines).toEqual([]);
    });

    it('Frame lines do not count fragments of a payload that a lost connection cut off', async () => {
      logger.level = 'debug';
      const { dialer, link } = createPairFromTracked();
      dialer.notify('x'.repeat(700_000));
      link.cut();
      await time.advance();
      expect(lines.filter((line) => line.includes('fragments'))).toEqual([]);
    });
  });

  describe('Connection lines', () => {
    it('Connection lines report each dial, open, wait and close, with the cause and the address without its query', async () => {
      logger.level = 'debug';
      const network = new Network();
      const peer = connect('ws://user:pw@host.test/mux?token=secret', {
        socket: network.socket,
        reconnect: { minDelayMs: 10, maxDelayMs: 10 },
      });
      await time.advance();
      network.last.link.cut();
      await time.advance(20);
      void peer.close();
      await time.advance();
      const told = lines.filter((line) => line.includes('(ws://host.test/mux)') && !/ [tr]x /.test(line));
      expect(told.map((line) => line.replace('rxmux: peer N (ws://host.test/mux) ', '').replace(/in \d+ ms/, 'in N ms'))).toEqual([
        'connects, attempt 1',
        'connection 1 opened',
        'is open',
        'connection 1 ended: 1006 ABNORMAL without a close handshake',
        'dials again in N ms, after 1006 ABNORMAL without a close handshake',
        'connects, attempt 2, after 1006 ABNORMAL without a close handshake',
        'connection 2 opened',
        'is open, sockets before: 1',
        'drains: close() was called',
        'connection 2 ended: 1000 CLEAN',
        'is closed: 1000 CLEAN',
      ]);
      expect(lines.filter((line) => line.includes('secret') || line.includes('pw'))).toEqual([]);
    });
  });
});

const open = (fields: Envelope = {}): Envelope => ({ type: 'open', stream: 1, ...fields });
const data = (fields: Envelope): Envelope => ({ type: 'data', stream: 1, ...fields });
const reset = (code: number, fields: Envelope = {}): Envelope => ({ type: 'reset', stream: 1, code, ...fields });

/** Sends `values`, and neither ends nor settles. */
const stays =
  (...values: readonly unknown[]): StreamHandler =>
  (_, stream) => {
    for (const value of values) void stream.send(value);
    return new Promise(() => undefined);
  };
const ignored = { error: () => undefined };

/** A call or a handler, and the frames that each side sends then. */
interface Row {
  readonly call: string;
  readonly act?: (dialer: Peer, acceptor: Peer) => unknown;
  readonly handler?: StreamHandler;
  readonly afterMs?: number;
  readonly dialer?: readonly Envelope[];
  readonly acceptor?: readonly Envelope[];
  readonly warnings?: readonly string[];
}

const OPENS: readonly Row[] = [
  { call: 'open(p)', act: (peer) => peer.open('p'), dialer: [open({ payload: 'p' })] },
  { call: 'open()', act: (peer) => peer.open(), dialer: [open()] },
  { call: 'open(undefined)', act: (peer) => peer.open(undefined), dialer: [open()] },
  { call: 'open(null)', act: (peer) => peer.open(null), dialer: [open({ payload: null })] },
  {
    call: 'open(p, { headers, end })',
    act: (peer) => peer.open('p', { headers: { a: 1 }, end: true }),
    dialer: [open({ end: true, headers: { a: 1 }, payload: 'p' })],
  },
  { call: 'open(p, { headers: {} })', act: (peer) => peer.open('p', { headers: {} }), dialer: [open({ payload: 'p' })] },
  {
    call: 'open(p, { headers with undefined })',
    act: (peer) => peer.open('p', { headers: { a: undefined } }),
    dialer: [open({ payload: 'p' })],
  },
  { call: 'request(p)', act: (peer) => void peer.request('p'), dialer: [open({ end: true, payload: 'p' })] },
  { call: 'request()', act: (peer) => void peer.request(), dialer: [open({ end: true })] },
  {
    call: 'request$(p, { headers })',
    act: (peer) => peer.request$('p', { headers: { a: 1 } }).subscribe(),
    dialer: [open({ end: true, headers: { a: 1 }, payload: 'p' })],
  },
  {
    call: 'notify(p)',
    act: (peer) => {
      peer.notify('p');
    },
    dialer: [open({ end: true, payload: 'p' })],
  },
  {
    call: 'notify(undefined, { headers })',
    act: (peer) => {
      peer.notify(undefined, { headers: { a: 1 } });
    },
    dialer: [open({ end: true, headers: { a: 1 } })],
  },
  { call: 'open$(p)', act: (peer) => peer.open$('p').subscribe(), dialer: [open({ end: true, payload: 'p' })] },
  {
    call: 'open$(p, { input })',
    act: (peer) => peer.open$('p', { input: [1, 2] }).subscribe(),
    dialer: [open({ payload: 'p' }), data({ payload: 1 }), data({ payload: 2 }), data({ end: true })],
  },
];

const OPENERS: readonly Row[] = [
  { call: 'send(v)', act: (peer) => peer.open().send('v'), dialer: [open(), data({ payload: 'v' })] },
  { call: 'send(null)', act: (peer) => peer.open().send(null), dialer: [open(), data({ payload: null })] },
  { call: 'end()', act: (peer) => peer.open().end(), dialer: [open(), data({ end: true })] },
  {
    call: 'end({ trailers })',
    act: (peer) => peer.open().end({ trailers: { rows: 2 } }),
    dialer: [open(), data({ end: true, trailers: { rows: 2 } })],
  },
  { call: 'end({ trailers: {} })', act: (peer) => peer.open().end({ trailers: {} }), dialer: [open(), data({ end: true })] },
  { call: 'reply(v)', act: (peer) => peer.open().reply('v'), dialer: [open(), data({ end: true, payload: 'v' })] },
  {
    call: 'sendHeaders() of the opener',
    act: (peer) => {
      peer.open().sendHeaders({ a: 1 });
    },
    dialer: [open()],
  },
  {
    call: 'reset() of the opener',
    act: (peer) => {
      peer.open().reset();
    },
    dialer: [open(), reset(8)],
  },
  {
    call: 'reset(code, reason, payload)',
    act: (peer) => {
      peer.open().reset(300, 'quota', { limit: 1 });
    },
    dialer: [open(), reset(300, { payload: { limit: 1 }, reason: 'quota' })],
  },
  {
    call: 'reset(code, reason, a payload that cannot be encoded)',
    act: (peer) => {
      peer.open().reset(300, 'quota', () => undefined);
    },
    dialer: [open(), reset(300, { reason: 'quota' })],
    warnings: ['rxmux: stream 1: the payload of a reset cannot be sent, and the reset goes without it'],
  },
];

const ANSWERS: readonly Row[] = [
  { call: 'send(v)', handler: stays('v'), acceptor: [data({ payload: 'v' })] },
  {
    call: 'send(v, { headers }) as the first frame',
    handler: (_, stream) => {
      void stream.send(1, { headers: { a: 1 } });
      void stream.send(2);
    },
    acceptor: [data({ headers: { a: 1 }, payload: 1 }), data({ payload: 2 }), data({ end: true })],
  },
  { call: 'reply(v)', handler: (_, stream) => stream.reply('v'), acceptor: [data({ end: true, payload: 'v' })] },
  { call: 'reply()', handler: (_, stream) => stream.reply(), acceptor: [data({ end: true })] },
  { call: 'reply(undefined)', handler: (_, stream) => stream.reply(undefined), acceptor: [data({ end: true })] },
  { call: 'reply(null)', handler: (_, stream) => stream.reply(null), acceptor: [data({ end: true, payload: null })] },
  {
    call: 'reply(v, { headers, trailers })',
    handler: (_, stream) => stream.reply('v', { headers: { a: 1 }, trailers: { b: 2 } }),
    acceptor: [data({ end: true, headers: { a: 1 }, payload: 'v', trailers: { b: 2 } })],
  },
  {
    call: 'sendHeaders(h), then reply(v)',
    handler: (_, stream) => {
      stream.sendHeaders({ a: 1 });
      return stream.reply('v');
    },
    acceptor: [data({ headers: { a: 1 } }), data({ end: true, payload: 'v' })],
  },
  {
    call: 'sendHeaders() without headers, then reply(v, { headers })',
    handler: (_, stream) => {
      stream.sendHeaders();
      stream.sendHeaders({});
      return stream.reply('v', { headers: { a: 1 } });
    },
    acceptor: [data({ end: true, headers: { a: 1 }, payload: 'v' })],
  },
  {
    call: 'setTrailers(t)',
    handler: (_, stream) => {
      stream.setTrailers({ rows: 1 });
      return stream.reply('v');
    },
    acceptor: [data({ end: true, payload: 'v', trailers: { rows: 1 } })],
  },
  {
    call: 'setTrailers(function), called when the end is sent',
    handler: (_, stream) => {
      let rows = 0;
      stream.setTrailers(() => ({ rows }));
      for (; rows < 2; rows++) void stream.send(rows);
    },
    acceptor: [data({ payload: 0 }), data({ payload: 1 }), data({ end: true, trailers: { rows: 2 } })],
  },
  {
    call: 'setTrailers(function that returns null)',
    handler: (_, stream) => {
      stream.setTrailers(() => null);
    },
    acceptor: [data({ end: true })],
  },
  { call: 'a handler that settles without ending', handler: () => undefined, acceptor: [data({ end: true })] },
  { call: 'a handler whose promise settles without ending', handler: () => Promise.resolve(), acceptor: [data({ end: true })] },
  {
    call: 'a handler that throws',
    handler: () => {
      throw new RangeError('too big');
    },
    acceptor: [reset(16, { payload: { name: 'RangeError', message: 'too big' }, reason: 'too big' })],
  },
  {
    call: 'a handler that rejects',
    handler: () => Promise.reject(new RangeError('too big')),
    acceptor: [reset(16, { payload: { name: 'RangeError', message: 'too big' }, reason: 'too big' })],
  },
  {
    call: 'a handler that throws after its first value',
    handler: (_, stream) => {
      void stream.send(1);
      throw new Error('then this');
    },
    acceptor: [data({ payload: 1 }), reset(16, { payload: { name: 'Error', message: 'then this' }, reason: 'then this' })],
  },
  {
    call: 'reset(300) by the handler',
    handler: (_, stream) => {
      stream.reset(300, 'why');
    },
    acceptor: [reset(300, { reason: 'why' })],
  },
];

const UPLOADS: readonly Row[] = [
  {
    call: 'a handler that settles while the remote uploads without a reader',
    handler: () => undefined,
    acceptor: [data({ end: true }), reset(0)],
  },
  {
    call: 'a handler that replies while the remote uploads without a reader',
    handler: (_, stream) => stream.reply('enough'),
    acceptor: [data({ end: true, payload: 'enough' }), reset(0)],
  },
  {
    call: 'a handler that settles while a subscriber reads the upload',
    handler: (_, stream) => void stream.subscribe(),
    acceptor: [data({ end: true })],
  },
  {
    call: 'a handler that settles after the last reader of the upload has left',
    handler: (_, stream) => {
      stream.subscribe().unsubscribe();
    },
    acceptor: [data({ end: true }), reset(0)],
  },
  {
    call: 'a handler that fails after its end, while the remote uploads',
    handler: (_, stream) => {
      void stream.reply('enough');
      throw new Error('too late');
    },
    acceptor: [data({ end: true, payload: 'enough' }), reset(0)],
  },
];

const CANCELS: readonly Row[] = [
  {
    call: 'unsubscribing from a stream',
    act: (peer) => {
      peer.open('p', { end: true }).subscribe().unsubscribe();
    },
    dialer: [open({ end: true, payload: 'p' }), reset(8, { reason: 'unsubscribed' })],
  },
  {
    call: 'unsubscribing from open$',
    act: (peer) => {
      peer.open$('p').subscribe().unsubscribe();
    },
    dialer: [open({ end: true, payload: 'p' }), reset(8, { reason: 'unsubscribed' })],
  },
  {
    call: 'unsubscribing from open$ with input',
    act: (peer) => {
      peer.open$('p', { input: NEVER }).subscribe().unsubscribe();
    },
    dialer: [open({ payload: 'p' }), reset(8, { reason: 'unsubscribed' })],
  },
  {
    call: 'unsubscribing from request$',
    act: (peer) => {
      peer.request$('p').subscribe().unsubscribe();
    },
    dialer: [open({ end: true, payload: 'p' }), reset(8, { reason: 'unsubscribed' })],
  },
  {
    call: 'an AbortSignal',
    act: (peer) => {
      const abort = new AbortController();
      peer.open('p', { signal: abort.signal }).subscribe(ignored);
      abort.abort();
    },
    dialer: [open({ payload: 'p' }), reset(8, { reason: 'aborted' })],
  },
  {
    call: 'take(n)',
    act: (peer) => peer.open('p', { end: true }).pipe(take(1)).subscribe(),
    handler: stays(1, 2),
    dialer: [open({ end: true, payload: 'p' }), reset(8, { reason: 'unsubscribed' })],
  },
  {
    call: 'break out of for await',
    act: async (peer) => {
      for await (const value of peer.open('p', { end: true })) if (value === 1) break;
    },
    handler: stays(1, 2),
    dialer: [open({ end: true, payload: 'p' }), reset(8, { reason: 'unsubscribed' })],
  },
  {
    call: 'a second payload in answer to a request',
    act: (peer) => peer.request('p'),
    handler: stays(1, 2),
    dialer: [open({ end: true, payload: 'p' }), reset(8, { reason: 'one answer was expected' })],
  },
  {
    call: 'a time-out',
    act: (peer) => peer.open('p', { timeoutMs: 50 }).subscribe(ignored),
    handler: stays(),
    afterMs: 50,
    dialer: [open({ payload: 'p' }), reset(17, { reason: 'not done within 50 ms' })],
  },
  {
    call: 'the time-out of a request whose answer arrived but did not end',
    act: (peer) => peer.request('p', { timeoutMs: 50 }),
    handler: stays(1),
    afterMs: 50,
    dialer: [open({ end: true, payload: 'p' }), reset(17, { reason: 'not done within 50 ms' })],
  },
];

const CONNECTION: readonly Row[] = [
  { call: 'close()', act: (peer) => peer.close(), dialer: [{ type: 'goaway', code: 0, last_stream: 0 }] },
  {
    call: 'close({ code, reason })',
    act: (peer) => peer.close({ code: 2, reason: 'maintenance' }),
    dialer: [{ type: 'goaway', code: 2, last_stream: 0, reason: 'maintenance' }],
  },
  {
    call: 'notify(x), then close()',
    act: (peer) => {
      peer.notify('x');
      return peer.close();
    },
    dialer: [open({ end: true, payload: 'x' }), { type: 'goaway', code: 0, last_stream: 0 }],
  },
];

describe.each(CODECS)('Emitted frames with %s', (_name, codec) => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  async function play({ act = (peer) => peer.open('p', { end: true }), handler, afterMs = 0 }: Row) {
    const { dialer, acceptor } = createPair({ codec });
    const frames = { dialer: framesOf(dialer), acceptor: framesOf(acceptor) };
    if (handler !== undefined) acceptor.onStream(handler);
    const acted = act(dialer, acceptor);
    await time.advance(afterMs);
    await acted;
    return frames;
  }

  describe.each<[string, readonly Row[]]>([
    ['Calls that open', OPENS.map((row) => ({ handler: stays(), ...row }))],
    ['The opener', OPENERS.map((row) => ({ handler: stays(), ...row }))],
    ['The answer', ANSWERS],
    ['The answer to an upload', UPLOADS.map((row) => ({ act: (peer) => peer.open('p'), ...row }))],
    ['A cancel', CANCELS],
    ['The connection', CONNECTION],
  ])('%s', (_part, rows) => {
    it.each(rows.map((row) => [row.call, row] as const))('Peer emits the frames of the table for %s', async (_call, row) => {
      const frames = await play(row);
      if (row.dialer !== undefined) expect(frames.dialer).toEqual(row.dialer);
      if (row.acceptor !== undefined) expect(frames.acceptor).toEqual(row.acceptor);
      expect(logs.warnings.filter((line) => !line.includes('refused a stream with'))).toEqual(row.warnings ?? []);
    });
  });
});
