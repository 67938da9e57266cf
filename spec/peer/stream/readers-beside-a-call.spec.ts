import { describe, expect, it } from '@jest/globals';
import { Subject, take } from 'rxjs';
import type { Limits, Stream } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { collectLogs } from '../../support/peer/logs.js';
import { read } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

/** A call that records its events, and passes its stream to `onOpen`. */
async function called(onOpen: (stream: Stream) => void, { limits, onNext }: { limits?: Partial<Limits>; onNext?: () => void } = {}) {
  const { dialer, acceptor } = createPair({ dialer: { limits } });
  const remotes: Stream[] = [];
  acceptor.onStream((_, stream) => {
    remotes.push(stream);
    return new Promise(() => undefined);
  });
  const seen: unknown[] = [];
  dialer.open$('p', { onOpen }).subscribe({
    next: (value) => {
      seen.push(value);
      onNext?.();
    },
    error: (error: unknown) => seen.push(error),
    complete: () => seen.push('complete'),
  });
  await time.advance();
  const [remote] = remotes;
  if (remote === undefined) throw new Error('expected a stream');
  return { remote, seen };
}

describe('Call that is answered during its upload', () => {
  it('A call that is answered during its upload completes, and the upload continues', async () => {
    const { dialer, acceptor } = createPair();
    const uploaded: unknown[][] = [];
    acceptor.onStream((_, stream) => {
      uploaded.push(read(stream));
      return stream.reply('first');
    });
    const input = new Subject<number>();
    const answered: unknown[] = [];
    dialer.open$('p', { input }).subscribe({ next: (value) => answered.push(value), complete: () => answered.push('complete') });
    await time.advance();
    input.next(1);
    input.complete();
    await time.advance();
    expect([answered, uploaded]).toEqual([['first', 'complete'], [[1, 'complete']]]);
  });
});

describe('Reader beside a call', () => {
  it('A reader beside a call receives the end, and so does the call', async () => {
    const beside: unknown[][] = [];
    const { remote, seen } = await called((stream) => beside.push(read(stream)));
    void remote.reply(1);
    await time.advance();
    expect([beside, seen]).toEqual([[[1, 'complete']], [1, 'complete']]);
  });

  it('A reader beside a request also receives the values after the answer of the request', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      void stream.send(1);
      void stream.reply(2);
    });
    const beside: unknown[][] = [];
    const streams: Stream[] = [];
    const onOpen = (stream: Stream): void => {
      streams.push(stream);
      beside.push(read(stream));
    };
    const answer = dialer.request('p', { onOpen });
    await time.advance();
    expect([await answer, beside]).toEqual([1, [[1, 2, 'complete']]]);
    // No side has cancelled the stream.
    expect(streams.map(({ signal }): unknown => signal.reason)).toMatchObject([{ name: 'AbortError' }]);
  });

  it('A reader beside a call receives the cancel by the call, and not the value that caused it', async () => {
    const beside: unknown[][] = [];
    const streams: Stream[] = [];
    const { remote, seen } = await called(
      (stream) => {
        streams.push(stream);
        beside.push(read(stream));
      },
      { onNext: () => streams[0]?.reset() },
    );
    void remote.send(1);
    await time.advance();
    const cancelled = expect.objectContaining({ code: 'CANCELLED' });
    expect([beside, seen, logs.errors]).toEqual([[[cancelled]], [1, cancelled], []]);
  });

  it('Values that a call reads are not kept after the reader beside it has left', async () => {
    const streams: Stream[] = [];
    const onOpen = (stream: Stream): void => {
      streams.push(stream);
      stream.pipe(take(1)).subscribe();
    };
    const { remote, seen } = await called(onOpen, { limits: { maxUnreadBytes: 1_000 } });
    for (let n = 0; n < 10; n++) void remote.send('x'.repeat(500));
    await time.advance();
    expect([seen.length, remote.phase]).toEqual([10, 'halfClosedRemote']);
    const late = streams.map((stream) => read(stream));
    void remote.reply('last');
    await time.advance();
    expect([late, seen.slice(10)]).toEqual([[['last', 'complete']], ['last', 'complete']]);
  });
});
