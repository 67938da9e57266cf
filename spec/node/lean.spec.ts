import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, lastValueFrom, of, take, toArray } from 'rxjs';
import { WebSocket } from 'ws';
import { connect as connectFull } from '../../src/index.js';
import type { Peer, Stream } from '../../src/index.js';
import {
  closed,
  connect,
  end,
  hello,
  iterate,
  onClose,
  onFrame,
  onOpen,
  onStream,
  openWith,
  ping,
  reconnect,
  reply,
  retryWhenSafe,
  send,
  sendAll,
  sendHeaders,
  signalOf,
  stats,
} from '../../src/lean.js';
import type { LeanConnectOptions, LeanPeer } from '../../src/lean.js';
import { serve } from '../../src/node.js';
import type { MuxServer, ServeOptions } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { until } from '../support/socket/leaks.js';

collectLogs();

/** Answers as its payload says. */
async function answer(payload: unknown, stream: Stream): Promise<void> {
  if (payload === 'collect') {
    const received: unknown[] = [];
    for await (const value of stream) received.push(value);
    await stream.reply(received);
  } else if (payload === 'push me') {
    await stream.reply(await stream.peer.request('pushed'));
  } else if (payload === 'headers') {
    await stream.reply(stream.headers);
  } else if (payload === 'fail') {
    throw new Error('no such row');
  } else if (Array.isArray(payload)) {
    await stream.sendAll(payload);
  } else await stream.reply(payload);
}

