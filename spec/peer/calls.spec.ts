import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, firstValueFrom, lastValueFrom, mergeMap, of, toArray } from 'rxjs';
import { ResetCode } from '../../src/index.js';
import type { CallEnd, CallEvent, Peer } from '../../src/index.js';
import type { OpenOptions } from '../../src/peer/calls.js';
import type { StreamHandler } from '../../src/peer/hooks.js';
import type { PeerOptions } from '../../src/peer/options.js';
import type { Stream } from '../../src/stream/stream.js';
import { createPair as createPairFromTesting } from '../../src/testing.js';
import type { PairOptions } from '../../src/testing.js';
import { dialing, SOON } from '../support/peer/dialing.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { Network } from '../support/peer/network.js';
import type { Dialed } from '../support/peer/network.js';
import { settled } from '../support/peer/outcome.js';
import { pair } from '../support/peer/pairs.js';
import { sends, stays } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { createPair } from '../support/peer/tracked.js';

describe('calls', () => {
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

    it.each(CALLS)(
      'The time-out of %s is DEADLINE_EXCEEDED, also where the reset of a remote with the same deadline comes first',
      async (_call, call) => {
        const { dialer, link, sent } = pair(stays);
        const late = { type: 'reset', stream: 1, code: ResetCode.DEADLINE_EXCEEDED, reason: 'not done within 100 ms' };
        asyncScheduler.schedule(() => {
          link.inject('dialer', JSON.stringify(late));
        }, 100);
        const failed = call(dialer, { timeoutMs: 100 });
        await time.advance(100);
        expect(await failed).toMatchObject({ code: 'DEADLINE_EXCEEDED', timeoutMs: 100, streamId: 1 });
        // No reset answers a reset (S5).
        expect(sent.map(({ type }) => type)).toEqual(['open']);
        expect(time.isOver()).toBe(true);
      },
    );

    it('A deadline of the remote alone is a RESET', async () => {
      const { dialer } = pair((_, stream) => {
        stream.reset(ResetCode.DEADLINE_EXCEEDED, 'too long here');
      });
      const failed = CALLS[0]?.[1](dialer, { timeoutMs: 100 });
      await time.advance(99);
      expect(await failed).toMatchObject({ code: 'RESET', resetCode: 17, reason: 'too long here' });
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
});

describe('request', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  /** The calls with one answer. */
  const ASKING: readonly (readonly [
    call: string,
    (peer: Peer, payload: unknown, options?: OpenOptions<unknown, never>) => Promise<unknown>,
  ])[] = [
    ['request', (peer, payload, options) => peer.request(payload, options)],
    ['request$', (peer, payload, options) => firstValueFrom(peer.request$(payload, options))],
  ];

  describe('request', () => {
    it('`request` rejects for wrong options, and does not throw', async () => {
      const { dialer, sent } = pair(stays);
      const outcome = settled(dialer.request('p', { retry: { count: -1 } }));
      expect(await outcome).toEqual({ error: new TypeError('retry.count: expected a number of at least 0, got -1') });
      expect(sent).toEqual([]);
    });
  });

  describe.each(ASKING)('%s', (_call, ask) => {
    it.each<[string, StreamHandler, unknown]>([
      ['the payload of the reply', (_, stream) => stream.reply({ a: [1] }), { a: [1] }],
      ['null for a null reply', (_, stream) => stream.reply(null), null],
      ['null for an end without a payload', (_, stream) => stream.reply(), null],
      ['null for the implicit end', () => undefined, null],
      ['the first payload, also when the end comes later', (_, stream) => stream.sendAll([1]), 1],
    ])('A request settles with %s', async (_what, handler, value) => {
      const { dialer } = pair(handler);
      const answer = ask(dialer, 'p');
      await time.advance();
      expect(await answer).toEqual(value);
    });

    it('A request settles with the first payload, and an end that follows closes the stream', async () => {
      const { dialer, sent, streams } = pair(sends(1));
      const answer = ask(dialer, 'p');
      await time.advance();
      expect(await answer).toBe(1);
      expect(streams[0]?.phase).toBe('halfClosedRemote');
      void streams[0]?.end();
      await time.advance();
      expect(sent).toHaveLength(1);
      expect(streams[0]?.cause).toEqual({ how: 'ended' });
    });

    it('A request rejects with the reset of the remote', async () => {
      const { dialer } = pair((_, stream) => {
        stream.reset(300, 'quota', { limit: 1 });
      });
      const outcome = settled(ask(dialer, 'p'));
      await time.advance();
      expect(await outcome).toEqual({
        error: expect.objectContaining({
          code: 'RESET',
          resetCode: 300,
          reason: 'quota',
          payload: { limit: 1 },
          streamId: 1,
          retriable: false,
        }),
      });
    });

    it('A request rejects for a payload that cannot be sent, and does not throw', async () => {
      const { dialer, sent } = pair(stays);
      const outcomes = Promise.all([settled(ask(dialer, 1n)), settled(ask(dialer, 1, { timeoutMs: -1 }))]);
      await time.advance();
      expect(await outcomes).toEqual([{ error: expect.any(TypeError) }, { error: expect.any(TypeError) }]);
      expect(sent).toEqual([]);
    });

    it('A request passes its stream to `onOpen`, which offers reply headers and trailers', async () => {
      const { dialer } = pair((_, stream) => stream.reply(1, { headers: { h: 1 }, trailers: { t: 2 } }));
      const streams: Stream<unknown, never>[] = [];
      const answer = ask(dialer, 'p', { onOpen: (stream) => streams.push(stream) });
      await time.advance();
      await answer;
      expect(streams).toEqual([expect.objectContaining({ id: 1, replyHeaders: { h: 1 }, trailers: { t: 2 }, phase: 'closed' })]);
    });

    it('A request continues when a promise of `onOpen` rejects, and logs the rejection', async () => {
      const { dialer } = pair((_, stream) => stream.reply(1));
      const onOpen: unknown = () => Promise.reject(new Error('too late'));
      const answer = ask(dialer, 'p', { onOpen: onOpen as () => void });
      await time.advance();
      expect([await answer, logs.errors]).toEqual([1, ['rxmux: onOpen failed']]);
    });

    it('A reader that leaves the stream of a request does not cancel the request', async () => {
      const { dialer, sent } = pair(sends(1));
      const seen: unknown[] = [];
      const answer = ask(dialer, 'p', {
        onOpen: (stream) => {
          const subscription = stream.subscribe((value) => {
            seen.push(value);
            subscription.unsubscribe();
          });
        },
      });
      await time.advance();
      expect([await answer, seen, sent.length]).toEqual([1, [1], 1]);
    });

    it('A request times out after 30 s by default', async () => {
      const { dialer, sent } = pair(stays);
      const outcome = settled(ask(dialer, 'p'));
      await time.advance(29_999);
      expect(sent).toHaveLength(1);
      await time.advance(1);
      expect(await outcome).toEqual({
        error: expect.objectContaining({
          code: 'DEADLINE_EXCEEDED',
          timeoutMs: 30_000,
          streamId: 1,
          retriable: false,
          message: expect.stringContaining('30000 ms'),
        }),
      });
      expect(sent.at(-1)).toMatchObject({ type: 'reset', code: 17 });
    });

    it.each<[string, PeerOptions, OpenOptions<unknown, never>, number]>([
      ['requestTimeoutMs', { requestTimeoutMs: 200 }, {}, 200],
      ['timeoutMs', {}, { timeoutMs: 100 }, 100],
      ['timeoutMs, ahead of requestTimeoutMs', { requestTimeoutMs: 200 }, { timeoutMs: 300 }, 300],
    ])('A request times out as %s says', async (_what, options, call, ms) => {
      const { dialer, sent } = pair(stays, { dialer: options });
      const outcome = settled(ask(dialer, 'p', call));
      await time.advance(ms - 1);
      expect(sent).toHaveLength(1);
      await time.advance(1);
      expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'DEADLINE_EXCEEDED', timeoutMs: ms }) });
    });

    it.each<[string, PeerOptions, OpenOptions<unknown, never>]>([
      ['requestTimeoutMs 0', { requestTimeoutMs: 0 }, {}],
      ['timeoutMs 0', {}, { timeoutMs: 0 }],
      ['timeoutMs Infinity', {}, { timeoutMs: Infinity }],
    ])('A request never times out with %s', async (_what, options, call) => {
      const { dialer, sent } = pair(stays, { dialer: options });
      void settled(ask(dialer, 'p', call));
      await time.advance(86_400_000);
      expect(sent).toHaveLength(1);
    });

    it('A request leaves no timer after its answer', async () => {
      const { dialer } = pair((_, stream) => stream.reply(1));
      const answer = ask(dialer, 'p');
      await time.advance();
      await answer;
      expect(time.isOver()).toBe(true);
    });

    it('Many requests leave no timer once the peer is closed', async () => {
      const { dialer } = pair((_, stream) => stream.reply(1));
      for (let n = 0; n < 150; n++) {
        const answer = ask(dialer, 'p');
        await time.advance();
        await answer;
      }
      void dialer.close();
      await time.advance();
      expect(time.isOver()).toBe(true);
    });

    it('A request on a closed peer leaves no timer', async () => {
      const { dialer } = pair(stays);
      void dialer.close();
      await time.advance();
      const outcome = settled(ask(dialer, 'p'));
      await time.advance();
      expect(await outcome).toEqual({
        error: expect.objectContaining({ code: 'REFUSED', resetCode: null, retriable: false, streamId: null }),
      });
      expect(time.isOver()).toBe(true);
    });
  });

  describe('request$', () => {
    it('`request$` is cold: each subscription makes a new request', async () => {
      let asked = 0;
      const { dialer } = pair((_, stream) => stream.reply(++asked));
      const answer$ = dialer.request$('p');
      expect(asked).toBe(0);
      const answers = Promise.all([firstValueFrom(answer$), firstValueFrom(answer$)]);
      await time.advance();
      expect(await answers).toEqual([1, 2]);
    });

    it('`request$` cancels nothing when it is unsubscribed after its answer', async () => {
      const { dialer, sent } = pair(sends(1));
      const answers = lastValueFrom(dialer.request$('p').pipe(toArray()));
      await time.advance();
      expect([await answers, sent.length]).toEqual([[1], 1]);
    });
  });
});

