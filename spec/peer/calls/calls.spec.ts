import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import type { OpenOptions } from '../../../src/peer/calls.js';
import type { Peer } from '../../../src/peer/peer.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { settled } from '../../support/peer/outcome.js';
import { pair } from '../../support/peer/pairs.js';
import { sends, stays } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();

const logs = collectLogs();

describe('notify', () => {
  it.each<[string, StreamHandler]>([
    ['a reply', (_, stream) => stream.reply(1)],
    ['a failure', () => Promise.reject(new Error('no'))],
    [
      'a reset',
      (_, stream) => {
        stream.reset(300);
      },
    ],
  ])('A `notify` keeps no state: its session drops %s and sends no frame in return', async (_what, handler) => {
    const { dialer, sent } = pair(handler);
    dialer.notify('p');
    await time.advance();
    expect(sent).toEqual([{ type: 'open', stream: 1, end: true, payload: 'p' }]);
    expect(logs.warnings).toEqual([]);
    expect(time.isOver()).toBe(true);
  });

  it('`notify` throws a TypeError for a payload that cannot be encoded, as `open` does', () => {
    const { dialer } = pair(stays);
    expect(() => {
      dialer.notify(1n);
    }).toThrow(TypeError);
  });
});

/** The calls that accept a signal and a time-out. */
const CALLS: readonly (readonly [call: string, (peer: Peer, options: OpenOptions) => Promise<unknown>])[] = [
  ['open', (peer, options) => new Promise((resolve) => peer.open('p', options).subscribe({ error: resolve }))],
  ['open$', (peer, options) => new Promise((resolve) => peer.open$('p', options).subscribe({ error: resolve }))],
  ['request', (peer, options) => peer.request('p', options as OpenOptions<unknown, never>).catch((error: unknown) => error)],
  ['request$', (peer, options) => new Promise((resolve) => peer.request$('p', options).subscribe({ error: resolve }))],
];

