import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, lastValueFrom, toArray } from 'rxjs';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import type { OpenOptions } from '../../../src/peer/calls.js';
import type { PeerOptions } from '../../../src/peer/options.js';
import type { Peer } from '../../../src/peer/peer.js';
import type { Stream } from '../../../src/stream/stream.js';
import { collectLogs } from '../../support/peer/logs.js';
import { settled } from '../../support/peer/outcome.js';
import { pair } from '../../support/peer/pairs.js';
import { sends, stays } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

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
      error: expect.objectContaining({ code: 'REFUSED', resetCode: null, retriable: true, streamId: null }),
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
