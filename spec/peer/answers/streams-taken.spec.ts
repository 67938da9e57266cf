import { describe, expect, it, jest } from '@jest/globals';
import { delay, filter, Subscription } from 'rxjs';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import { isMuxError } from '../../../src/index.js';
import { respond } from '../../../src/peer/operators/respond.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

const listen = (stream: Stream): void => {
  stream.subscribe();
};

const USES: readonly (readonly [use: string, (stream: Stream) => unknown, taken: boolean])[] = [
  ['subscribing', (stream) => stream.subscribe(), true],
  [
    'subscribing and leaving',
    (stream) => {
      stream.subscribe().unsubscribe();
    },
    true,
  ],
  ['iterating', (stream) => stream[Symbol.asyncIterator]().next(), true],
  ['sending', (stream) => stream.send(1), true],
  ['replying', (stream) => stream.reply(1), true],
  ['ending', (stream) => stream.end(), true],
  [
    'sending headers',
    (stream) => {
      stream.sendHeaders({ a: 1 });
    },
    true,
  ],
  [
    'resetting',
    (stream) => {
      stream.reset(300);
    },
    true,
  ],
  ['sending an input', (stream) => stream.sendAll(new Promise(() => undefined)), true],
  ['reading its fields', (stream) => [stream.id, stream.payload, stream.headers, stream.phase, stream.signal, stream.peer], false],
  ['waiting for its end', (stream) => stream.closed, false],
  [
    'setting trailers',
    (stream) => {
      stream.setTrailers({ a: 1 });
    },
    false,
  ],
  [
    'sending no headers',
    (stream) => {
      stream.sendHeaders();
    },
    false,
  ],
  ['making an iterator', (stream) => stream[Symbol.asyncIterator](), false],
  [
    'a send that fails',
    (stream) => {
      expect(() => stream.send(1n)).toThrow(TypeError);
    },
    false,
  ],
];

