import { describe, expect, it, jest } from '@jest/globals';
import { EMPTY, firstValueFrom, timer } from 'rxjs';
import type { ConnectOptions, DialContext, Hello, OpenInterceptor, Peer, StreamHandler } from '../../../src/index.js';
import { connectOver } from '../../../src/peer/connect.js';
import { MemoryLink } from '../../../src/testing/memory-link.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { settled } from '../../support/peer/outcome.js';
import { echo, greeted, later, welcome } from '../../support/peer/dialing.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { ScriptedTransport } from '../../support/socket/scripted-transport.js';

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
      { type: 'open', stream: 1, end: true, headers: { token: 't' }, payload: 'me' },
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
    expect(sent).toEqual([{ type: 'open', stream: 1, end: true, ...fields }]);
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
    const { peer } = greeted({ hello: () => ({}), helloTimeoutMs: 0 }, { onHello: () => new Promise(() => undefined), helloTimeoutMs: 0 });
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