describe('call events', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  /** Collects the calls of a peer, and their ends. */
  function callsOf(peer: Peer): { readonly calls: CallEvent[]; readonly ends: CallEnd[] } {
    const [calls, ends]: [CallEvent[], CallEnd[]] = [[], []];
    peer.calls$.subscribe((call) => calls.push(call));
    peer.calls$.pipe(mergeMap(({ end$ }) => end$)).subscribe((end) => ends.push(end));
    return { calls, ends };
  }

  describe('calls$', () => {
    it('Each way to open a stream emits one call, with its label, before the open leaves', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((payload, stream) => stream.reply(payload));
      const { calls } = callsOf(dialer);
      const sent: (number | null)[] = [];
      dialer.onFrame((direction, { type, stream }) => {
        if (direction === 'tx' && type === 'open') sent.push(Number(stream));
      });
      dialer.calls$.subscribe(({ stream }) => sent.push(stream.id === sent.at(-1) ? NaN : null));
      void dialer.request(['request']);
      dialer.request$(['request$']).subscribe();
      dialer.open(['open']);
      dialer.open$(['open$']).subscribe();
      dialer.open$(['upload'], { input: of(1) }).subscribe();
      dialer.notify(['notify']);
      await time.advance();
      expect(calls.map(({ stream, isNotification }) => [stream.label, stream.id, isNotification])).toEqual([
        ['request', 1, false],
        ['request$', 3, false],
        ['open', 5, false],
        ['open$', 7, false],
        ['upload', 9, false],
        ['notify', 11, true],
      ]);
      expect(sent).toEqual([null, 1, null, 3, null, 5, null, 7, null, 9, null, 11]);
    });

    it('A call has the time of its open and of its end, and the cause', async () => {
      const { dialer, acceptor } = createPair({ latencyMs: 10 });
      acceptor.onStream((payload, stream) => (payload === 'fails' ? stream.reset(300, 'no') : stream.reply(1)));
      const { calls, ends } = callsOf(dialer);
      const outcomes = [settled(dialer.request('works')), settled(dialer.request('fails'))];
      await time.advance(100);
      await Promise.all(outcomes);
      const [first] = calls;
      expect(ends.map(({ at, cause }) => [at - Number(first?.at), cause])).toEqual([
        [20, { how: 'ended' }],
        [20, { how: 'reset', by: 'remote', code: 300, reason: 'no', payload: null }],
      ]);
    });

    it.each(['cancelled', 'aborted before', 'lost'])('A call that is %s ends once', async (how) => {
      const { dialer, link } = createPair();
      const { ends } = callsOf(dialer);
      const abort = new AbortController();
      if (how === 'aborted before') abort.abort();
      const subscription = dialer.open$('p', { signal: abort.signal }).subscribe({ error: () => undefined });
      await time.advance();
      if (how === 'cancelled') subscription.unsubscribe();
      if (how === 'lost') link.cut();
      await time.advance();
      expect(ends).toHaveLength(1);
    });

    it('The end of a call reaches a late subscriber', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => stream.reply(1));
      const { calls } = callsOf(dialer);
      void dialer.request('p');
      await time.advance(50);
      const late = calls.map(({ end$ }) => firstValueFrom(end$));
      expect(await Promise.all(late)).toEqual([{ at: calls[0]?.at, cause: { how: 'ended' } }]);
    });

    it('A subscriber may reset the stream that is being opened, and then no open leaves', async () => {
      const { dialer, acceptor } = createPair();
      const opened: unknown[] = [];
      acceptor.onStream((payload) => void opened.push(payload));
      dialer.calls$.subscribe(({ stream }) => {
        stream.reset(300, 'not now');
      });
      const outcome = settled(dialer.request('p'));
      await time.advance();
      expect(await outcome).toHaveProperty('error.code', 'RESET');
      expect(opened).toEqual([]);
      expect(logs.errors).toEqual([]);
    });

    it('A subscriber may open streams, and all opens leave in the order of their ids', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((payload, stream) => stream.reply(payload));
      const opens: unknown[] = [];
      dialer.onFrame((direction, { type, stream, payload }) => {
        if (direction === 'tx' && type === 'open') opens.push([stream, payload]);
      });
      dialer.calls$.subscribe(({ isNotification }) => {
        if (!isNotification) dialer.notify('seen');
      });
      const outcomes = [settled(dialer.request('p')), settled(dialer.request('q'))];
      await time.advance();
      expect(await Promise.all(outcomes)).toEqual([{ value: 'p' }, { value: 'q' }]);
      expect(opens).toEqual([
        [1, 'p'],
        [3, 'seen'],
        [5, 'q'],
        [7, 'seen'],
      ]);
      expect(dialer.status.state).toBe('open');
    });

    it('A subscriber may send on the stream, behind its open', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream(async (_, stream) => stream.reply(await lastValueFrom(stream.pipe(toArray()))));
      dialer.calls$.subscribe(({ stream }) => void stream.send('first'));
      const stream = dialer.open('p');
      void stream.send('second');
      void stream.end();
      const answer = settled(firstValueFrom(stream));
      await time.advance();
      expect(await answer).toEqual({ value: ['first', 'second'] });
    });

    it.each([0, 5_000])('A subscriber that closes the peer with %i ms to drain refuses the call', async (drainMs) => {
      const { dialer } = createPair();
      dialer.calls$.subscribe(() => void dialer.close({ drainMs }));
      const outcome = settled(dialer.request('p'));
      expect(await outcome).toMatchObject({ error: { code: 'REFUSED', reason: 'this peer was closed' } });
      await time.advance(5_000);
      expect(dialer.status.state).toBe('closed');
    });

    it('`calls$` is one Observable, which completes when the peer has ended', async () => {
      const { dialer } = createPair();
      expect(dialer.calls$).toBe(dialer.calls$);
      let completed = false;
      dialer.calls$.subscribe({ complete: () => (completed = true) });
      void dialer.close();
      await time.advance();
      expect(completed).toBe(true);
    });
  });

  describe('Round trips', () => {
    it('A peer knows its last round trip, and emits each one', async () => {
      const { dialer } = createPair({ latencyMs: 15 });
      const seen: number[] = [];
      dialer.rtt$.subscribe((ms) => seen.push(ms));
      expect(dialer.rttMs).toBeNull();
      void dialer.ping();
      await time.advance(30);
      void dialer.ping();
      await time.advance(30);
      expect([seen, dialer.rttMs]).toEqual([[30, 30], 30]);
    });

    it('The pings of keepalive measure a connection that nothing else uses', async () => {
      const { dialer } = createPair({ latencyMs: 15, dialer: { keepalive: { idleMs: 1_000 } } });
      await time.advance(1_031);
      expect(dialer.rttMs).toBe(30);
    });
  });
});

