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
import { ScriptedTransport } from '../../support/scripted-transport.js';

const time = virtualPeerTime();

const logs = collectLogs();

describe('the hello of a dialer', () => {
  it('is the first stream, of request shape, and skips the open interceptors', async () => {
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

  it('holds user opens, and opened, until its reply', async () => {
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
  ])('can be %s', async (_what, hello, fields) => {
    const { peer, sent } = greeted({ hello });
    await time.advance();
    expect(sent).toEqual([{ type: 'open', stream: 1, end: true, ...fields }]);
    expect(peer.status.state).toBe('open');
  });

  it('hands the reply, and its stream, to onReply before anything that waited leaves', async () => {
    const seen: unknown[] = [];
    const { peer, sent } = greeted({
      hello: () => ({ payload: 'me', onReply: (reply, stream) => seen.push(reply, stream.id, stream.replyHeaders, sent.length) }),
    });
    void peer.request('p');
    await time.advance();
    expect(seen).toEqual(['welcome me', 1, {}, 1]);
  });

  it('survives an onReply that throws, which is logged', async () => {
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

  it('runs on every dial, with what is known of those before it', async () => {
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
  /** What it was is told, and not what it held, which may be a secret. */
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
      'that throws',
      () => {
        throw refusal;
      },
      welcome,
      { code: 'CONNECT', message: 'no cursor', cause: refusal },
    ],
    ['that rejects', () => Promise.reject(refusal), welcome, { code: 'CONNECT', message: 'no cursor', cause: refusal }],
    ['that cannot be sent', () => ({ payload: 1n }), welcome, { code: 'CONNECT' }],
    ['that gives nothing', () => undefined as unknown as Hello, welcome, notAHello('undefined')],
    ['that gives null', () => null as unknown as Hello, welcome, notAHello('null')],
    ['that gives a list', () => ['secret'] as unknown as Hello, welcome, notAHello('array')],
    ['that gives its token as it is', () => Promise.resolve('secret' as unknown as Hello), welcome, notAHello('string')],
  ])('%s counts as a failed dial', async (_what, hello, onHello, error) => {
    const { peer, reasons } = greeted({ hello }, { onHello });
    const outcome = settled(peer.request('p'));
    await time.advance(3_000);
    await expect(peer.opened).rejects.toMatchObject(error);
    // Nothing of the call has left, whatever became of the hello's stream.
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'CONNECT', retriable: true }) });
    expect(await settled(peer.request('late'))).toEqual({ error: expect.objectContaining({ code: 'CONNECT', retriable: true }) });
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toMatchObject({ willRetry: false });
    expect(time.isOver()).toBe(true);
  });

  it('that was refused is the cause of what the calls that wait for it fail with', async () => {
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

  it('that was refused is said again by the reconnect helper, within its budget', async () => {
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

  it('is no failure of its own where its socket is lost: the close says so', async () => {
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
  ])('has %s for its reply', async (_what, helloTimeoutMs, ms) => {
    const options = Number.isNaN(helloTimeoutMs) ? {} : { helloTimeoutMs };
    const { peer } = greeted({ hello: () => ({}), ...options }, { onHello: () => new Promise(() => undefined), helloTimeoutMs: 0 });
    const outcome = settled(peer.opened);
    await time.advance(ms - 1);
    expect(peer.status.state).toBe('connecting');
    await time.advance(2_001);
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'DEADLINE_EXCEEDED', timeoutMs: ms }) });
    expect(time.isOver()).toBe(true);
  });

  it('has as long to be made', async () => {
    const { peer, sent } = greeted({ hello: () => new Promise(() => undefined), helloTimeoutMs: 300 });
    const outcome = settled(peer.opened);
    await time.advance(3_000);
    expect(await outcome).toEqual({
      error: expect.objectContaining({ code: 'CONNECT', message: 'expected a hello to send within 300 ms, got none' }),
    });
    expect(sent).toEqual([{ type: 'goaway', code: 0, last_stream: 0 }]);
    expect(time.isOver()).toBe(true);
  });

  it('has as long for both together', async () => {
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

  it('waits for ever with helloTimeoutMs 0', async () => {
    const { peer } = greeted({ hello: () => ({}), helloTimeoutMs: 0 }, { onHello: () => new Promise(() => undefined), helloTimeoutMs: 0 });
    await time.advance(86_400_000);
    expect(peer.status.state).toBe('connecting');
  });

  it('may close the peer: it is not said then, and nothing is left', async () => {
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
  ])('is not said on a socket that is lost %s', async (_when, atOnce) => {
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

  it('is not made on a socket that ends as it is first read', async () => {
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

  it('is told by its signal that its socket was lost while it is being made', async () => {
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

  it('belongs to its socket: it is not taken along to the next when nothing of it had left', async () => {
    const { network, peer } = greeted({ reconnect: { minDelayMs: 10, maxDelayMs: 10 }, hello: ({ attempt }) => ({ payload: attempt }) });
    const seen: unknown[] = [];
    peer.onFrame((direction, frame) => {
      if (direction === 'tx') seen.push(frame.payload);
      // The socket dies on the first hello.
      if (seen.length === 1) network.last.link.cut();
    });
    await time.advance(100);
    expect([seen, peer.status.state]).toEqual([[1, 2], 'open']);
    void peer.close();
  });

  it('takes a second payload for one too many', async () => {
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

describe('a peer with a hello', () => {
  it('is a Peer like any other to the remote: pushes come through during the hello', async () => {
    const { network, peer } = greeted({ hello: () => ({}), onStream: echo }, { onHello: later(100, welcome) });
    await time.advance(10);
    const pushed: Peer = network.last.peer;
    const answer = pushed.request('push');
    await time.advance(10);
    expect([await answer, peer.status.state]).toEqual(['push', 'connecting']);
  });
});
