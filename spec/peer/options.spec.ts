import { describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { connect, JsonCodec, Peer, retryWhenSafe } from '../../src/index.js';
import type { ConnectOptions, NewPeerOptions, OpenOptions, Overflow, Retry, SocketLike, Stream } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { freezeMetadata } from '../../src/stream/metadata.js';
import { createPair } from '../../src/testing.js';
import { MemoryLink } from '../../src/testing/memory-link.js';
import { MemorySocket } from '../../src/testing/memory-socket.js';
import type { Codec } from '../../src/wire/codec.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';
import { virtualPeerTime } from '../support/peer/time.js';

describe('bad options', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  /** The calls that accept options. Each throws or rejects for wrong ones. */
  const CALLS: readonly (readonly [call: string, (peer: Peer, options: OpenOptions<unknown, never>) => unknown])[] = [
    ['open', (peer, options) => peer.open('p', options)],
    ['open$', (peer, options) => firstValueFrom(peer.open$('p', options))],
    ['request', (peer, options) => peer.request('p', options)],
    ['request$', (peer, options) => firstValueFrom(peer.request$('p', options))],
  ];

  describe.each(CALLS)('Options of %s', (_call, call) => {
    const failure = async (options: object): Promise<unknown> => {
      const { dialer } = createPair();
      const sent = framesOf(dialer);
      const outcome = settled(new Promise((resolve) => resolve(call(dialer, options))));
      await time.advance();
      expect(sent).toEqual([]);
      return outcome;
    };

    it.each<[options: unknown, got: string]>([
      [null, 'null'],
      ['safe', "'safe'"],
      [() => 5, 'a function'],
    ])('A call refuses %p as options', async (options, got) => {
      expect(await failure(options as object)).toEqual({ error: new TypeError(`options: expected an object, got ${got}`) });
    });

    it.each<[option: string, value: unknown, message: string]>([
      ['onOpen', {}, 'onOpen: expected a function, got an object'],
      ['onOpen', 'log', "onOpen: expected a function, got 'log'"],
      ['onOpen', null, 'onOpen: expected a function, got null'],
      ['timeoutMs', null, 'timeoutMs: expected a number of at least 0, got null'],
      ['timeoutMs', '5', "timeoutMs: expected a number of at least 0, got '5'"],
    ])('A call refuses the option %s of %p before it sends anything', async (option, value, message) => {
      expect(await failure({ [option]: value })).toEqual({ error: new TypeError(message) });
    });
  });

  describe.each<[call: string, (stream: Stream, options: never) => unknown]>([
    ['send', (stream, options) => stream.send(1, options)],
    ['sendAll', (stream, options) => stream.sendAll([1], options)],
    ['reply', (stream, options) => stream.reply(1, options)],
    ['end', (stream, options) => stream.end(options)],
  ])('Options of %s on a stream', (_call, call) => {
    it.each<[options: unknown, got: string]>([
      [null, 'null'],
      ['x', "'x'"],
      [5, '5'],
    ])('A stream refuses %p as options and sends nothing', async (options, got) => {
      const { dialer } = createPair();
      const stream = dialer.open('p');
      await time.advance();
      const sent = framesOf(dialer);
      expect(() => call(stream, options as never)).toThrow(new TypeError(`options: expected an object, got ${got}`));
      await time.advance();
      expect(sent).toEqual([]);
    });
  });

  describe('The option retry', () => {
    it('A call with `retry` accepts null as no signal, and refuses another value that is no AbortSignal', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((payload, stream) => stream.reply(payload));
      const asked = (signal: unknown): Promise<unknown> => settled(dialer.request('p', { retry: 'safe', signal: signal as undefined }));
      const answers = Promise.all([asked(null), asked({ aborted: false })]);
      await time.advance();
      expect(await answers).toEqual([{ value: 'p' }, { error: new TypeError('signal: expected an AbortSignal, got object') }]);
    });

    it.each<[retry: unknown, message: string]>([
      ['never', "retry: expected false, 'safe' or { count, delay }, got 'never'"],
      [true, "retry: expected false, 'safe' or { count, delay }, got true"],
      [5, "retry: expected false, 'safe' or { count, delay }, got 5"],
      [null, "retry: expected false, 'safe' or { count, delay }, got null"],
      [[3], "retry: expected false, 'safe' or { count, delay }, got an array"],
      [() => 3, "retry: expected false, 'safe' or { count, delay }, got a function"],
      [{ count: '5' }, "retry.count: expected a number of at least 0, got '5'"],
      [{ count: null }, 'retry.count: expected a number of at least 0, got null'],
      [{ delay: '5' }, "retry.delay: expected a number of at least 0 or a function, got '5'"],
      [{ delay: -1 }, 'retry.delay: expected a number of at least 0 or a function, got -1'],
      [{ delay: {} }, 'retry.delay: expected a number of at least 0 or a function, got an object'],
    ])('Every call refuses a `retry` of %p before it sends anything', async (retry, message) => {
      const { dialer } = createPair();
      const sent = framesOf(dialer);
      const options = { retry } as OpenOptions<unknown, never>;
      expect(() => dialer.request$('p', options)).toThrow(new TypeError(message));
      expect(() => dialer.open$('p', options)).toThrow(new TypeError(message));
      expect(await settled(dialer.request('p', options))).toEqual({ error: new TypeError(message) });
      expect(sent).toEqual([]);
    });

    it('`retryWhenSafe` accepts a delay of 0 and no second attempt', () => {
      expect(() => retryWhenSafe({ count: 0, delay: 0 })).not.toThrow();
    });

    it.each<[options: unknown, message: string]>([
      [1, 'retryWhenSafe: expected { count, delay }, got 1'],
      ['safe', "retryWhenSafe: expected { count, delay }, got 'safe'"],
      [null, 'retryWhenSafe: expected { count, delay }, got null'],
      [{ delay: true }, 'retry.delay: expected a number of at least 0 or a function, got true'],
      [{ delay: Number.NaN }, 'retry.delay: expected a number of at least 0 or a function, got NaN'],
    ])('`retryWhenSafe` refuses %p', (options, message) => {
      expect(() => retryWhenSafe(options as Retry)).toThrow(new TypeError(message));
    });
  });

  /** Wrong options of a peer, each with its error message. */
  const OF_PEERS: readonly (readonly [options: object, message: string])[] = [
    [{ onStream: 5 }, 'onStream: expected a function, got 5'],
    [{ onStream: null }, 'onStream: expected a function, got null'],
    [{ errorSerializer: 'message' }, "errorSerializer: expected a function, got 'message'"],
    [{ keepalive: 5_000 }, 'keepalive: expected false or { idleMs, timeoutMs }, got 5000'],
    [{ keepalive: true }, 'keepalive: expected false or { idleMs, timeoutMs }, got true'],
    [{ keepalive: null }, 'keepalive: expected false or { idleMs, timeoutMs }, got null'],
    [{ limits: 5 }, 'limits: expected an object, got 5'],
    [{ limits: null }, 'limits: expected an object, got null'],
    [{ limits: [] }, 'limits: expected an object, got an array'],
    [{ requestTimeoutMs: 1n }, 'requestTimeoutMs: expected a number of at least 0, got 1n'],
    [{ context: 5 }, 'context: expected an object, got 5'],
    [{ context: null }, 'context: expected an object, got null'],
  ];

  describe('Constructor of Peer', () => {
    it.each(OF_PEERS)('The constructor of Peer refuses %p', (options, message) => {
      const socket = new MemorySocket(new MemoryLink({ protocol: 'mux.v1.json' }).ends.dialer, null);
      expect(() => new Peer(socket, { isDialer: true, ...options })).toThrow(new TypeError(message));
    });
  });

  it.each<[socket: unknown, options: unknown, message: string]>([
    [{}, undefined, 'options: expected an object, got undefined'],
    [{}, null, 'options: expected an object, got null'],
    [{}, { isDialer: true }, 'socket: expected a WebSocket, got an object'],
    [{ addEventListener: () => undefined, send: 1 }, { isDialer: true }, 'socket: expected a WebSocket, got an object'],
    [{ addEventListener: 1, send: () => undefined }, { isDialer: true }, 'socket: expected a WebSocket, got an object'],
    [null, { isDialer: true }, 'socket: expected a WebSocket, got null'],
  ])('Peer refuses to be constructed as `new Peer(%p, %p)`', (socket, options, message) => {
    expect(() => new Peer(socket as SocketLike, options as NewPeerOptions)).toThrow(new TypeError(message));
  });

  it.each([null, 5, 'ws'])('`connect` refuses %p as options', (options) => {
    expect(() => connect('ws://test', options as unknown as object)).toThrow(/^options: expected an object, got /);
  });

  it('`notify` refuses null as options', () => {
    expect(() => createPair().dialer.notify('p', null as unknown as undefined)).toThrow(
      new TypeError('options: expected an object, got null'),
    );
  });

  const POLICIES = "'buffer', 'latest', 'error' or { dropOldest }";

  it.each<[overflow: unknown, message: string]>([
    [null, `overflow: expected ${POLICIES}, got null`],
    ['newest', `overflow: expected ${POLICIES}, got 'newest'`],
    [() => 5, `overflow: expected ${POLICIES}, got a function`],
    [{ dropOldest: 0 }, 'overflow.dropOldest: expected a number of at least 1, got 0'],
    [{}, 'overflow.dropOldest: expected a number of at least 1, got undefined'],
  ])('`open$` refuses the overflow %p', (overflow, message) => {
    expect(() => createPair().dialer.open$('p', { overflow: overflow as Overflow })).toThrow(new TypeError(message));
  });

  describe('Options of `connect`', () => {
    it.each([
      ...OF_PEERS,
      [{ socket: {} }, 'socket: expected a function, got an object'],
      [{ socket: null }, 'socket: expected a function, got null'],
      [{ hello: { payload: 1 } }, 'hello: expected a function, got an object'],
      [{ lazy: 'no' }, "lazy: expected a boolean, got 'no'"],
      [{ reconnect: 'yes' }, "reconnect: expected a boolean or an object, got 'yes'"],
      [{ reconnect: 5 }, 'reconnect: expected a boolean or an object, got 5'],
      [{ reconnect: null }, 'reconnect: expected a boolean or an object, got null'],
      [{ reconnect: { shouldRetry: true } }, 'reconnect.shouldRetry: expected a function, got true'],
      [{ helloTimeoutMs: null }, 'helloTimeoutMs: expected a number of at least 0, got null'],
      [{ helloTimeoutMs: 1 }, 'helloTimeoutMs: expected hello beside it, got none'],
    ])('`connect` refuses %p and does not dial', (options, message) => {
      const socket = jest.fn<() => SocketLike>();
      expect(() => connect('ws://test', { socket, ...options })).toThrow(new TypeError(message));
      expect(socket).not.toHaveBeenCalled();
      expect(time.isOver()).toBe(true);
    });
  });

  describe('Address of `connect`', () => {
    it.each<[url: unknown, got: string]>([
      [undefined, 'undefined'],
      [null, 'null'],
      [5, '5'],
      [{}, 'an object'],
      [['ws://test'], 'an array'],
    ])('`connect` refuses the address %p, with and without a socket factory', (url, got) => {
      const refused = `url: expected an address, or a function that returns one, got ${got}`;
      const error = new TypeError(refused);
      const socket = jest.fn<() => SocketLike>();
      expect(() => connect(url as string)).toThrow(error);
      expect(() => connect(url as string, { socket })).toThrow(error);
      expect(socket).not.toHaveBeenCalled();
    });

    it.each(['', 'nope', '/mux', 'ws://', 'ws://a b', 'ftp://test', 'localhost:8080', 'javascript:alert(1)'])(
      '`connect` refuses the address %p at once, because no platform can dial it',
      (url) => {
        const error = new TypeError(`url: expected a ws: or wss: address, got '${url}'`);
        expect(() => connect(url, { reconnect: { maxAttempts: Infinity } })).toThrow(error);
        expect(time.isOver()).toBe(true);
      },
    );

    /** Addresses that no platform can dial, all with a secret. */
    const SECRETS: readonly (readonly [url: string, got: string])[] = [
      ['wss://ann:secret@example.org:99999/mux', 'wss://example.org:99999/mux'],
      ['wss://ann:sec/ret@example.org', 'wss://example.org'],
      ['wss://ann:sec?ret@example.org', 'wss://example.org'],
      ['wss://ann:sec#ret@example.org', 'wss://example.org'],
      ['wss://ann:sec@ret@exa mple.org', 'wss://exa mple.org'],
      ['wss:\\\\ann:secret@exa mple.org', 'wss:\\\\exa mple.org'],
      ['ftp://ann:secret@example.org', 'ftp://example.org'],
      ['ann:secret@example.org', 'ann:example.org'],
      ['wss://secret@', 'wss://'],
      ['ws://exa mple.org/?token=secret', 'ws://exa mple.org/'],
      [' wss://ann:secret@exa mple.org', ' wss://exa mple.org'],
    ];

    it.each(SECRETS)('`connect` quotes the address %p without its secrets', async (url, got) => {
      const message = `url: expected a ws: or wss: address, got '${got}'`;
      expect(() => connect(url)).toThrow(new TypeError(message));
      const peer = connect(() => url);
      await time.advance();
      await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT', message });
    });

    it.each([
      'wss:ann:secret@example.org',
      'wss:/ann:secret@example.org',
      'wss:\\\\ann:secret@example.org',
      ' wss://ann:secret@example.org',
    ])('A peer shows the address %p, which URLs may be spelled as, without its secrets', (url) => {
      const peer = connect(url, { lazy: true });
      expect(String(peer)).toContain('example.org');
      expect(String(peer)).not.toContain('secret');
      void peer.close();
    });

    it('`connect` passes any text as an address to a socket factory', () => {
      const socket = jest.fn<NonNullable<ConnectOptions['socket']>>(
        () => new MemorySocket(new MemoryLink({ protocol: 'mux.v1.json' }).ends.dialer, null),
      );
      void connect('the blue one', { socket }).close();
      expect(socket).toHaveBeenCalledWith('the blue one', 'mux.v1.json');
    });

    it('`connect` resolves a relative address against the current page', () => {
      const platform = globalThis as { location?: unknown; WebSocket?: unknown };
      const { WebSocket: own } = platform;
      const dialed: string[] = [];
      platform.location = new URL('https://example.org/app/');
      platform.WebSocket = class extends MemorySocket {
        constructor(url: string) {
          super(new MemoryLink({ protocol: 'mux.v1.json' }).ends.dialer, null);
          dialed.push(url);
        }
      };
      try {
        void connect('/mux').close();
        void connect(new URL('wss://example.org/mux')).close();
        expect(() => connect('//a b')).toThrow(new TypeError("url: expected a ws: or wss: address, got '//a b'"));
      } finally {
        delete platform.location;
        platform.WebSocket = own;
      }
      expect(dialed).toEqual(['/mux', 'wss://example.org/mux']);
    });
  });

  describe('Hooks', () => {
    const given = undefined as unknown as () => undefined;

    it.each<[name: string, hang: (peer: Peer) => unknown]>([
      ['interceptOpen', (peer) => peer.interceptOpen(given)],
      ['interceptReplyHeaders', (peer) => peer.interceptReplyHeaders(given)],
      ['interceptIncomingHeaders', (peer) => peer.interceptIncomingHeaders(given)],
      ['onFrame', (peer) => peer.onFrame(given)],
      ['onClose', (peer) => peer.onClose(given)],
      ['onStream', (peer) => peer.onStream(given)],
    ])('`%s` refuses undefined in place of a function, and the peer still serves its streams', async (name, hang) => {
      const { dialer, acceptor } = createPair();
      expect(() => hang(acceptor)).toThrow(new TypeError(`${name}: expected a function, got undefined`));
      acceptor.onStream((payload, stream) => stream.reply(payload));
      const answer = dialer.request('p');
      await time.advance();
      expect(await answer).toBe('p');
      expect(logs.warnings).toEqual([]);
    });
  });

  describe.each([new JsonCodec(), new MsgpackCodec()])('Metadata that the codec $name cannot represent', (codec) => {
    const metadata = { trace: [(): number => 1] };
    const at = (place: string): Error =>
      new TypeError(`codec '${codec.name}': expected a value it can carry at ${place}.trace[0], got a function`);

    it('An error of metadata names headers or trailers, and the path of the bad value', () => {
      const { dialer } = createPair({ codec });
      expect(() => dialer.open('p', { headers: metadata })).toThrow(at('headers'));
      expect(() => dialer.open('p').end({ trailers: metadata })).toThrow(at('trailers'));
    });

    it('An error of reply metadata names headers or trailers, and the path of the bad value', async () => {
      const { dialer, acceptor } = createPair({ codec });
      acceptor.onStream((_, stream) => {
        expect(() => stream.send(1, { headers: metadata })).toThrow(at('headers'));
        expect(() => stream.reply(1, { trailers: metadata })).toThrow(at('trailers'));
        return stream.reply('told');
      });
      const answer = dialer.request('p');
      await time.advance();
      expect(await answer).toBe('told');
    });
  });

  it('`open` passes on the error of a codec that refuses to encode headers', () => {
    const json = new JsonCodec();
    const encodePayload = (payload: unknown): string => {
      if (payload === 'p') return json.encodePayload(payload);
      throw new TypeError('no headers');
    };
    const codec = {
      name: 'json',
      binary: false,
      encode: json.encode.bind(json),
      decode: json.decode.bind(json),
      encodePayload,
      decodePayload: json.decodePayload.bind(json),
    };
    expect(() => createPair({ codec }).dialer.open('p', { headers: { a: 1 } })).toThrow(new TypeError('no headers'));
  });

  it('Every call reports a codec that encodes a payload as neither text nor bytes', async () => {
    const { dialer } = createPair({
      codec: Object.assign(new JsonCodec(), { encodePayload: (value: unknown) => (value === 'p' ? '"p"' : null) }),
    });
    const error = new TypeError("codec 'json': expected text or bytes to be encoded, got null");
    expect(() => dialer.open('x')).toThrow(error);
    expect(() => dialer.open('p').send('x')).toThrow(error);
    expect(() => dialer.open('p', { headers: { a: 1 } })).toThrow(error);
    await expect(dialer.request('x')).rejects.toThrow(error);
  });
});

