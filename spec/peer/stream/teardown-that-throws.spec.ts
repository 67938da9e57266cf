import { describe, expect, it } from '@jest/globals';
import { finalize, mergeAll, Observable, tap } from 'rxjs';
import type { Peer, Stream } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import type { Pair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

const fails = (): never => {
  throw new Error('a teardown');
};
const unheard = { error: () => undefined };

/** Subscribes with a teardown that throws. rxjs throws its error into the code that ends the subscription: the library. */
const STREAM_WAYS: readonly (readonly [string, (stream: Stream) => unknown, string])[] = [
  ['a reader', (stream) => stream.subscribe(unheard).add(fails), 'a subscriber of a stream'],
  ['finalize at a reader', (stream) => stream.pipe(finalize(fails)).subscribe(unheard), 'a subscriber of a stream'],
  [
    'finalize at its reply headers',
    ({ replyHeaders$ }) => replyHeaders$.pipe(finalize(fails)).subscribe(),
    'a subscriber of replyHeaders$',
  ],
];

const CALL_WAYS: readonly (readonly [string, (peer: Peer, onOpen: (stream: Stream) => void) => unknown, string])[] = [
  ...STREAM_WAYS.map(
    ([what, subscribe, blamed]) =>
      [
        what,
        (peer: Peer, onOpen: (stream: Stream) => void) => {
          const stream = peer.open('p');
          subscribe(stream);
          onOpen(stream);
        },
        blamed,
      ] as const,
  ),
  ['open$', (peer, onOpen) => peer.open$('p', { onOpen }).subscribe(unheard).add(fails), 'a subscriber of a stream'],
  ['finalize at open$', (peer, onOpen) => peer.open$('p', { onOpen }).pipe(finalize(fails)).subscribe(unheard), 'a subscriber of a stream'],
  [
    'finalize at request$',
    (peer, onOpen) => peer.request$('p', { onOpen }).pipe(finalize(fails)).subscribe(unheard),
    'a subscriber of a stream',
  ],
];

/** How a stream ends. */
const ENDS: readonly (readonly [string, (pair: Pair, remote: Stream) => unknown, object])[] = [
  ['is reset by the remote', (_pair, remote) => remote.reset(300, 'enough'), { how: 'reset', by: 'remote', code: 300 }],
  ['loses its connection', ({ link }) => link.cut(), { how: 'lost' }],
  ['is cancelled by the closing peer', ({ dialer }) => void dialer.close(), { how: 'reset', by: 'library' }],
];

describe.each(CALL_WAYS)('Failing teardown of %s', (_what, call, blamed) => {
  it.each(ENDS)('A failing teardown of a stream that %s is logged, and all other code receives the end', async (_how, end, cause) => {
    const pair = createPair();
    const [locals, remotes]: [Stream[], Stream[]] = [[], []];
    pair.acceptor.streams$
      .pipe(
        tap((stream) => remotes.push(stream)),
        mergeAll(),
      )
      .subscribe(unheard);
    const frames = framesOf(pair.dialer);
    call(pair.dialer, (stream) => locals.push(stream));
    await time.advance();
    const [[local], [remote]] = [locals, remotes];
    if (local === undefined || remote === undefined) throw new Error('expected a stream');
    const told: unknown[] = [];
    const { signal } = local;
    local.subscribe({ error: () => told.push('another reader') });
    local.replyHeaders$.subscribe({ complete: () => told.push('another of the reply headers') });
    void local.closed.then((given) => told.push(given));
    // A call whose open carries the end accepts no input.
    const inputs = local.phase === 'open' ? ['the input'] : [];
    for (const input of inputs) void local.sendAll(new Observable(() => () => told.push(input)));
    end(pair, remote);
    await time.advance();
    const expected = [expect.objectContaining(cause), 'another reader', 'another of the reply headers', ...inputs];
    expect(told).toHaveLength(expected.length);
    expect(told).toEqual(expect.arrayContaining(expected));
    expect(signal.aborted).toBe(true);
    expect(logs.errors).toEqual([`rxmux: ${blamed} failed`]);
    expect(frames.filter(({ code }) => code === 2)).toEqual([]);
  });
});

describe('Failing teardown', () => {
  it('A failing teardown of `request$` at its answer leaves the stream open', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(async (_, stream) => {
      await stream.send('answer');
      await new Promise(() => undefined);
    });
    const frames = framesOf(dialer);
    const told: unknown[] = [];
    dialer
      .request$('p')
      .pipe(finalize(fails))
      .subscribe((answer) => told.push(answer));
    await time.advance();
    expect([told, logs.errors]).toEqual([['answer'], ['rxmux: a subscriber of a stream failed']]);
    expect(frames).toEqual([expect.objectContaining({ type: 'open' })]);
  });

  it('A failing teardown of a reader does not stop the answer after the end of the remote', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(async (_, stream) => {
      stream.subscribe({ complete: () => void stream.reply('answer') }).add(fails);
      await stream.closed;
    });
    const stream = dialer.open('p');
    const told: unknown[] = [];
    stream.subscribe((value) => told.push(value));
    void stream.sendAll(['input']);
    await time.advance();
    expect([told, logs.errors]).toEqual([['answer'], ['rxmux: a subscriber of a stream failed']]);
  });

  it('A failing teardown of an input is logged when its stream ends, and other code receives the end', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      stream.reset(300, 'enough');
    });
    const told: unknown[] = [];
    const signals: AbortSignal[] = [];
    dialer
      .open$('p', {
        input: new Observable(() => fails),
        onOpen(stream) {
          signals.push(stream.signal);
          void stream.closed.then(() => told.push('closed'));
        },
      })
      .subscribe({ error: (error: unknown) => told.push(String(error)) });
    await time.advance();
    expect(told).toEqual(['ResetError: stream 1: reset with 300: enough', 'closed']);
    expect(signals).toEqual([expect.objectContaining({ aborted: true })]);
    expect(logs.errors).toEqual(['rxmux: ending an input failed']);
  });
});

/** Observables of a peer that complete with the peer. */
const OF_PEER: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
  ['status$', ({ status$ }) => status$],
  ['streams$', ({ streams$ }) => streams$],
  ['frames$', ({ frames$ }) => frames$],
  ['closes$', ({ closes$ }) => closes$],
];

describe.each(OF_PEER)('Failing teardown of a subscriber of %s', (name, watched) => {
  it('A failing teardown of one subscriber is logged, and all other observables of the peer complete', async () => {
    const { dialer } = createPair();
    const told: string[] = [];
    watched(dialer).subscribe().add(fails);
    for (const [other, of] of OF_PEER) of(dialer).subscribe({ complete: () => told.push(other) });
    void dialer.closed.then(() => told.push('closed'));
    void dialer.close();
    await time.advance();
    expect(new Set(told)).toEqual(new Set([...OF_PEER.map(([other]) => other), 'closed']));
    expect(logs.errors).toEqual([`rxmux: a subscriber of ${name} failed`]);
  });
});
