import { EventEmitter, on } from 'node:events';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EMPTY, Observable, Subscription } from 'rxjs';
import { connect, respond, through, withCredit } from '../../../src/index.js';
import type { Input, OpenOptions, Peer, Stream } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { holding } from '../../support/peer/dialing.js';
import { collectLogs } from '../../support/peer/logs.js';
import { stays } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { throws } from '../../support/peer/user-code.js';

const time = virtualPeerTime();
const logs = collectLogs();

/** An input that emits its values once, and a check whether it has been released. */
interface Held {
  readonly input: Input<unknown>;
  readonly released: () => boolean;
}

function iterator(symbol: typeof Symbol.iterator | typeof Symbol.asyncIterator): Held {
  let returned = 0;
  const input = {
    next: () => ({ done: false, value: 1 }),
    return: () => (returned++, { done: true, value: undefined }),
    [symbol]: () => input,
  };
  return { input: input as unknown as Input<unknown>, released: () => returned === 1 };
}

/** A generator that has begun, so that its `finally` is due. */
function* begun(ended: () => void): Generator<number> {
  try {
    for (;;) yield 1;
  } finally {
    ended();
  }
}

function generator(): Held {
  let ended = 0;
  const input = begun(() => ended++);
  input.next();
  return { input, released: () => ended === 1 };
}

async function* begunAsync(ended: () => void): AsyncGenerator<number> {
  yield* begun(ended);
  await Promise.resolve();
}

function asyncGenerator(): Held {
  let ended = 0;
  const input = begunAsync(() => ended++);
  void input.next();
  return { input, released: () => ended === 1 };
}

function events(): Held {
  const emitter = new EventEmitter();
  return { input: on(emitter, 'value') as AsyncIterable<unknown>, released: () => emitter.listenerCount('value') === 0 };
}

function readableStream(): Held {
  let cancelled = 0;
  const input = new ReadableStream<unknown>({
    cancel: () => {
      cancelled++;
    },
  });
  return { input, released: () => cancelled === 1 };
}

function nodeStream(): Held {
  const input = new Readable({ objectMode: true, read: () => undefined });
  return { input, released: () => input.destroyed };
}

function libraryStream(): Held {
  const pair = createPair();
  pair.acceptor.onStream(stays);
  const input = pair.dialer.open('p');
  return { input, released: () => input.phase === 'closed' };
}

const rejections: unknown[] = [];
const rejected = (error: unknown): number => rejections.push(error);

beforeEach(() => {
  rejections.length = 0;
  process.on('unhandledRejection', rejected);
});

afterEach(() => {
  process.off('unhandledRejection', rejected);
});

function promise(): Held {
  return { input: Promise.reject(new Error('late')), released: () => rejections.length === 0 };
}

const kinds: readonly (readonly [string, () => Held])[] = [
  ['an iterator', () => iterator(Symbol.iterator)],
  ['an async iterator', () => iterator(Symbol.asyncIterator)],
  ['a generator', generator],
  ['an async generator', asyncGenerator],
  ['events.on()', events],
  ['a ReadableStream', readableStream],
  ['a stream of Node', nodeStream],
  ['a stream of this library', libraryStream],
  ['a promise', promise],
];

/** Makes a call with an input that the call never sends. */
type Way = (input: Input<unknown>) => void | Promise<void>;

const fails = (input: Input<unknown>, options: OpenOptions, payload: unknown = 'p', prepare: (peer: Peer) => void = () => undefined) => {
  const { dialer } = createPair();
  prepare(dialer);
  dialer.open$(payload, { ...options, input }).subscribe({ error: () => undefined });
};

const no = throws('no');

/** A stream that `end` has ended. */
async function ended(end: (local: Stream, remote: Stream) => void): Promise<Stream> {
  const { dialer, acceptor } = createPair();
  const remotes: Stream[] = [];
  acceptor.onStream((payload, remote) => {
    remotes.push(remote);
    return stays(payload, remote);
  });
  const local = dialer.open('p');
  await time.advance();
  for (const remote of remotes) end(local, remote);
  await time.advance();
  return local;
}

const sendsAll = async (input: Input<unknown>, end: (local: Stream, remote: Stream) => void): Promise<void> => {
  const stream = await ended(end);
  await stream.sendAll(input as AsyncIterable<unknown>).catch(() => undefined);
};