class Shouting extends JsonCodec {
  override encodePayload(payload: unknown): string {
    return super.encodePayload(payload).toUpperCase();
  }
}

class Whispering extends JsonCodec {
  override decodePayload(data: string): unknown {
    return super.decodePayload(data.toLowerCase());
  }
}

class Refusing extends JsonCodec {
  override carries(): boolean {
    return false;
  }
}

describe('freezeMetadata', () => {
  it.each([new JsonCodec(), new MsgpackCodec()])('Headers of scalars are copied and frozen without a call of $name', (codec) => {
    const encodePayload = jest.spyOn(Object.getPrototypeOf(codec) as JsonCodec, 'encodePayload');
    const given = { trace: 't1', attempt: 2, last: false, parent: null };
    const frozen = freezeMetadata(given, codec);
    given.attempt = 3;
    expect(frozen).toEqual({ trace: 't1', attempt: 2, last: false, parent: null });
    expect([Object.isFrozen(frozen), encodePayload.mock.calls]).toEqual([true, []]);
    encodePayload.mockRestore();
  });

  it.each([new JsonCodec(), new MsgpackCodec()])(
    'Headers under $name have no property that a program has added to `Object.prototype`',
    (codec) => {
      Object.defineProperty(Object.prototype, 'added', { value: 'x', enumerable: true, configurable: true });
      try {
        expect(Object.keys(freezeMetadata({ a: 'a' }, codec) ?? {})).toEqual(['a']);
      } finally {
        Reflect.deleteProperty(Object.prototype, 'added');
      }
    },
  );

  it.each([new JsonCodec(), new MsgpackCodec()])('Headers with other values are as $name decodes them', (codec) => {
    const given = { trace: 't1', list: [1], none: undefined };
    const frozen = freezeMetadata(given, codec);
    given.list.push(2);
    expect(frozen).toStrictEqual({ trace: 't1', list: [1] });
    expect(Object.isFrozen(frozen)).toBe(true);
  });

  it.each([
    ['encodePayload', new Shouting(), { A: 'B' }],
    ['decodePayload', new Whispering(), { a: 'b' }],
    ['carries', new Refusing(), { a: 'B' }],
  ])('A subclass that overrides %s decides what its headers become', (_what, codec, expected) => {
    expect(freezeMetadata({ a: 'B' }, codec)).toEqual(expected);
  });

  it('A codec without `carries` encodes its headers', () => {
    const json = new JsonCodec();
    const codec: Codec = {
      name: 'plain',
      binary: false,
      encode: (frame) => json.encode(frame),
      decode: (message) => json.decode(message),
      encodePayload: () => '{"a":"C"}',
      decodePayload: (data) => json.decodePayload(data),
    };
    expect(freezeMetadata({ a: 'B' }, codec)).toEqual({ a: 'C' });
  });

  it('Headers with the key `__proto__` keep it, or fail, as the codec decides', () => {
    const given = JSON.parse('{"__proto__":"a","b":"b"}') as Record<string, unknown>;
    expect(Object.entries(freezeMetadata(given, new JsonCodec()) ?? {})).toEqual(Object.entries(given));
    expect(() => freezeMetadata(given, new MsgpackCodec())).toThrow("expected any key but '__proto__', got headers.__proto__");
  });

  it('A value with an error names its field', () => {
    expect(() => freezeMetadata({ a: 'a', b: 1n }, new JsonCodec(), 'trailers')).toThrow(
      "codec 'json': expected a value it can carry at trailers.b, got a bigint: try String(n) or rxmux/rich",
    );
  });

  it('Headers without entries count as none', () => {
    expect([freezeMetadata({}, new JsonCodec()), freezeMetadata({ a: undefined }, new JsonCodec())]).toEqual([null, null]);
  });
});
