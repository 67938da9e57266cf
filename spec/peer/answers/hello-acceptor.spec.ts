import { describe, expect, it } from '@jest/globals';
import type { ConnectOptions, Peer, StreamHandler } from '../../../src/index.js';
import { framesOf } from '../../support/peer/frames.js';
import type { Envelope } from '../../support/peer/frames.js';
import type { NetworkOptions } from '../../support/peer/network.js';
import { echo, greeted, later, welcome } from '../../support/peer/dialing.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
collectLogs();

describe('Hello of an acceptor', () => {
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
    link.inject('acceptor', JSON.stringify({ type: 'open', stream: 1, payload: 'me', end }));
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
    link.inject('acceptor', JSON.stringify({ type: 'open', stream: 1, payload: 'me' }));
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
      { type: 'open', stream: 1, payload: 'bad token', end: true },
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
      { type: 'open', stream: 1, payload: 'me', end: true },
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