describe('notifications in order', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  const KIB = 1024;

  /** A payload of `kib` KiB that begins with its number. */
  const numbered = (n: number, kib: number): string => `${n}:${'x'.repeat(kib * KIB)}`;
  const numberOf = (payload: unknown): number => Number(String(payload).split(':')[0]);

  /** The numbers that a peer receives, in order. */
  function seenBy(peer: Peer): readonly number[] {
    const seen: number[] = [];
    peer.onStream((payload, stream) => {
      seen.push(numberOf(payload));
      return stream.reply(numberOf(payload));
    });
    return seen;
  }

  function pairOf(options?: PairOptions) {
    const pair = createPairFromTesting(options);
    return { ...pair, seen: seenBy(pair.acceptor) };
  }

  describe('Notifications of one peer', () => {
    it.each<[string, readonly number[]]>([
      ['big and small in turn', [300, 0, 300, 0, 300, 0]],
      ['small, big and large in turn', [0, 100, 40, 600, 0, 0, 70, 1]],
      ['of a size close to one message', [64, 63, 65, 0, 64]],
    ])('Notifications are handled in the order of their calls: %s', async (_what, sizes) => {
      const { dialer, seen } = pairOf();
      sizes.forEach((kib, n) => {
        dialer.notify(numbered(n, kib));
      });
      await time.advance(1_000);
      expect(seen).toEqual([...sizes.keys()]);
    });

    it('Notifications of the acceptor are handled in order', async () => {
      const { dialer, acceptor } = createPairFromTesting();
      const seen = seenBy(dialer);
      acceptor.notify(numbered(0, 300));
      acceptor.notify(numbered(1, 0));
      await time.advance(1_000);
      expect(seen).toEqual([0, 1]);
    });

    it('A request overtakes notifications, and ids still rise in the order of the opens', async () => {
      const { dialer, seen } = pairOf();
      const sent = framesOf(dialer);
      dialer.notify(numbered(0, 600));
      dialer.notify(numbered(1, 0));
      const answer = dialer.request(numbered(2, 0));
      await time.advance(1_000);
      expect(await answer).toBe(2);
      expect(seen).toEqual([2, 0, 1]);
      expect([...new Set(sent.filter(({ type }) => type === 'open').map(({ stream }) => stream))]).toEqual([1, 3, 5]);
    });

    it('Notifications share one turn: a transfer beside them sends every other slice', async () => {
      const { dialer } = pairOf();
      const sent = framesOf(dialer);
      for (const n of [0, 1, 2, 3]) dialer.notify(numbered(n, 300));
      const transfer = dialer.open(numbered(4, 300), { end: true });
      await time.advance(1_000);
      const opened = sent.filter(({ type }) => type === 'open').map(({ stream }) => stream);
      const turns = opened.slice(opened.indexOf(transfer.id), opened.lastIndexOf(transfer.id) + 1).map((id) => id === transfer.id);
      expect(turns).toEqual([true, false, true, false, true, false, true, false, true]);
    });

    it('Waiting notifications count as buffered', () => {
      const { dialer } = pairOf();
      dialer.notify(numbered(0, 300));
      const before = dialer.bufferedAmount;
      dialer.notify(numbered(1, 50));
      expect(dialer.bufferedAmount - before).toBeGreaterThanOrEqual(50 * KIB);
    });

    it('Notifications leave before a clean close', async () => {
      const { dialer, seen } = pairOf();
      [300, 0, 300, 0].forEach((kib, n) => {
        dialer.notify(numbered(n, kib));
      });
      const closed = dialer.close();
      dialer.notify(numbered(9, 0));
      await time.advance(1_000);
      expect(await closed).toMatchObject({ code: 1000, wasClean: true });
      expect(seen).toEqual([0, 1, 2, 3]);
      expect(logs.warnings).toEqual(['rxmux: 1 notify() never left: this peer was closed']);
    });

    it('Notifications continue after the remote has reset one of them', async () => {
      const { dialer, acceptor, seen } = pairOf({ limits: { maxPayloadBytes: 200 * KIB } });
      dialer.notify(numbered(0, 1_000));
      dialer.notify(numbered(1, 0));
      await time.advance(1_000);
      expect(seen).toEqual([1]);
      expect(acceptor.status.state).toBe('open');
    });

    it('A goaway without a redial drops waiting notifications with a warning', async () => {
      const { dialer, acceptor } = pairOf();
      dialer.notify(numbered(0, 1_000));
      dialer.notify(numbered(1, 0));
      void acceptor.close();
      await time.advance(1_000);
      expect(logs.warnings).toEqual(['rxmux: 1 notify() never left: the remote went away']);
    });

    it('A lost connection without a redial drops waiting notifications with a warning', async () => {
      const { dialer, link } = pairOf();
      dialer.notify(numbered(0, 1_000));
      dialer.notify(numbered(1, 0));
      dialer.notify(numbered(2, 0));
      link.cut();
      await time.advance(1_000);
      expect(logs.warnings).toEqual(['rxmux: 2 notify() never left: the connection was lost']);
    });
  });

  describe('Notifications across sockets', () => {
    /** A dialing peer, and the numbers that its servers receive. */
    function redialing() {
      const seen: number[] = [];
      const network = new Network({
        onStream: (payload, stream) => {
          if (payload === 'held') return stays(payload, stream);
          seen.push(numberOf(payload));
          return stream.reply(numberOf(payload));
        },
      });
      return { network, seen, peer: dialing(network, { reconnect: SOON }) };
    }

    it('Notifications that wait for a connection are handled in the order of their calls', async () => {
      const { peer, seen } = redialing();
      const sizes = [300, 0, 300, 0, 0];
      sizes.forEach((kib, n) => {
        peer.notify(numbered(n, kib));
      });
      const answer = peer.request(numbered(5, 0));
      await time.advance(1_000);
      expect(await answer).toBe(5);
      expect(seen).toEqual([5, ...sizes.keys()]);
    });

    it.each<[string, (remote: Dialed) => void, readonly number[]]>([
      ['a lost socket', ({ link }) => link.cut(), [1, 2, 3, 4, 5]],
      ['a goaway', ({ peer }) => void peer.close({ drainMs: 60_000 }), [1, 2, 3, 5]],
      ['a goaway with an error', ({ peer }) => void peer.close({ code: ResetCode.INTERNAL_ERROR }), [1, 2, 3, 4, 5]],
    ])('Unsent notifications move to the next socket in the order of their calls, after %s', async (_what, end, expected) => {
      const { network, peer, seen } = redialing();
      await time.advance(10);
      const first = network.last;
      peer.open('held').subscribe({
        error: () => {
          peer.notify(numbered(4, 0));
        },
      });
      await time.advance(10);
      first.link.stall('acceptor');
      [3_000, 0, 300, 0].forEach((kib, n) => {
        peer.notify(numbered(n, kib));
      });
      await time.advance(1);
      end(first);
      await time.advance(20);
      peer.notify(numbered(5, 0));
      await time.advance(5_000);
      expect(seen).toEqual(expected);
    });
  });
});
