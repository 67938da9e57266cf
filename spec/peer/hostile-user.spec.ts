import { describe, expect, it } from '@jest/globals';
import { of, throwError } from 'rxjs';
import { connect } from '../../src/index.js';
import type { Peer, PeerOptions, Stream } from '../../src/index.js';
import { respond } from '../../src/peer/operators/respond.js';
import { createPair } from '../../src/testing.js';
import { collectLogs } from '../support/peer-logs.js';
import { Network } from '../support/peer-network.js';
import { virtualPeerTime } from '../support/peer-time.js';

const time = virtualPeerTime();
const logs = collectLogs();

const bomb = (): never => {
  throw new Error('bomb');
};
const dud = (): undefined => Promise.reject(new Error('dud')) as unknown as undefined;

/** Does everything a stream can do, and lets nothing fail the caller. */
async function exercise(peer: Peer, other: Peer): Promise<void> {
  const quietly = (act: () => unknown): void => {
    try {
      const result = act();
      if (result instanceof Promise) result.catch(() => undefined);
    } catch {
      // What a call throws at its caller is the caller's.
    }
  };
  const ignore = { error: () => undefined };
  const withStream = (act: (stream: Stream) => unknown) => () => {
    const stream = peer.open('p', { headers: { a: 1 } });
    stream.subscribe(ignore);
    return act(stream);
  };
  const acts: readonly (() => unknown)[] = [
    () => peer.request('p'),
    () => {
      peer.notify('p');
    },
    () => peer.request$('p').subscribe(ignore),
    () => peer.open$('p', { input: of(1, 2) }).subscribe(ignore),
    () => peer.open$('p', { input: throwError(() => new Error('input')) }).subscribe(ignore),
    () => peer.open$('p').subscribe(ignore).unsubscribe(),
    () => peer.ping(),
    () => other.request('push'),
    withStream((stream) => stream.send(1)),
    withStream((stream) => stream.reply(1, { trailers: { t: 1 } })),
    withStream((stream) => stream.sendAll([1, 2, 3])),
    withStream((stream) => {
      stream.reset(300, 'why');
    }),
  ];
  for (const act of acts) {
    quietly(act);
    await time.advance();
  }
  quietly(() => other.close({ drainMs: 10 }));
  await time.advance(5_000);
}

/** User code, in each place that takes some. */
const PLACES: readonly (readonly [place: string, hang: (peer: Peer, code: () => undefined) => void])[] = [
  ['an open interceptor', (peer, code) => peer.interceptOpen(code)],
  ['a reply-headers interceptor', (peer, code) => peer.interceptReplyHeaders(code)],
  ['an incoming-headers interceptor', (peer, code) => peer.interceptIncomingHeaders(code)],
  ['a frame observer', (peer, code) => peer.onFrame(code)],
  ['a close handler', (peer, code) => peer.onClose(code)],
  ['a handler', (peer, code) => peer.onStream(code)],
  ['a handler’s reply', (peer, code) => peer.onStream((_, stream) => stream.reply(code))],
  [
    'trailers',
    (peer, code) =>
      peer.onStream((_, stream) => {
        stream.setTrailers(code);
      }),
  ],
  ['a reader of a stream', (peer, code) => peer.onStream((_, stream) => void stream.subscribe(code))],
  [
    'an observer of a stream',
    (peer, code) => peer.onStream((_, stream) => void stream.subscribe({ next: code, error: code, complete: code })),
  ],
  [
    'a loop over a stream',
    (peer, code) =>
      peer.onStream(async (_, stream) => {
        for await (const value of stream) {
          expect(value).toBeDefined();
          await (code as () => unknown)();
        }
      }),
  ],
  [
    'an async iterable',
    (peer, code) =>
      peer.onStream((_, stream) =>
        stream.sendAll({
          [Symbol.asyncIterator]: () => ({ next: code as unknown as () => Promise<IteratorResult<number>>, return: bomb }),
        }),
      ),
  ],
  ['an input of respond', (peer, code) => void peer.streams$.pipe(respond(code)).subscribe()],
];

describe.each([
  ['throws', bomb],
  ['returns a promise that rejects', dud],
])('user code that %s', (_how, code) => {
  it.each(PLACES)('in %s harms nobody else: both peers go on, and end in good order', async (_place, hang) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    dialer.onStream((payload, stream) => stream.reply(payload));
    hang(acceptor, code);
    await exercise(dialer, acceptor);
    expect([dialer.status, acceptor.status]).toEqual(
      [dialer, acceptor].map(() => ({
        state: 'closed',
        reason: { code: 1000, reason: '', wasClean: true, willRetry: false },
        error: null,
      })),
    );
    expect(time.isOver()).toBe(true);
  });

  it.each<[string, PeerOptions]>([
    ['the error serializer', { errorSerializer: code, onStream: bomb }],
    ['the onStream option', { onStream: code }],
  ])('in %s is one reset and no more', async (_place, options) => {
    const { dialer } = createPair({ acceptor: options });
    const answer = dialer.request('p').catch((error: unknown) => error);
    await time.advance();
    expect(await answer).toMatchObject({ code: 'REMOTE' });
    expect(dialer.status.state).toBe('open');
  });

  it('in every hook at once leaves the peers standing', async () => {
    const { dialer, acceptor } = createPair({ acceptor: { errorSerializer: code } });
    for (const peer of [dialer, acceptor]) for (const [, hang] of PLACES) if (peer === acceptor) hang(peer, code);
    await exercise(dialer, acceptor);
    expect([dialer.status.state, acceptor.status.state]).toEqual(['closed', 'closed']);
    expect(logs.errors.length).toBeGreaterThan(0);
  });

  it('around a dial is a failed dial', async () => {
    const network = new Network({ onStream: (payload, stream) => stream.reply(payload) });
    const hooks = {
      hello: code as unknown as () => object,
      reconnect: { minDelayMs: 1, maxDelayMs: 1, shouldRetry: code as unknown as () => boolean },
    };
    const peer = connect('ws://test', { socket: network.socket, keepalive: false, ...hooks });
    peer.onClose(code);
    const answer = peer.request('p').catch((error: unknown) => error);
    await time.advance(60_000);
    expect(await answer).toMatchObject({ retriable: true });
    expect(peer.status.state).toBe('closed');
    expect(time.isOver()).toBe(true);
  });
});

it('an iterable that throws, and whose return throws, harms nobody else', async () => {
  const { dialer, acceptor } = createPair();
  dialer.onStream((payload, stream) => stream.reply(payload));
  acceptor.onStream((_, stream) => stream.sendAll({ [Symbol.iterator]: () => ({ next: bomb, return: bomb }) }));
  await exercise(dialer, acceptor);
  expect([dialer.status.state, acceptor.status.state]).toEqual(['closed', 'closed']);
});
