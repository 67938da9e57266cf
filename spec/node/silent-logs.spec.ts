import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { WebSocket } from 'ws';
import { logger } from '../../src/index.js';
import type { Peer, StreamHandler } from '../../src/index.js';
import { connect } from '../../src/node.js';
import { CODECS } from '../support/codec/shipped.js';
import { settled } from '../support/peer/outcome.js';
import { handshake, portOf } from '../support/socket/handshake.js';
import { turn, until, watchResources } from '../support/socket/leaks.js';
import { testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

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
    expect((await handshake(server.http, { ...secret, headers: { ...secret.headers, Origin: 'https://evil.example' } })).status).toBe(403);
    await turn();
    await expectSilence(['could not be judged', 'refused an upgrade: 403 /: this origin']);
  });
});
