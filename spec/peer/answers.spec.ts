import { describe, expect, it, jest } from '@jest/globals';
import { delay, filter, firstValueFrom, lastValueFrom, NEVER, of, Subscription, take, toArray } from 'rxjs';
import { isMuxError, JsonCodec, Peer, respond } from '../../src/index.js';
import type { SocketEvent, SocketLike, Stream } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import type { StreamHandler } from '../../src/peer/hooks.js';
import { createPair } from '../../src/testing.js';
import { askingIn } from '../support/peer/answers.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { THENABLES } from '../support/peer/thenables.js';
import type { Work } from '../support/peer/thenables.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { createPair as createPairFromTracked } from '../support/peer/tracked.js';

describe('Handler', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();
  const answered = askingIn(time);
  const tellingOfResults = () => logs.warnings.filter((warning) => warning.includes('a handler returned'));

  it('A handler works on both ends: the dialer answers pushes', async () => {
    const { dialer, acceptor } = createPair();
    dialer.onStream((payload, stream) => stream.reply(`got ${String(payload)}`));
    const answer = acceptor.request('push');
    await time.advance();
    expect(await answer).toBe('got push');
  });

  it('A handler that returns no thenable settles synchronously', async () => {
    const { sent } = await answered(() => undefined);
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true }]);
    expect(tellingOfResults()).toEqual([]);
  });

  it('A handler that settles before its answer has left sends no reset after the answer of a request', async () => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    const phases: unknown[] = [];
    acceptor.onStream((_, stream) => {
      void stream.send('x'.repeat(1_000_000));
      void Promise.resolve().then(() => phases.push(stream.phase));
    });
    const answer = dialer.request('p');
    await time.advance();
    expect([await answer, phases]).toEqual(['x'.repeat(1_000_000), ['halfClosedRemote']]);
    expect(sent.slice(-1)).toEqual([{ type: 'data', stream: 1, end: true }]);
  });

  it.each<[string, StreamHandler, string]>([
    ['an Observable', () => NEVER, 'an Observable'],
    ['a value', () => 144, 'a value (number)'],
    [
      'a generator',
      function* () {
        yield 1;
      },
      'a value (object)',
    ],
    [
      'an async generator',
      async function* () {
        yield await Promise.resolve(1);
      },
      'a value (object)',
    ],
    ['the promise of a value', () => Promise.resolve('144'), 'a value (string)'],
  ])('A handler that returns %s and sends nothing causes one warning', async (_what, handler, told) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(handler);
    const answers = Promise.all([dialer.request(), dialer.request()]);
    await time.advance();
    expect(await answers).toEqual([null, null]);
    expect(logs.warnings).toEqual([
      `rxmux: a handler returned ${told} and sent nothing, and what it returns goes nowhere: answer with stream.reply(), stream.sendAll() or respond()`,
    ]);
  });

  it.each<[string, StreamHandler]>([
    ['has answered', (_, stream) => (void stream.reply(1), 1)],
    ['has reset the stream', (_, stream) => (stream.reset(300), 1)],
    ['reads', (_, stream) => stream.subscribe()],
  ])('A handler that %s may return any value', async (_what, handler) => {
    await answered(handler);
    expect(tellingOfResults()).toEqual([]);
  });

  it('A handler may return any value when its stream has ended', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.closed);
    const stream = dialer.open();
    await time.advance();
    stream.reset();
    await time.advance();
    expect(tellingOfResults()).toEqual([]);
  });

  it('A handler may settle while its answer waits for the socket: the answer still arrives whole', async () => {
    const { dialer, acceptor, link } = createPair();
    const sent = framesOf(acceptor);
    acceptor.onStream((_, stream) => {
      for (let n = 0; n < 3; n++) void stream.send('x'.repeat(1_000_000));
    });
    link.stall('dialer');
    const seen: unknown[] = [];
    dialer.open('p', { end: true }).subscribe({ next: () => seen.push('value'), complete: () => seen.push('complete') });
    await time.advance();
    expect(seen).toEqual([]);
    link.resume('dialer');
    await time.advance(1_000);
    expect(seen).toEqual(['value', 'value', 'value', 'complete']);
    expect(sent.at(-1)).toEqual({ type: 'data', stream: 1, end: true });
  });

  it('A handler may return any thenable, even one that settles twice', async () => {
    const twice = {
      then(resolve: () => void, reject: (error: Error) => void) {
        resolve();
        reject(new Error('again'));
        resolve();
      },
    };
    const { sent } = await answered(() => twice);
    expect([sent, logs.errors]).toEqual([[{ type: 'data', stream: 1, end: true }], []]);
  });

  it('A handler may return a function that is a thenable, and the stream waits for it', async () => {
    const { dialer, acceptor } = createPair();
    const settle: (() => void)[] = [];
    acceptor.onStream(() => Object.assign(() => undefined, { then: (resolve: () => void) => settle.push(resolve) }));
    const sent = framesOf(acceptor);
    dialer.open('p', { end: true });
    await time.advance();
    expect([sent, settle.length]).toEqual([[], 1]);
    settle[0]?.();
    await time.advance();
    expect([sent, tellingOfResults()]).toEqual([[{ type: 'data', stream: 1, end: true }], []]);
  });

  it('A handler fails when it returns a thenable whose `then` throws', async () => {
    const { sent } = await answered(() => ({
      then() {
        throw new Error('then');
      },
    }));
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 16, payload: { name: 'Error', message: 'then' }, reason: 'then' }]);
  });

  it.each<[string, (payload: unknown, stream: Stream) => Promise<void>]>([
    ['sends and returns', (_, stream) => stream.send(1).then(() => stream.send(2))],
    ['sends all of an input', (_, stream) => stream.sendAll([1, 2])],
    ['sends all of an input without an end', (_, stream) => stream.sendAll([1, 2], { end: false })],
    ['replies', (_, stream) => stream.reply(1)],
    ['sends nothing', () => Promise.resolve()],
    ['fails after its first value', (_, stream) => stream.send(1).then(() => Promise.reject(new Error('no')))],
    [
      'resets its stream',
      async (_, stream) => {
        await stream.send(1);
        stream.reset(300, 'no');
      },
    ],
  ])('A handler that %s sends the same frames as the project of `respond`', async (_what, body) => {
    const framesBy = async (take: (acceptor: Peer) => void): Promise<unknown> => {
      const { dialer, acceptor } = createPair();
      const sent = framesOf(acceptor);
      take(acceptor);
      dialer.open('p').subscribe({ error: () => undefined });
      await time.advance();
      return sent;
    };
    const byRespond = await framesBy(({ streams$ }) => streams$.pipe(respond(body)).subscribe());
    expect(byRespond).toEqual(await framesBy((acceptor) => acceptor.onStream(body)));
    expect(byRespond).not.toEqual([]);
  });

  it('A project of `respond` answers with the value of its promise', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond((payload) => Promise.resolve(`got ${String(payload)}`))).subscribe();
    const answer = dialer.request('p');
    await time.advance();
    expect(await answer).toBe('got p');
  });

  it('A handler runs once a stream, with null for an open without a payload', async () => {
    const { dialer, acceptor } = createPair();
    const handler = jest.fn<StreamHandler>((_, stream) => stream.reply());
    acceptor.onStream(handler);
    const answer = dialer.request();
    await time.advance();
    expect(await answer).toBeNull();
    expect(handler.mock.calls.map(([payload]) => payload)).toEqual([null]);
  });

  it('A handler may be passed as an option, or to `serve`', async () => {
    const { dialer, acceptor } = createPair({ dialer: { onStream: (_, stream) => stream.reply('option') } });
    void acceptor.serve((_, stream) => stream.reply('serve'));
    const answers = Promise.all([dialer.request(), acceptor.request(), firstValueFrom(dialer.request$())]);
    await time.advance();
    expect(await answers).toEqual(['serve', 'option', 'serve']);
  });
});

