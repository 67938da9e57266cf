import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { concat, EMPTY, from, NEVER, of, Subject, throwError, timer } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { ResetCode } from '../../../src/index.js';
import type { Input, Peer } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { collectLogs } from '../../support/peer/logs.js';

const time = virtualPeerTime();
collectLogs();

const making = () => ['a', 'b'].values();

describe('Input of `open$`', () => {
  it('An input function runs for each subscription', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.sendAll(stream));
    let made = 0;
    const echo$ = dialer.open$('echo', { input: () => [++made] });
    const seen: unknown[] = [];
    for (let n = 0; n < 2; n++) echo$.subscribe((value) => seen.push(value));
    await time.advance();
    expect(seen).toEqual([1, 2]);
  });

  it.each<[string, (peer: Peer) => ObservableInput<unknown>]>([
    ['an iterator', () => [1, 2].values()],
    [
      'a generator',
      () =>
        (function* () {
          yield 1;
        })(),
    ],
    [
      'an async generator',
      () =>
        (async function* () {
          yield await Promise.resolve(1);
        })(),
    ],
    ['a ReadableStream', () => new ReadableStream()],
    ['a stream of Node', () => Readable.from([1])],
    ['a stream', (peer) => peer.open()],
  ])('`retry` refuses %s as an input at once, because it cannot be sent again', (_what, input) => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    const given = input(dialer);
    const refused =
      'retry: expected an input that can be sent again, or a function that returns one, got an input that can be read only once';
    expect(() => dialer.open$('p', { input: given, retry: 'safe' })).toThrow(new TypeError(refused));
    expect(sent.filter(({ payload }) => payload === 'p')).toEqual([]);
  });

  it.each<[string, Input<unknown>]>([
    ['an array', ['a', 'b']],
    ['an Observable', of('a', 'b')],
    ['a function', () => ['a', 'b'].values()],
    ['a function that is its own iterator', Object.assign(making, { [Symbol.iterator]: () => making })],
  ])('An input that is %s is sent again by `retry`', async (_what, input) => {
    const { dialer, acceptor } = createPair();
    const given: unknown[] = [];
    let calls = 0;
    acceptor.onStream((_, stream) => {
      if (calls++ > 0) return stream.sendAll(stream);
      stream.reset(ResetCode.REFUSED);
      return undefined;
    });
    dialer.open$('p', { input, retry: { delay: 1 } }).subscribe((value) => given.push(value));
    await time.advance(10);
    expect([calls, given]).toEqual([2, ['a', 'b']]);
  });

  it('A call with an input completes when the remote has ended and the input is done', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => void stream.subscribe());
    const input = new Subject<number>();
    const seen: unknown[] = [];
    dialer.open$('p', { input }).subscribe({ complete: () => seen.push('complete') });
    await time.advance();
    expect(seen).toEqual([]);
    input.complete();
    await time.advance();
    expect(seen).toEqual(['complete']);
  });

  it('An input is stopped without an error when the remote needs no more', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.reply('enough'));
    const input = concat(of(1), NEVER);
    const seen: unknown[] = [];
    dialer
      .open$('p', { input })
      .subscribe({ next: (v) => seen.push(v), error: (e) => seen.push(e), complete: () => seen.push('complete') });
    await time.advance();
    expect(seen).toEqual(['enough', 'complete']);
  });

  it.each<[string, ObservableInput<unknown> | (() => ObservableInput<unknown>)]>([
    ['errors', throwError(() => new RangeError('no more'))],
    [
      'errors later',
      concat(
        timer(5),
        throwError(() => new RangeError('no more')),
      ),
    ],
    [
      'cannot be made',
      () => {
        throw new RangeError('no more');
      },
    ],
  ])('An input that %s resets the stream with its error, and the call fails with it', async (_what, input) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(() => new Promise(() => undefined));
    const sent = framesOf(dialer);
    const seen: unknown[] = [];
    dialer.open$('p', { input }).subscribe({ error: (error: unknown) => seen.push(error) });
    await time.advance(10);
    expect(seen).toEqual([expect.objectContaining({ name: 'RangeError', message: 'no more' })]);
    expect(sent.at(-1)).toEqual({
      type: 'reset',
      stream: 1,
      code: 16,
      payload: { name: 'RangeError', message: 'no more' },
      reason: 'no more',
    });
  });

  it('An empty input sends an open and an end', async () => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    dialer.open$('p', { input: EMPTY }).subscribe({ error: () => undefined });
    dialer.open$('p', { input: from([]) }).subscribe({ error: () => undefined });
    await time.advance();
    expect(sent.map((frame) => frame['type'])).toEqual(['open', 'data', 'open', 'data']);
  });
});