describe('`streams$`', () => {
  it.each(USES)('In `streams$`, %s takes a stream: %p', async (_use, use, taken) => {
    const { dialer, acceptor } = createPair();
    const handler = jest.fn<StreamHandler>();
    acceptor.onStream(handler);
    acceptor.streams$.subscribe((stream) => void use(stream));
    dialer.open('p').subscribe({ error: () => undefined });
    await time.advance();
    expect(handler).toHaveBeenCalledTimes(taken ? 0 : 1);
  });

  it('A stream that is reset in `streams$` counts as processed in the goaway', async () => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    acceptor.streams$.subscribe((stream) => {
      stream.reset(300);
    });
    dialer.open('p').subscribe({ error: () => undefined });
    await time.advance();
    void acceptor.close();
    expect(sent.at(-1)).toMatchObject({ type: 'goaway', last_stream: 1 });
  });

  it('`streams$` emits each stream to every subscriber before the handler gets an untaken stream', async () => {
    const { dialer, acceptor } = createPair();
    const seen: unknown[] = [];
    acceptor.onStream((payload) => seen.push(`handler ${String(payload)}`));
    acceptor.streams$.pipe(filter(({ payload }) => payload === 'mine')).subscribe((stream) => {
      seen.push('taken');
      void stream.reply();
    });
    acceptor.streams$.subscribe(({ payload }) => seen.push(`shown ${String(payload)}`));
    dialer.open('mine', { end: true });
    dialer.open('other', { end: true });
    await time.advance();
    expect(seen).toEqual(['taken', 'shown mine', 'shown other', 'handler other']);
  });

  it('A stream taken from `streams$` has no implicit end: it stays open until its taker ends it', async () => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    const streams: Stream[] = [];
    acceptor.streams$.subscribe((stream) => {
      streams.push(stream);
      listen(stream);
    });
    const local = dialer.open('p');
    void local.end();
    await time.advance(60_000);
    expect([sent, streams[0]?.phase]).toEqual([[], 'halfClosedRemote']);
    await streams[0]?.reply('late');
    await time.advance();
    expect(local.cause).toEqual({ how: 'ended' });
  });

  it('A stream that `respond` answers keeps its place until its work has settled', async () => {
    const { dialer, acceptor } = createPair({ acceptor: { limits: { maxStreams: 2 } } });
    const work: (() => void)[] = [];
    acceptor.streams$.pipe(respond(() => new Promise<void>((resolve) => work.push(resolve)))).subscribe();
    const opened = async (): Promise<Stream> => {
      const stream = dialer.open('p');
      stream.subscribe({ error: () => undefined });
      await time.advance();
      return stream;
    };
    for (let nth = 0; nth < 2; nth++) (await opened()).reset();
    expect((await opened()).cause).toMatchObject({ how: 'reset', by: 'remote', code: 7 });
    work[0]?.();
    await time.advance();
    expect([(await opened()).cause, work.length]).toEqual([null, 3]);
  });

  it('A stream that neither a subscriber nor a handler takes is REFUSED', async () => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    acceptor.streams$.subscribe();
    const errors: unknown[] = [];
    dialer.open('p').subscribe({ error: (error: unknown) => errors.push(error) });
    await time.advance();
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 7, reason: expect.stringContaining('the subscribers of streams$ left it') }]);
    expect(errors).toEqual([expect.objectContaining({ code: 'REFUSED', resetCode: 7, retriable: true, streamId: 1 })]);
  });

  it('A stream that is used a turn after `streams$` emitted it goes to the handler', async () => {
    const { dialer, acceptor } = createPair();
    const handler = jest.fn<StreamHandler>(() => new Promise(() => undefined));
    acceptor.onStream(handler);
    acceptor.streams$.pipe(delay(1)).subscribe((stream) => void stream.reply('late'));
    const answer = dialer.request();
    await time.advance(1);
    expect(handler).toHaveBeenCalledTimes(1);
    expect(await answer).toBe('late');
  });

  it('A stream that an interceptor has reset does not reach the handler', async () => {
    const { dialer, acceptor } = createPair();
    const handler = jest.fn<StreamHandler>();
    acceptor.onStream(handler);
    acceptor.interceptIncomingHeaders((_headers, stream) => {
      stream.reset(300, 'not with these headers');
    });
    const answer = dialer.request().catch((error: unknown) => error);
    await time.advance();
    expect(await answer).toMatchObject({ resetCode: 300 });
    expect(handler).not.toHaveBeenCalled();
  });

  it('A stream that is lost while `streams$` emits it does not reach the handler', async () => {
    const { dialer, acceptor, link } = createPair();
    const handler = jest.fn<StreamHandler>();
    acceptor.onStream(handler);
    const causes: unknown[] = [];
    acceptor.streams$.subscribe((stream) => {
      link.cut();
      causes.push(stream.cause);
    });
    dialer.open('p').subscribe({ error: () => undefined });
    await time.advance();
    expect([causes, handler.mock.calls.length]).toEqual([[expect.objectContaining({ how: 'lost' })], 0]);
  });

  it('`streams$` serves the next subscriber after a raw subscriber that throws', async () => {
    const { dialer, acceptor } = createPair();
    const bare = Object.assign(new Subscription(), {
      next: () => {
        throw new Error('no');
      },
      error: () => undefined,
      complete: () => undefined,
    });
    acceptor.streams$.subscribe(bare);
    acceptor.streams$.subscribe((stream) => void stream.reply('answered'));
    const answer = dialer.request('p');
    await time.advance();
    expect(await answer).toBe('answered');
    expect(logs.errors).toEqual(['rxmux: a subscriber of streams$ failed']);
  });

  it('A stream whose subscriber closes the peer is REFUSED and does not reach the handler', async () => {
    const { dialer, acceptor } = createPair();
    const handler = jest.fn<StreamHandler>();
    acceptor.onStream(handler);
    acceptor.streams$.subscribe(() => void acceptor.close({ drainMs: 1_000 }));
    const answer = dialer.request().catch((error: unknown) => error);
    await time.advance();
    expect(await answer).toMatchObject({ code: 'REFUSED', retriable: true });
    expect(handler).not.toHaveBeenCalled();
  });

  it('A taken stream counts as dispatched: a goaway names it', async () => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    acceptor.streams$.subscribe(listen);
    dialer.open().subscribe({ error: () => undefined });
    await time.advance();
    void acceptor.close({ drainMs: 1_000 });
    expect(sent).toEqual([{ type: 'goaway', code: 0, last_stream: 1 }]);
  });

  it('A stream that `respond` works on counts as dispatched: a call that closes its own peer is answered', async () => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    const restart = (): string[] => {
      void acceptor.close({ drainMs: 1_000 });
      return ['done'];
    };
    acceptor.streams$.pipe(respond(restart)).subscribe();
    const answer = dialer.request('restart').catch((error: unknown) => error);
    await time.advance();
    expect([await answer, sent[0]]).toEqual(['done', { type: 'goaway', code: 0, last_stream: 1 }]);
  });

  it.each<[what: string, project: (payload: unknown, stream: Stream) => undefined, outcome: unknown]>([
    ['takes it itself', (_payload, stream) => void stream.reply('done'), 'done'],
    [
      'throws',
      () => {
        throw new Error('no');
      },
      'REMOTE',
    ],
  ])('A stream whose project of `respond` %s returns its place', async (_what, project, outcome) => {
    const { dialer, acceptor } = createPair({ acceptor: { limits: { maxStreams: 1 } } });
    acceptor.streams$.pipe(respond(project)).subscribe();
    const outcomes: unknown[] = [];
    for (let nth = 0; nth < 3; nth++) {
      dialer.request('p').then(
        (answer) => outcomes.push(answer),
        (error: unknown) => outcomes.push(isMuxError(error) && error.code),
      );
      await time.advance();
    }
    expect(outcomes).toEqual([outcome, outcome, outcome]);
  });

  it('`streams$` stops after an unsubscribe, and completes with the peer', async () => {
    const { dialer, acceptor } = createPair();
    const seen: unknown[] = [];
    const left = acceptor.streams$.subscribe(() => seen.push('left'));
    acceptor.streams$.subscribe({ complete: () => seen.push('complete') });
    left.unsubscribe();
    dialer.open().subscribe({ error: () => undefined });
    await time.advance();
    void acceptor.close();
    await time.advance();
    acceptor.streams$.subscribe({ complete: () => seen.push('complete at once') });
    expect(seen).toEqual(['complete', 'complete at once']);
  });

  it('`respond` does no work for a stream that was refused in a delay before it', async () => {
    const { dialer, acceptor } = createPair();
    const worked = jest.fn(() => ['done']);
    acceptor.streams$.pipe(delay(1), respond(worked)).subscribe();
    const failure = dialer.request('book').catch((error: unknown) => error);
    await time.advance(10);
    expect([await failure, worked.mock.calls.length]).toEqual([expect.objectContaining({ code: 'REFUSED', retriable: true }), 0]);
  });

  it('`respond` answers streams before the handler does', async () => {
    const { dialer, acceptor } = createPair();
    const handler = jest.fn<StreamHandler>((_, stream) => stream.reply('handler'));
    acceptor.onStream(handler);
    acceptor.streams$.pipe(respond((payload) => (payload === 'mine' ? ['responded'] : undefined))).subscribe();
    const answers = Promise.all([dialer.request('mine'), dialer.request('other')]);
    await time.advance();
    expect(await answers).toEqual(['responded', 'handler']);
    expect(handler).toHaveBeenCalledTimes(1);
    expect(logs.errors).toEqual([]);
  });
});