describe.each(CALLS)('%s with an AbortSignal', (_call, call) => {
  it('A call is cancelled when its signal aborts, and its error carries the reason', async () => {
    const { dialer, sent } = pair(stays);
    const abort = new AbortController();
    const failed = call(dialer, { signal: abort.signal });
    await time.advance();
    const why = new Error('the user left');
    abort.abort(why);
    expect(await failed).toMatchObject({ code: 'CANCELLED', cause: why, streamId: 1, retriable: false });
    expect(sent.at(-1)).toEqual({ type: 'reset', stream: 1, code: 8, reason: 'aborted' });
  });

  it('A call whose signal has already aborted sends no frame and uses no stream id', async () => {
    const { dialer, acceptor, sent } = pair(stays);
    const received = framesOf(acceptor, 'rx');
    const options = { signal: AbortSignal.abort('why'), timeoutMs: 60_000 };
    const failed = call(dialer, options);
    await time.advance();
    expect(await failed).toMatchObject({ code: 'CANCELLED', cause: 'why', streamId: null });
    expect([sent, received]).toEqual([[], []]);
    expect(time.isOver()).toBe(true);
    expect(dialer.open().id).toBe(1);
  });

  it('A call accepts null as no signal, and refuses another value before it opens', async () => {
    const { dialer } = pair(stays);
    const bad = { aborted: false } as unknown as AbortSignal;
    const refused = async (): Promise<unknown> => call(dialer, { signal: bad });
    const error = refused().catch((thrown: unknown) => thrown);
    await time.advance();
    expect(await error).toEqual(new TypeError('signal: expected an AbortSignal, got object'));
    void call(dialer, { signal: null as unknown as undefined });
    expect(dialer.open().id).toBe(3);
  });

  it('A call releases the signal when its stream has ended', async () => {
    const { dialer } = pair((_, stream) => {
      stream.reset(300);
    });
    const { signal } = new AbortController();
    const failed = call(dialer, { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await time.advance();
    await failed;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('A call releases the signal when its stream is refused at once', async () => {
    const { dialer } = pair(stays);
    void dialer.close();
    const { signal } = new AbortController();
    const failed = call(dialer, { signal });
    await time.advance();
    expect(await failed).toMatchObject({ code: 'REFUSED' });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('A signal that served an ended call also cancels the next one', async () => {
    const { dialer } = pair((payload, stream) => (stream.id === 1 ? stream.reset(300) : stays(payload, stream)));
    const abort = new AbortController();
    const first = call(dialer, { signal: abort.signal });
    await time.advance();
    expect(await first).toMatchObject({ code: 'RESET' });
    const second = call(dialer, { signal: abort.signal });
    await time.advance();
    abort.abort();
    expect(await second).toMatchObject({ code: 'CANCELLED', streamId: 3 });
  });

  it('Calls of one signal share one listener, and are cancelled in the order of their opening', async () => {
    const { dialer, sent } = pair((payload, stream) => (stream.id === 3 ? stream.reset(300) : stays(payload, stream)));
    const abort = new AbortController();
    const failed = [1, 3, 5].map(() => call(dialer, { signal: abort.signal }));
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
    await time.advance();
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
    abort.abort();
    expect(await Promise.all(failed)).toMatchObject([{ code: 'CANCELLED' }, { code: 'RESET' }, { code: 'CANCELLED' }]);
    expect(sent.filter(({ type }) => type === 'reset').map(({ stream }) => stream)).toEqual([1, 5]);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });
});

describe('timeoutMs of open and open$', () => {
  it.each(CALLS.slice(0, 2))('%s has no time-out by default', async (_call, call) => {
    const { dialer, sent } = pair(stays);
    void call(dialer, {});
    await time.advance(86_400_000);
    expect(sent).toHaveLength(1);
  });

  it.each(CALLS.slice(0, 2))('`timeoutMs` limits the whole stream of %s', async (_call, call) => {
    const { dialer, sent } = pair(sends(1));
    const failed = call(dialer, { timeoutMs: 100 });
    await time.advance(100);
    expect(await failed).toMatchObject({ code: 'DEADLINE_EXCEEDED', timeoutMs: 100, streamId: 1 });
    expect(sent.at(-1)).toMatchObject({ type: 'reset', code: 17 });
  });

  it('`timeoutMs` names the library, not the user, in the cause of the reset', async () => {
    const { dialer } = pair(stays);
    const stream = dialer.open('p', { timeoutMs: 100 });
    stream.subscribe({ error: () => undefined });
    await time.advance(100);
    expect(stream.cause).toEqual({ how: 'reset', by: 'library', code: 17, reason: 'not done within 100 ms', payload: null });
  });

  it.each([-1, NaN, '5' as unknown as number])('`timeoutMs` of %p is refused with a TypeError', (timeoutMs) => {
    const { dialer, sent } = pair(stays);
    expect(() => dialer.open('p', { timeoutMs })).toThrow(TypeError);
    expect(sent).toEqual([]);
  });

  it('Calls time out in the order of their deadlines, not in the order of the calls', async () => {
    const { dialer } = pair(stays);
    const seen: unknown[] = [];
    for (const timeoutMs of [300, 100, 200, 100])
      dialer.open(null, { timeoutMs }).subscribe({ error: (error: { streamId: number }) => seen.push([time.now, error.streamId]) });
    await time.advance(1_000);
    expect(seen).toEqual([
      [100, 3],
      [100, 7],
      [200, 5],
      [300, 1],
    ]);
    expect(time.isOver()).toBe(true);
  });
});

describe('onOpen', () => {
  it('`onOpen` runs after the open was queued, so that its own frames follow the open', async () => {
    const { dialer, sent } = pair(stays);
    dialer.open('p', {
      onOpen: (stream) => {
        void stream.send('first');
      },
    });
    await time.advance();
    expect(sent).toEqual([
      { type: 'open', stream: 1, payload: 'p' },
      { type: 'data', stream: 1, payload: 'first' },
    ]);
  });

  it('`onOpen` that resets the stream sends the reset after the open', async () => {
    const { dialer, sent } = pair(stays);
    const outcome = settled(
      dialer.request('p', {
        onOpen: (stream) => {
          stream.reset(300, 'no');
        },
      }),
    );
    await time.advance();
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'RESET', resetCode: 300 }) });
    expect(sent.map((frame) => frame['type'])).toEqual(['open', 'reset']);
  });
  it('`onOpen` that throws cancels the stream, and the call fails with its error', async () => {
    const { dialer, sent } = pair(stays);
    const fault = new Error('no');
    const outcome = settled(
      dialer.request('p', {
        onOpen: () => {
          throw fault;
        },
      }),
    );
    await time.advance();
    expect(await outcome).toEqual({ error: fault });
    expect(sent).toMatchObject([{ type: 'open' }, { type: 'reset', code: 8 }]);
  });
});