describe('Answer that comes before the call has returned', () => {
  const logs = collectLogs();

  /** A socket whose messages come from the test. */
  class PlayedSocket implements SocketLike {
    readonly readyState = 1;
    readonly protocol = 'mux.v1.json';
    readonly bufferedAmount = 0;
    binaryType: BinaryType = 'arraybuffer';
    readonly sent: string[] = [];
    readonly #listeners = new Map<string, (event: SocketEvent) => void>();

    send(data: string | ArrayBuffer): void {
      this.sent.push(String(data));
    }

    receive(data: string): void {
      this.#listeners.get('message')?.({ type: 'message', data });
    }

    close(): void {
      // The test does not close the socket.
    }

    addEventListener(type: string, listener: (event: SocketEvent) => void): void {
      this.#listeners.set(type, listener);
    }

    removeEventListener(type: string): void {
      this.#listeners.delete(type);
    }
  }

  /** A call whose stream receives these answers as soon as it opens, before the call has returned. */
  function answered(...answers: string[]) {
    const socket = new PlayedSocket();
    const peer = new Peer(socket, { isDialer: true, keepalive: false, requestTimeoutMs: 0 });
    void peer.serve();
    const onOpen = ({ id }: Stream): void => {
      for (const answer of answers) socket.receive(`{"type":"data","stream":${String(id)},${answer}}`);
    };
    return { peer, socket, onOpen };
  }

  it('A request resolves with an answer that comes before the call has returned', async () => {
    const { peer, onOpen } = answered('"end":true,"payload":"at once"');
    expect(await peer.request('ask', { onOpen })).toBe('at once');
    expect(await lastValueFrom(peer.request$('ask', { onOpen }))).toBe('at once');
  });

  it('`open$` emits values and completes when the answer comes before the call has returned', async () => {
    const { peer, onOpen } = answered('"payload":1', '"payload":2', '"end":true');
    expect(await lastValueFrom(peer.open$('ask', { onOpen }).pipe(toArray()))).toEqual([1, 2]);
  });

  it('`open$` without an operator emits values and completes when the answer comes before the call has returned', () => {
    const { peer, socket, onOpen } = answered('"payload":1', '"payload":2', '"end":true');
    const told: unknown[] = [];
    const subscription = peer.open$('ask', { onOpen }).subscribe({
      next: (value) => told.push(value),
      complete: () => told.push('complete'),
    });
    expect(told).toEqual([1, 2, 'complete']);
    expect(subscription.closed).toBe(true);
    expect(socket.sent).toHaveLength(1);
  });

  it('`open$` emits an answer that comes before the call has returned, and later values up to the end', () => {
    const { peer, socket, onOpen } = answered('"payload":1');
    const told: unknown[] = [];
    peer.open$('ask', { onOpen }).subscribe({
      next: (value) => told.push(value),
      complete: () => told.push('complete'),
    });
    socket.receive('{"type":"data","stream":1,"payload":2,"end":true}');
    expect([told, logs.errors]).toEqual([[1, 2, 'complete'], []]);
  });

  it('`open$` reads an early answer no further than the subscriber wants, and cancels the stream', async () => {
    const { peer, socket, onOpen } = answered('"payload":1', '"payload":2');
    expect(await lastValueFrom(peer.open$('ask', { onOpen }).pipe(take(1), toArray()))).toEqual([1]);
    expect(socket.sent.at(-1)).toContain('"type":"reset"');
  });
});

