import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { WebSocket } from 'ws';
import { logger } from '../../src/index.js';
import type { HandlerFailure, Peer, StreamHandler } from '../../src/index.js';
import { log } from '../../src/logger.js';
import { connect, serve } from '../../src/node.js';
import type { MuxServer, ServeOptions } from '../../src/node.js';
import { CODECS } from '../support/codec/shipped.js';
import { settled } from '../support/peer/outcome.js';
import { handshake, portOf } from '../support/socket/handshake.js';
import { turn, until, watchResources } from '../support/socket/leaks.js';
import { testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

describe('log bounds', () => {
  /** The arguments of each line on the console. */
  let lines: (readonly unknown[])[] = [];

  beforeEach(() => {
    lines = [];
    for (const level of ['warn', 'error'] as const)
      jest.spyOn(console, level).mockImplementation((...line: readonly unknown[]) => void lines.push(line));
  });

  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  const textOf = (line: readonly unknown[]): string =>
    line.map((part) => (part instanceof Error ? String(part.stack) : String(part))).join(' ');

  describe('lines that a remote causes', () => {
    it.each<[string, (nth: number) => void]>([
      [
        'a handler that throws',
        (nth) => {
          throw new Error(`${nth} ${'x'.repeat(60_000)}`);
        },
      ],
      ['a handler that rejects', (nth) => Promise.reject(new Error(`${nth} ${'x'.repeat(60_000)}`)) as never],
      [
        'a handler that throws a wide error',
        (nth) => {
          throw Object.assign(new Error('wide'), { body: `${nth} ${'x'.repeat(60_000)}` });
        },
      ],
    ])('A client that calls %s 400 times causes 20 lines, each of bounded length', async (_what, handler) => {
      let calls = 0;
      const server = serve({ port: 0, host: '127.0.0.1', handler: () => handler(calls++) });
      const address = await server.listening;
      const peer = connect(`ws://127.0.0.1:${typeof address === 'object' ? address.port : ''}`);
      await peer.opened;
      while (calls < 400) await Promise.allSettled(Array.from({ length: 40 }, (_, nth) => peer.request(nth)));
      await peer.close();
      await server.close();
      expect(lines).toHaveLength(20);
      expect(lines.filter((line) => !textOf(line).includes('a handler failed'))).toEqual([]);
      expect(Math.max(...lines.map((line) => textOf(line).length))).toBeLessThan(5_000);
    });

    it('The log counts the lines that it left out, once a minute', () => {
      jest.useFakeTimers();
      for (let nth = 1; nth <= 25; nth++) log('error', `stream ${nth}: a handler of spec failed`, `fault ${nth}`);
      expect(lines).toHaveLength(20);
      jest.advanceTimersByTime(59_999);
      expect(lines).toHaveLength(20);
      jest.advanceTimersByTime(1);
      expect(lines.slice(20)).toEqual([['rxmux: stream 25: a handler of spec failed, the last of 5 more', 'fault 25']]);
      jest.advanceTimersByTime(60_000);
      for (let nth = 1; nth <= 3; nth++) log('error', `stream ${nth}: a handler of spec failed`);
      expect(lines).toHaveLength(24);
    });

    it('Faults of different places do not hide each other', () => {
      const faults = ['a', 'b'].map((name) =>
        Object.assign(new Error(name), { stack: `Error: ${name}\n    at ${name} (/app/${name}.js:1:1)` }),
      );
      for (let nth = 0; nth < 30; nth++) log('error', 'a handler at places failed', faults[0]);
      log('error', 'a handler at places failed', faults[1]);
      expect(lines).toHaveLength(21);
      expect(lines[20]?.[1]).toBe(faults[1]);
    });

    it('A remote that chooses texts causes no more than 200 kinds of lines', () => {
      jest.useFakeTimers();
      for (let nth = 0; nth < 1_000; nth++) log('warn', `${String.fromCharCode(0x4e00 + nth)} is what a remote chose`);
      expect(lines.length).toBeLessThanOrEqual(220);
      jest.advanceTimersByTime(120_000);
    });

    it('The log leaves lines out while stderr has no reader, and says how many', () => {
      let waiting = 1_000_000;
      Object.defineProperty(process.stderr, 'writableLength', { configurable: true, get: () => waiting });
      for (let nth = 0; nth < 3; nth++) log('warn', 'a line for a slow reader');
      expect(lines).toEqual([]);
      waiting = 0;
      log('warn', 'a line for a slow reader');
      expect(lines).toEqual([
        ['rxmux: a line for a slow reader'],
        ['rxmux: 3 lines were left out of the log before this one, because its reader is slow'],
      ]);
      Reflect.deleteProperty(process.stderr, 'writableLength');
    });
  });

  describe('errors in the log', () => {
    const OURS = '    at run (/app/node_modules/rxmux/dist/peer/answers.js:1:1)';
    const RXJS = '    at next (/app/node_modules/rxjs/dist/cjs/internal/Subscriber.js:1:1)';
    const NODE = '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)';
    const OWN = '    at chat (/app/chat.js:12:9)';

    it.each([
      ['frames of the program stay first', [OWN, OURS, NODE], [OWN, '    at 2 of rxmux and below']],
      ['frames of the library move behind them', [OURS, RXJS, OWN, NODE], [OWN, '    at 3 of rxmux and below']],
      [
        'more than 20 frames are counted',
        [...Array.from({ length: 45 }, () => OWN), OURS],
        [...Array.from({ length: 20 }, () => OWN), '    at 25 more frames', '    at 1 of rxmux and below'],
      ],
      ['a stack without frames of the program stays as it is', [OURS, NODE], [OURS, NODE]],
      ...[
        'file:///src/rxmux/dist/esm/shared/QFYQHTCP.js:649:44',
        'C:\\src\\rxmux\\dist\\cjs\\node.js:1:1',
        'file:///home/ann/.cache/deno/npm/registry.example.org/rxmux/1.0.0/dist/esm/node.js:1:1',
        '/home/ann/.bun/install/cache/rxjs@7.8.2@@@1/dist/cjs/internal/Subject.js:1:1',
      ].map((place): [string, string[], string[]] => [
        `the library is found at ${place}`,
        [OWN, `    at take (${place})`],
        [OWN, '    at 1 of rxmux and below'],
      ]),
      ...['/srv/ws/dist/app.js:1:1', '/app/dist/esm/server.js:1:1', '/srv/rxmux-shop/dist/esm/a.js:1:1'].map(
        (place): [string, string[], string[]] => [
          `the program is found at ${place}`,
          [`    at a (${place})`, OURS],
          [`    at a (${place})`, '    at 1 of rxmux and below'],
        ],
      ),
    ])('In a stack %s', (what, frames, expected) => {
      const error = Object.assign(new RangeError('too much'), { stack: ['RangeError: too much', ...frames].join('\n'), status: 7 });
      log('error', `a stack where ${what}`, error);
      const shown = lines[0]?.[1] as RangeError & { readonly status: number };
      expect(shown).toBeInstanceOf(RangeError);
      expect([shown.message, shown.status, shown.stack]).toEqual(['too much', 7, ['RangeError: too much', ...expected].join('\n')]);
    });

    class Hidden extends Error {
      readonly #code = 7;

      override get name(): string {
        return `Hidden${this.#code}`;
      }
    }

    class Drawn extends Error {
      readonly #code = 7;

      [inspect.custom](): string {
        return `Drawn: ${this.message} ${this.#code}\n${OWN}`;
      }
    }

    it.each<[what: string, error: Error, shown: string]>([
      [
        'a DOMException',
        new DOMException('too late', 'AbortError'),
        `DOMException [AbortError]: too late\n${OWN}\n    at 1 of rxmux and below`,
      ],
      ['an error with private fields', new Hidden('too late'), `Hidden7: too late\n${OWN}\n    at 1 of rxmux and below`],
      ['an error that draws itself', new Drawn('too late'), `Drawn: too late 7\n${OWN}`],
    ])('The log shows %s', (what, error, shown) => {
      Object.defineProperty(error, 'stack', { value: [`${error.name}: too late`, OWN, OURS].join('\n') });
      log('error', `the view of ${what}`, error);
      expect(inspect(lines[0]?.[1])).toContain(shown);
    });

    it('The log passes on a short error of the program itself', () => {
      const error = Object.assign(new Error('short'), { stack: `Error: short\n${OWN}` });
      log('error', 'an error that is passed on', error);
      expect(lines[0]?.[1]).toBe(error);
    });

    it.each<[string, unknown]>([
      ['a message', new Error('x'.repeat(60_000))],
      ['a property', Object.assign(new Error('large'), { body: 'x'.repeat(60_000) })],
      ['a list', Object.assign(new Error('large'), { rows: Array.from({ length: 60_000 }, () => 'x'.repeat(100)) })],
      ['a cause', new Error('outer', { cause: new Error('x'.repeat(60_000)) })],
      ['a text', 'x'.repeat(60_000)],
      ['an object', { body: 'x'.repeat(60_000) }],
    ])('The log bounds %s of 60 000 characters', (what, thrown) => {
      log('error', `a long ${what}`, thrown);
      const shown = lines[0]?.[1];
      expect(typeof shown === 'string' ? shown.length : String((shown as Error).stack).length).toBeLessThan(4_100);
    });
  });
});

describe('silent logs', () => {
  /** Occurs in everything that an application sends, and nowhere else. */
  const SECRET = 'canary';
  const METHODS = ['debug', 'info', 'warn', 'error'] as const;
  const payload = { deep: [{ text: SECRET }], [SECRET]: 1 };
  const big = { text: SECRET.repeat(50_000) };

  let leaks: ReturnType<typeof watchResources>;
  let server: TestServer;
  let logged: unknown[][];

  beforeEach(() => {
    leaks = watchResources();
    logged = [];
    logger.level = 'debug';
    for (const method of METHODS) jest.spyOn(console, method).mockImplementation((...args) => void logged.push(args));
  });

  afterEach(async () => {
    logger.level = 'warn';
    jest.restoreAllMocks();
    await server.dispose();
    expect(await leaks()).toEqual({});
  });

  const told = (): string => logged.map(([message]) => String(message)).join('\n');

  /** Checks that each line was logged, and that no logged value contains the {@link SECRET} at any depth. */
  async function expectSilence(lines: readonly string[]): Promise<void> {
    await until(`the lines ${lines.join(', ')}`, () => lines.every((line) => told().includes(line))).catch(() => undefined);
    for (const line of lines) expect(told()).toContain(line);
    const everything = inspect(logged, { depth: Infinity, showHidden: true, maxArrayLength: Infinity, maxStringLength: Infinity });
    expect(everything).not.toContain(SECRET);
  }

  /** A server whose handler is chosen by the header `does`, and whose errors carry the payload to the caller. */
  const serving = async (does: Readonly<Record<string, StreamHandler>>, codec = CODECS[0]?.[1]): Promise<TestServer> =>
    testServer({
      codec,
      errorSerializer: () => payload,
      limits: { maxPayloadBytes: 1_000_000 },
      handler: (asked, stream) => does[String(stream.headers['does'])]?.(asked, stream),
    });

  describe.each(CODECS)('logs of both sides under %s', (_name, codec) => {
    const fails: StreamHandler = () => {
      throw new RangeError('no such row');
    };

    it.each<
      readonly [
        what: string,
        handler: StreamHandler,
        call: (peer: Peer, headers: Record<string, string>) => unknown,
        lines: readonly string[],
      ]
    >([
      [
        'in a complete exchange',
        async (_asked, stream) => {
          stream.sendHeaders({ token: SECRET });
          for await (const value of stream) await stream.send(value);
          await stream.end({ trailers: { sum: SECRET } });
        },
        async (peer, headers) => {
          const stream = peer.open(payload, { headers });
          await stream.sendAll([payload, big, payload]);
          const values: unknown[] = [];
          for await (const value of stream) values.push(value);
          expect([stream.replyHeaders, values, stream.trailers]).toEqual([{ token: SECRET }, [payload, big, payload], { sum: SECRET }]);
        },
        ['tx open stream 1', 'bytes in 5 fragments', 'rx data stream 1 end'],
      ],
      [
        'when a call fails without an error handler',
        fails,
        (peer, headers) => peer.open(payload, { headers, end: true }).subscribe(),
        ['its subscriber has no error handler'],
      ],
      [
        'when a stream is reset without an error handler',
        (_asked, stream) => {
          stream.reset(300, 'quota used up', payload);
        },
        (peer, headers) => peer.open(payload, { headers, end: true }).subscribe(),
        ['its subscriber has no error handler'],
      ],
      [
        'when a subscriber throws the error that it received',
        fails,
        (peer, headers) =>
          peer.open(payload, { headers, end: true }).subscribe({
            error: (error: unknown) => {
              throw error;
            },
          }),
        ['a subscriber of a stream failed'],
      ],
      [
        'when a handler fails after its answer with the error of another side',
        async (asked, stream) => {
          await stream.reply(payload);
          await stream.peer.request(asked);
        },
        (peer, headers) => {
          peer.onStream(fails);
          return peer.request(payload, { headers });
        },
        ['a handler failed after its stream had ended'],
      ],
      [
        'when a handler fails after its answer with an error caused by another side',
        async (asked, stream) => {
          await stream.reply(payload);
          await stream.peer.request(asked).catch((cause: unknown) => {
            throw new Error('the other side has failed', { cause });
          });
        },
        (peer, headers) => {
          peer.onStream(fails);
          return peer.request(payload, { headers });
        },
        ['a handler failed after its stream had ended'],
      ],
      [
        'when a payload cannot be encoded',
        (_asked, stream) => stream.reply({ ...payload, call: () => SECRET, id: Symbol(SECRET) }),
        (peer, headers) => settled(peer.request(payload, { headers })),
        ['a handler failed', 'rx reset stream 1 APPLICATION_ERROR'],
      ],
      [
        'when a payload is too large',
        (_asked, stream) => stream.reply(payload),
        (peer, headers) => settled(peer.request({ text: SECRET.repeat(500_000) }, { headers })),
        ['rx reset stream 1 PAYLOAD_TOO_LARGE'],
      ],
      [
        'when a value comes after the end',
        async (_asked, stream) => {
          await stream.reply(payload);
          await settled(stream.send(payload));
        },
        (peer, headers) => peer.request(payload, { headers }),
        ['a value was sent after the end'],
      ],
      [
        'when the socket is lost',
        () => new Promise(() => undefined),
        async (peer, headers) => {
          const sockets: Socket[] = [];
          server.http.on('connection', (socket) => sockets.push(socket));
          peer.open(payload, { headers }).subscribe();
          await until('the open to arrive', () => told().includes('rx open stream 1'));
          for (const socket of sockets) socket.destroy();
        },
        ['its subscriber has no error handler'],
      ],
    ])('No log line at the level debug shows application data %s', async (_what, handler, call, lines) => {
      server = await serving({ it: handler }, codec);
      const peer = connect(`ws://127.0.0.1:${portOf(server.http)}`, { codec, keepalive: false, errorSerializer: () => payload });
      await call(peer, { does: 'it', token: SECRET });
      await expectSilence(lines);
      await peer.close();
      await expectSilence(lines);
    });
  });

  describe('logs of a server', () => {
    const open = { type: 'open', stream: 1, payload, headers: { does: 'hold', token: SECRET } };

    it.each<readonly [what: string, messages: readonly unknown[], lines: readonly string[]]>([
      ['a frame of an unknown type', [{ type: 'hint', stream: 1, payload }], ['unknown type']],
      ['data of a stream that was never opened', [{ type: 'data', stream: 9, payload }], ['never opened']],
      ['a reset of a stream that was never opened', [{ type: 'reset', stream: 9, code: 8, payload }], ['never opened']],
      [
        'late headers',
        [open, { type: 'data', stream: 1, payload }, { type: 'data', stream: 1, payload, headers: { late: SECRET } }],
        ['later frame'],
      ],
      ['trailers without an end', [open, { type: 'data', stream: 1, payload, trailers: { late: SECRET } }], ['trailers without an end']],
      [
        'data after the end',
        [
          { ...open, end: true },
          { type: 'data', stream: 1, payload },
        ],
        ['tx reset stream 1 STREAM_CLOSED'],
      ],
      [
        'fragments that do not decode',
        [open, { type: 'data', stream: 1, fragment: `{"${SECRET}`, more: true }, { type: 'data', stream: 1, fragment: SECRET }],
        ['tx reset stream 1 PROTOCOL_ERROR'],
      ],
      ['an envelope with a field of the wrong type', [{ ...open, headers: SECRET }], ['tx goaway PROTOCOL_ERROR']],
      ['a text that is not JSON', [`${SECRET} {`], ['tx goaway PROTOCOL_ERROR']],
      ['JSON that is not a frame', [[SECRET]], ['tx goaway PROTOCOL_ERROR']],
    ])('The log of a server at the level debug shows no content of %s', async (_what, messages, lines) => {
      server = await serving({
        hold: (_asked, stream) => firstValueFrom(stream, { defaultValue: null }).then(() => new Promise(() => undefined)),
      });
      const dialer = new WebSocket(`ws://127.0.0.1:${portOf(server.http)}`, ['mux.v1.json']);
      await new Promise((resolve) => dialer.once('open', resolve));
      for (const message of messages) dialer.send(typeof message === 'string' ? message : JSON.stringify(message));
      const ponged = new Promise((resolve) => dialer.once('close', resolve).on('message', resolve));
      dialer.send(JSON.stringify({ type: 'ping' }));
      await ponged;
      await expectSilence(lines);
      dialer.terminate();
    });

    it('The log of a server at the level debug shows no credentials of a request', async () => {
      server = await testServer({
        verify: ({ headers }) => {
          if (headers.authorization === undefined) return 401;
          if (headers.authorization === SECRET) return { user: SECRET };
          throw new Error('no database');
        },
      });
      const secret = { path: `/?token=${SECRET}`, headers: { Cookie: SECRET } };
      expect((await handshake(server.http, secret)).status).toBe(401);
      expect((await handshake(server.http, { ...secret, headers: { Authorization: `${SECRET} of no user` } })).status).toBe(500);
      const letIn = await handshake(server.http, { ...secret, headers: { Authorization: SECRET } });
      expect(letIn.status).toBe(101);
      letIn.socket.destroy();
      expect((await handshake(server.http, { ...secret, headers: { ...secret.headers, Origin: 'https://evil.example' } })).status).toBe(
        403,
      );
      await turn();
      await expectSilence(['could not be judged', 'refused an upgrade: 403 /: this origin']);
    });
  });
});

describe('errors of handlers', () => {
  const failing: StreamHandler = (payload) => {
    throw new RangeError(String(payload));
  };

  /** A server whose handler fails, and two dialers that notify it. */
  async function notified(options: Partial<ServeOptions>, listen: (server: MuxServer) => void = () => undefined): Promise<MuxServer> {
    const server = serve({ port: 0, host: '127.0.0.1', keepalive: false, handler: failing, ...options } as ServeOptions);
    await server.listening;
    const url = `ws://127.0.0.1:${portOf(server)}`;
    const early = await connect(url, { keepalive: false }).opened;
    await until('the first peer', () => server.peers.size === 1);
    listen(server);
    const late = await connect(url, { keepalive: false }).opened;
    early.notify('early');
    await early.ping();
    late.notify('late');
    await late.ping();
    return server;
  }

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('A server calls onError with the handler errors of all peers', async () => {
    const onError = jest.fn<(error: unknown) => void>();
    const server = await notified({ onError });
    await server.close();
    expect(onError.mock.calls.map(([error]) => String(error))).toEqual(['RangeError: early', 'RangeError: late']);
  });

  it('A server emits on errors$ the handler errors of earlier and later peers, and completes when it has closed', async () => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const seen: HandlerFailure[] = [];
    const complete = jest.fn();
    const server = await notified({}, ({ errors$ }) => errors$.subscribe({ next: (failure) => seen.push(failure), complete }));
    expect(seen.map((failure) => [String(failure.error), server.peers.has(failure.stream.peer)])).toEqual([
      ['RangeError: early', true],
      ['RangeError: late', true],
    ]);
    await server.close();
    await until('the completion', () => complete.mock.calls.length === 1);
    expect([complete.mock.calls.length, error.mock.calls]).toEqual([1, []]);
  });

  it('A server without onError and errors$ logs each handler error with its peer and address', async () => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const server = await notified({});
    await server.close();
    expect(error.mock.calls).toEqual([
      [expect.stringMatching(/^rxmux: peer \d+ \(127\.0\.0\.1:\d+\), stream 1: a handler failed$/), new RangeError('early')],
      [expect.stringMatching(/^rxmux: peer \d+ \(127\.0\.0\.1:\d+\), stream 1: a handler failed$/), new RangeError('late')],
    ]);
  });
});
