import { describe, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { accept, connect, handleUpgrade, serve } from '../../src/node.js';
import type { AcceptOptions } from '../../src/node.js';
import { portOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { until } from '../support/socket/leaks.js';
import { collectLogs } from '../support/peer/logs.js';

collectLogs();

const http = httpServer((server) => {
  server.closeAllConnections();
});

/** The functions that make a peer on a server. Each returns a function that ends it. */
const DOORS: readonly (readonly [name: string, open: (options: AcceptOptions) => () => unknown])[] = [
  [
    'serve',
    (options) => {
      const server = serve({ ...options, server: http.now });
      return () => server.close();
    },
  ],
  [
    'handleUpgrade',
    (options) => {
      http.now.on('upgrade', (request, socket, head) => handleUpgrade(request, socket, head, options));
      return () => undefined;
    },
  ],
  [
    'accept',
    (options) => {
      const sockets = new WebSocketServer({ server: http.now }).on('connection', (socket) => accept(socket, options));
      return () => {
        sockets.close();
      };
    },
  ],
];

describe.each(DOORS)('hello of %s', (_name, open) => {
  it('A peer refuses all other streams until onHello has replied, and calls no handler for them', async () => {
    const seen: string[] = [];
    let welcome = (): void => undefined;
    const end = open({
      keepalive: false,
      onHello: async (token, stream) => {
        seen.push(`hello ${String(token)}`);
        await new Promise<void>((resolve) => (welcome = resolve));
        await stream.reply('welcome');
      },
      handler: (payload, stream) => {
        seen.push(`stream ${String(payload)}`);
        return stream.reply(payload);
      },
    });
    const dialer = new WebSocket(`ws://127.0.0.1:${portOf(http.now)}`, ['mux.v1.json']);
    const frames: Record<string, unknown>[] = [];
    dialer.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Record<string, unknown>));
    await new Promise((resolve) => dialer.once('open', resolve));
    const ask = (stream: number, payload: string): void => dialer.send(JSON.stringify({ type: 'open', stream, payload, end: true }));

    // All in one turn, without waiting for the server.
    ask(1, 'token');
    for (const early of [3, 5, 7]) ask(early, 'early');
    await until('three answers', () => frames.length === 3);
    expect(frames.map(({ type, stream, code }) => [type, stream, code])).toEqual([3, 5, 7].map((early) => ['reset', early, 7]));
    expect(seen).toEqual(['hello token']);

    welcome();
    await until('the welcome', () => frames.length === 4);
    expect(frames.at(-1)).toEqual({ type: 'data', stream: 1, end: true, payload: 'welcome' });
    ask(9, 'late');
    await until('the answer', () => frames.length === 5);
    expect(frames.at(-1)).toEqual({ type: 'data', stream: 9, end: true, payload: 'late' });
    expect(seen).toEqual(['hello token', 'stream late']);
    dialer.terminate();
    await end();
  });

  it('A peer closes with 1008 when onHello rejects, and calls no handler', async () => {
    const seen: unknown[] = [];
    const end = open({
      keepalive: false,
      errorSerializer: () => ({ message: 'not you' }),
      onHello: () => Promise.reject(new Error('no such token in table users')),
      handler: (payload) => seen.push(payload),
    });
    const dialer = new WebSocket(`ws://127.0.0.1:${portOf(http.now)}`, ['mux.v1.json']);
    const messages: string[] = [];
    dialer.on('message', (data: Buffer) => messages.push(data.toString()));
    const closed = new Promise<readonly [number, string]>((resolve) =>
      dialer.once('close', (code, reason) => {
        resolve([code, reason.toString()]);
      }),
    );
    await new Promise((resolve) => dialer.once('open', resolve));
    for (const stream of [1, 3]) dialer.send(JSON.stringify({ type: 'open', stream, payload: 'token', end: true }));
    const [code, reason] = await closed;
    expect(code).toBe(1008);
    expect(seen).toEqual([]);
    // Neither a payload nor a reason contains what the serializer leaves out.
    expect([...messages, reason].join()).not.toContain('table users');
    const rejected = { type: 'reset', stream: 1, code: 16, payload: { message: 'not you' }, reason: 'not you' };
    expect(messages.map((message) => JSON.parse(message) as unknown)).toContainEqual(rejected);
    await end();
  });
});

describe.each(DOORS)('options of %s', (_name, open) => {
  it('A peer closes with 1008 when the dialer sends no hello within helloTimeoutMs', async () => {
    const end = open({ keepalive: false, onHello: (_token, stream) => stream.reply('welcome'), helloTimeoutMs: 20 });
    const dialer = new WebSocket(`ws://127.0.0.1:${portOf(http.now)}`, ['mux.v1.json']);
    const code = await new Promise<number>((resolve) => dialer.once('close', resolve));
    expect(code).toBe(1008);
    await end();
  });

  it('A peer answers with its handler, and not with onStream, if it has both', async () => {
    const end = open({
      keepalive: false,
      onStream: (_payload, stream) => stream.reply('by onStream'),
      handler: (_payload, stream) => stream.reply('by the handler'),
    });
    const dialer = connect(`ws://127.0.0.1:${portOf(http.now)}`, { keepalive: false });
    expect(await dialer.request('hi')).toBe('by the handler');
    await dialer.close();
    await end();
  });
});