describe('thenables', () => {
  const logs = collectLogs();

  describe.each(THENABLES)('$kind', ({ make }) => {
    it('A handler is awaited, and its error resets the stream', async () => {
      const { dialer, acceptor } = createPairFromTracked();
      const work: Work = { starts: 0 };
      acceptor.onStream((payload, stream) =>
        make(() => {
          if (payload === 'no') throw new RangeError('no such row');
          void stream.reply('row');
        }, work),
      );
      expect(await dialer.request('yes')).toBe('row');
      expect(work.starts).toBe(1);
      await expect(dialer.request('no')).rejects.toMatchObject({ payload: { name: 'RangeError', message: 'no such row' } });
    });

    it('A project of `respond` answers with the value that it awaits once', async () => {
      const { dialer, acceptor } = createPairFromTracked();
      const work: Work = { starts: 0 };
      acceptor.streams$.pipe(respond(() => make(() => 'row', work))).subscribe();
      expect(await dialer.request('p')).toBe('row');
      expect(work.starts).toBe(1);
    });

    it('A project of `respond` that resolves to nothing sends an end alone', async () => {
      const { dialer, acceptor } = createPairFromTracked();
      acceptor.streams$.pipe(respond(() => make(() => undefined))).subscribe();
      expect(await lastValueFrom(dialer.open$('p', { input: of() }).pipe(toArray()))).toEqual([]);
      expect(logs).toEqual({ warnings: [], errors: [] });
    });

    it('An input of a call and of `sendAll` is awaited once', async () => {
      const { dialer, acceptor } = createPairFromTracked();
      const work: Work = { starts: 0 };
      acceptor.onStream((_, stream) => stream.sendAll(make(() => 'down', work)));
      expect(await lastValueFrom(dialer.open$('p', { input: make(() => 'up', work) }).pipe(toArray()))).toEqual(['down']);
      expect(work.starts).toBe(2);
    });

    it('An interceptor that returns it fails the open', () => {
      const { dialer } = createPairFromTracked();
      dialer.interceptOpen(() => make(() => undefined) as never);
      expect(() => dialer.open('p')).toThrow(new TypeError('expected an open interceptor to work synchronously, got a promise'));
    });

    it('An error serializer that returns it sends none of its parts', async () => {
      const { dialer, acceptor } = createPairFromTracked({ acceptor: { errorSerializer: () => make(() => ({ message: 'late' })) } });
      acceptor.onStream(() => Promise.reject(new Error('secret')));
      await expect(dialer.request('p')).rejects.toMatchObject({ reason: 'internal error', payload: null });
    });

    it('Trailers and headers that are it are refused', async () => {
      const { dialer, acceptor } = createPairFromTracked();
      acceptor.onStream((_, stream) => {
        stream.setTrailers(() => make(() => ({ rows: 1 })));
      });
      const message = expect.stringMatching(/^expected headers or trailers to be a plain object, got /);
      await expect(dialer.request('p')).rejects.toMatchObject({ reason: message });
      expect(() => dialer.open('p', { headers: make(() => ({ a: 1 })) as never })).toThrow(expect.objectContaining({ message }));
    });

    it('The rejection of a hook that returns it is logged', async () => {
      const { dialer } = createPairFromTracked();
      const hook: (...told: readonly unknown[]) => unknown = () =>
        make(() => {
          throw new Error('hook');
        });
      dialer.onFrame(hook);
      await dialer.ping();
      expect(logs.errors).not.toEqual([]);
    });
  });

  // A Proxy of a plain object looks like one: a codec reads no `then` of each object of a payload.
  describe.each(THENABLES.filter(({ kind }) => !kind.startsWith('a Proxy')))('a value that is $kind', ({ make }) => {
    it.each([new JsonCodec(), new MsgpackCodec()])('The codec $name refuses it as a value', async (codec) => {
      const { dialer, acceptor } = createPairFromTracked({ codec });
      const thrown: unknown[] = [];
      acceptor.onStream((payload, stream) => {
        for (const value of [make(() => 'row'), { rows: [make(() => 'row')] }])
          try {
            void stream.send(value);
          } catch (error) {
            thrown.push(error);
          }
        return stream.reply(payload);
      });
      expect(await dialer.request('end')).toBe('end');
      expect(thrown).toEqual([
        expect.objectContaining({ message: expect.stringMatching(/expected a value it can carry at payload, got a (promise|function)/) }),
        expect.objectContaining({ message: expect.stringMatching(/at payload\.rows\[0\], got a (promise|function)/) }),
      ]);
    });
  });
});

describe('`streams$`', () => {
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

  it.each<[string, () => Promise<void> | undefined]>([
    ['alone', () => undefined],
    ['beside one that leaves the stream', () => undefined],
    ['beside one that has settled', () => Promise.resolve()],
  ])('A stream that `respond` answers %s keeps its place until its work has settled', async (what, beside) => {
    const { dialer, acceptor } = createPair({ acceptor: { limits: { maxStreams: 2 } } });
    const work: (() => void)[] = [];
    acceptor.streams$.pipe(respond(() => new Promise<void>((resolve) => work.push(resolve)))).subscribe();
    if (what !== 'alone') acceptor.streams$.pipe(respond(beside)).subscribe();
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
    await opened();
    expect(work).toHaveLength(3);
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