describe('the entry point lean, over sockets', () => {
  let server: MuxServer;
  let peers: LeanPeer[];

  const listening = async (options: Partial<ServeOptions> = {}): Promise<void> => {
    server = serve({ port: 0, host: '127.0.0.1', onStream: answer, ...options } as ServeOptions);
    await server.listening;
  };
  const port = async (): Promise<number> => ((await server.listening) as AddressInfo).port;
  const dial = (options: LeanConnectOptions = {}): LeanPeer => {
    // A function, because a server that comes back has another port.
    const peer = connect(async () => `ws://127.0.0.1:${await port()}`, {
      keepalive: false,
      socket: (url, protocol) => new WebSocket(url, protocol),
      ...options,
    });
    peers.push(peer);
    return peer;
  };

  beforeEach(() => {
    peers = [];
  });

  afterEach(async () => {
    for (const peer of peers) await peer.close();
    await server.close();
  });

  it('A request resolves with its answer, and rejects with the error of the handler', async () => {
    await listening();
    const peer = dial();
    expect(await peer.request({ a: 1 })).toEqual({ a: 1 });
    expect(await firstValueFrom(peer.request$('text'))).toBe('text');
    await expect(peer.request('fail')).rejects.toMatchObject({ code: 'REMOTE', reason: 'no such row' });
  });

  it('`open$` emits what the server sends, and cancels it', async () => {
    await listening();
    const peer = dial();
    expect(await lastValueFrom(peer.open$<number>([1, 2, 3]).pipe(toArray()))).toEqual([1, 2, 3]);
    expect(await firstValueFrom(peer.open$<number>([1, 2, 3]).pipe(take(1)))).toBe(1);
  });

  it('`onStream` answers streams of the server', async () => {
    await listening();
    const peer = dial();
    const remove = onStream(peer, (payload, stream) => {
      sendHeaders(stream, { lean: true });
      return reply(stream, `${String(payload)} back`);
    });
    expect(await peer.request('push me')).toBe('pushed back');
    remove();
  });

  it('Without `onStream` a stream of the server is refused', async () => {
    await listening();
    const peer = dial();
    const refused = await peer.request('push me').catch((error: unknown) => error);
    expect(String(refused)).toContain('no handler took this stream: this side has neither an onStream handler nor an operator');
  });

  it('`send`, `sendAll`, `end` and `openWith` upload', async () => {
    await listening();
    const peer = dial();
    const one = peer.open('collect');
    await send(one, 'a');
    await end(one);
    expect(await firstValueFrom(one)).toEqual(['a']);
    const all = peer.open('collect');
    await sendAll(all, ['a', 'b']);
    expect(await firstValueFrom(all)).toEqual(['a', 'b']);
    expect(await firstValueFrom(openWith(peer, 'collect', { input: of(1, 2, 3) }))).toEqual([1, 2, 3]);
  });

  it('`iterate` reads one payload at a time', async () => {
    await listening();
    const peer = dial();
    const read: number[] = [];
    for await (const value of iterate(peer.open<number>([1, 2, 3], { end: true }))) read.push(value);
    expect(read).toEqual([1, 2, 3]);
  });

  it('`signalOf` and `closed` report the end of a stream', async () => {
    await listening();
    const stream = dial().open([1], { end: true });
    const signal = signalOf(stream);
    stream.subscribe();
    expect(await closed(stream)).toEqual({ how: 'ended' });
    expect(signal.aborted).toBe(true);
  });

  it('Hooks, pings and statistics are functions', async () => {
    await listening();
    const peer = dial();
    const frames: string[] = [];
    onFrame(peer, (direction, { type }) => frames.push(`${direction} ${type}`));
    onOpen(peer, (headers) => {
      headers['trace'] = 'a7';
    });
    expect(await peer.request('headers')).toEqual({ trace: 'a7' });
    expect(frames).toEqual(['tx open', 'rx data']);
    expect(await ping(peer)).toBeGreaterThanOrEqual(0);
    expect(stats(peer).streams.opened).toBe(1);
  });

  it('`hello` greets the server on each socket', async () => {
    await listening({ onHello: (token, stream) => stream.reply(`hi ${String(token)}`) });
    const replies: unknown[] = [];
    const peer = dial({ hello: hello(() => ({ payload: 'ann', onReply: (said) => replies.push(said) })) });
    await peer.opened;
    expect(replies).toEqual(['hi ann']);
  });

  it('`reconnect` dials again after a lost socket, and a call that waits is sent then', async () => {
    await listening();
    const peer = dial({ reconnect: reconnect({ minDelayMs: 1 }) });
    const codes: number[] = [];
    onClose(peer, ({ code }) => codes.push(code));
    expect(await peer.request('before')).toBe('before');
    await server.close();
    await until('the loss of the socket', () => codes.length > 0);
    const waiting = firstValueFrom(peer.request$('after').pipe(retryWhenSafe()));
    await listening();
    expect(await waiting).toBe('after');
    expect(peer.status).toEqual({ state: 'open', reconnects: 1 });
  });

  it('A running stream ends after a goaway of the server, and the next call goes to a new socket', async () => {
    await listening();
    const peer = dial({ reconnect: reconnect({ minDelayMs: 1 }) });
    const running = peer.open<unknown[]>('collect');
    await send(running, 1);
    await peer.request('ready');
    const [served] = server.peers;
    const left = (served as Peer).close({ drainMs: 10_000 });
    await until('the goaway', () => peer.status.state !== 'open');
    expect(await peer.request('next')).toBe('next');
    await end(running);
    expect(await firstValueFrom(running)).toEqual([1]);
    await left;
  });

  it('Without `reconnect` the peer closes with its socket', async () => {
    await listening();
    const peer = dial();
    await peer.opened;
    await server.close();
    expect(await peer.closed).toMatchObject({ willRetry: false });
  });

  it('Both entry points reach the same server with the same errors', async () => {
    await listening();
    const lean = dial();
    const full = connectFull(`ws://127.0.0.1:${await port()}`, {
      keepalive: false,
      socket: (url, protocol) => new WebSocket(url, protocol),
    });
    const errorOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => Object.entries(error as Error));
    const ofLean = await errorOf(lean.request('fail'));
    expect(ofLean).toContainEqual(['reason', 'no such row']);
    expect(ofLean).toEqual(await errorOf(full.request('fail')));
    await full.close();
  });

  it.each([
    ['retry', (peer: LeanPeer) => peer.open$(1, { retry: 'safe' } as object)],
    ['input', (peer: LeanPeer) => peer.open$(1, { input: [1] } as object)],
  ])('A lean peer refuses the option `%s` of `rxmux`', async (option, call) => {
    await listening();
    const peer = dial();
    expect(() => call(peer)).toThrow(new TypeError(`${option}: expected a peer of 'rxmux', got one of 'rxmux/lean'`));
  });

  it.each([
    ['reconnect: true', { reconnect: true }, 'reconnect: expected the result of reconnect(), got true'],
    ['a function as hello', { hello: () => ({}) }, 'hello: expected the result of hello()'],
    ['idleCloseMs without lazy', { idleCloseMs: 5 }, 'idleCloseMs: expected lazy: true beside it, got none'],
  ])('`connect` refuses %s', async (_, options, message) => {
    await listening();
    expect(() => connect('ws://127.0.0.1:1', options as object)).toThrow(message);
  });
});
