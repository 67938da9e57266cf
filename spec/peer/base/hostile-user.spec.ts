import { describe, expect, it } from '@jest/globals';
import { of, throwError } from 'rxjs';
import { connect } from '../../../src/index.js';
import type { Peer, PeerOptions, Stream } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Network } from '../../support/peer/network.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { CountedCode, PLACES } from '../../support/peer/user-code.js';
import type { Code } from '../../support/peer/user-code.js';

const time = virtualPeerTime();
const logs = collectLogs();

const bomb = (): never => {
  throw new Error('bomb');
};
const dud = (): undefined => Promise.reject(new Error('dud')) as unknown as undefined;

/** Uses every function of a stream. No failure reaches the caller. */
async function exercise(peer: Peer, other: Peer): Promise<void> {
  const quietly = (act: () => unknown): void => {
    try {
      const result = act();
      if (result instanceof Promise) result.catch(() => undefined);
    } catch {
      // The caller handles the errors that a call throws.
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

describe.each([
  ['throws', bomb],
  ['returns a promise that rejects', dud],
])('User code that %s', (_how, code) => {
  /** Places whose failures reach this library. */
  const places = PLACES.filter(({ own }) => own !== true);

  it.each(places)('User code that fails in $place harms no other code: both peers continue, and close cleanly', async ({ hang }) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    dialer.onStream((payload, stream) => stream.reply(payload));
    const counted = new CountedCode(code);
    hang(acceptor, counted.run);
    await exercise(dialer, acceptor);
    expect(counted.runs).toBeGreaterThan(0);
    expect([dialer.status, acceptor.status]).toEqual(
      [dialer, acceptor].map(() => ({
        state: 'closed',
        reason: { code: 1000, reason: '', wasClean: true, willRetry: false },
        error: null,
      })),
    );
    expect(time.isOver()).toBe(true);
  });

  it.each<[string, (code: Code) => PeerOptions]>([
    ['the error serializer', (errorSerializer) => ({ errorSerializer, onStream: bomb })],
    ['the onStream option', (onStream) => ({ onStream })],
  ])('User code that fails in %s causes one reset', async (_place, options) => {
    const counted = new CountedCode(code);
    const { dialer } = createPair({ acceptor: options(counted.run) });
    const answer = dialer.request('p').catch((error: unknown) => error);
    await time.advance();
    expect(await answer).toMatchObject({ code: 'REMOTE' });
    expect([counted.runs, dialer.status.state]).toEqual([1, 'open']);
  });

  it('User code that fails in every hook at once leaves both peers working', async () => {
    const serializer = new CountedCode(code);
    const { dialer, acceptor } = createPair({ acceptor: { errorSerializer: serializer.run } });
    const hooks = places.filter(({ place, takes }) => takes !== true || place === 'an observer of a stream');
    const counted = hooks.map(({ place, hang }) => {
      const each = new CountedCode(code);
      hang(acceptor, each.run);
      return { place, each };
    });
    await exercise(dialer, acceptor);
    expect([dialer.status.state, acceptor.status.state]).toEqual(['closed', 'closed']);
    expect([...counted, { place: 'the error serializer', each: serializer }].filter(({ each }) => each.runs === 0)).toEqual([]);
    expect(logs.errors.length).toBeGreaterThan(0);
  });

  it('User code that fails around a dial makes the dial fail', async () => {
    const network = new Network({ onStream: (payload, stream) => stream.reply(payload) });
    const [hello, shouldRetry, onClose] = [new CountedCode(code), new CountedCode(code), new CountedCode(code)];
    const hooks = {
      hello: hello.run as unknown as () => object,
      reconnect: { minDelayMs: 1, maxDelayMs: 1, shouldRetry: shouldRetry.run as unknown as () => boolean },
    };
    const peer = connect('ws://test', { socket: network.socket, keepalive: false, ...hooks });
    peer.onClose(onClose.run);
    const answer = peer.request('p').catch((error: unknown) => error);
    await time.advance(60_000);
    expect(await answer).toMatchObject({ retriable: true });
    expect(peer.status.state).toBe('closed');
    expect([hello, shouldRetry, onClose].map(({ runs }) => runs > 0)).toEqual([true, true, true]);
    expect(time.isOver()).toBe(true);
  });
});

it.each<[what: string, input: (run: Code) => Iterable<number> | AsyncIterable<number>]>([
  [
    'that throws',
    (run) =>
      (function* () {
        run();
        yield 1;
      })(),
  ],
  [
    'whose return throws',
    (run) => {
      const results = [Promise.resolve({ done: false, value: 1 })];
      const next = (): Promise<IteratorResult<number>> => results.pop() ?? new Promise(() => undefined);
      const leave = (): Promise<IteratorResult<number>> => {
        run();
        return next();
      };
      return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
    },
  ],
])('An iterable %s does not disturb other streams', async (_what, input) => {
  const { dialer, acceptor } = createPair();
  const counted = new CountedCode(bomb);
  dialer.onStream((payload, stream) => stream.reply(payload));
  acceptor.onStream((_, stream) => stream.sendAll(input(counted.run)));
  await exercise(dialer, acceptor);
  expect([dialer.status.state, acceptor.status.state]).toEqual(['closed', 'closed']);
  expect(counted.runs).toBeGreaterThan(0);
});