const ways: readonly (readonly [string, Way])[] = [
  ['a payload that cannot be encoded', (input) => fails(input, {}, 1n)],
  ['headers that cannot be encoded', (input) => fails(input, { headers: { n: 1n } })],
  ['a bad option', (input) => fails(input, { timeoutMs: -1 })],
  ['a signal that has aborted', (input) => fails(input, { signal: AbortSignal.abort() })],
  ['an interceptor that throws', (input) => fails(input, {}, 'p', (peer) => void peer.interceptOpen(no))],
  ['onOpen that throws', (input) => fails(input, { onOpen: no })],
  ['onOpen that resets the stream', (input) => fails(input, { onOpen: (stream) => stream.reset() })],
  ['a closed peer', (input) => fails(input, {}, 'p', (peer) => void peer.close())],
  [
    'a full queue of opens',
    (input) => {
      const network = holding();
      network.answer = 'silence';
      const peer = connect('ws://example.org', { socket: network.socket, keepalive: false, limits: { maxQueuedBytes: 100 } });
      peer.open('x'.repeat(100));
      peer.open$('x'.repeat(100), { input }).subscribe({ error: () => undefined });
    },
  ],
  [
    'a subscriber that leaves within onOpen',
    (input) => {
      const { dialer } = createPair();
      const subscription = new Observable((subscriber) => {
        dialer.open$('p', { input, onOpen: () => subscriber.unsubscribe() }).subscribe(subscriber);
      }).subscribe();
      subscription.unsubscribe();
    },
  ],
  [
    'a deadline before the connection opens',
    (input) => {
      const network = holding();
      network.answer = 'silence';
      const peer = connect('ws://example.org', { socket: network.socket, keepalive: false });
      peer.open$('p', { input, timeoutMs: 5 }).subscribe({ error: () => undefined });
    },
  ],
  ['sendAll on a stream that this side has reset', (input) => sendsAll(input, (local) => local.reset())],
  ['sendAll on a stream that the remote has reset', (input) => sendsAll(input, (_, remote) => remote.reset())],
  ['sendAll on a stream whose connection is lost', (input) => sendsAll(input, (local) => void local.peer.close())],
  ['sendAll after the end of this side', (input) => sendsAll(input, (local) => void local.end())],
  [
    '`respond` on a stream that is reset meanwhile',
    async (input) => {
      const { dialer, acceptor } = createPair();
      acceptor.streams$.pipe(respond((_, stream) => (stream.reset(), input as Observable<unknown>))).subscribe();
      dialer.open('p');
      await time.advance();
    },
  ],
  [
    '`respond` after its subscriber has left',
    async (input) => {
      const { dialer, acceptor } = createPair();
      const answering = new Subscription();
      const answer = (): Observable<unknown> => (answering.unsubscribe(), input as Observable<unknown>);
      answering.add(acceptor.streams$.pipe(respond(answer)).subscribe());
      dialer.open('p');
      await time.advance();
    },
  ],
  [
    '`withCredit` whose consumer grants no credit',
    (input) => {
      withCredit(1)
        .spend(EMPTY)(input as Observable<unknown>)
        .subscribe();
    },
  ],
];

describe.each(ways)('Input after %s', (_way, act) => {
  it.each(kinds)('An unused input that is %s is released', async (_kind, make) => {
    const { input, released } = make();
    await act(input);
    await time.advance(20);
    expect(released()).toBe(true);
    expect(logs.errors).toEqual([]);
  });
});

describe('Declined input', () => {
  it('A declined function is not called to make its input', async () => {
    let made = 0;
    fails(() => (made++, EMPTY), {}, 1n);
    await time.advance();
    expect(made).toBe(0);
  });

  it('A declined Observable is not subscribed to', async () => {
    let subscribed = 0;
    const { dialer } = createPair();
    dialer.interceptOpen(no);
    const source = new Observable(() => {
      subscribed++;
    });
    source.pipe(through(dialer, 'p')).subscribe({ error: () => undefined });
    await time.advance();
    expect(subscribed).toBe(0);
  });

  it('A declined lazy iterable makes no iterator', async () => {
    let asked = 0;
    const input = { [Symbol.iterator]: () => (asked++, [].values()) };
    fails(input, {}, 1n);
    await time.advance();
    expect(asked).toBe(0);
  });

  it('A declined iterator whose `return` throws is logged', async () => {
    fails(
      {
        next: no,
        return: no,
        [Symbol.iterator]() {
          return this;
        },
      } as unknown as Iterable<unknown>,
      {},
      1n,
    );
    await time.advance();
    expect(logs.errors).toEqual(['rxmux: ending an input failed']);
  });
});
