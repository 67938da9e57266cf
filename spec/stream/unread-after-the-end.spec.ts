import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { respond } from '../../src/index.js';
import type { Peer, Stream } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { framesOf } from '../support/peer/frames.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { collectLogs } from '../support/peer/logs.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const time = virtualPeerTime();

const KIB = 1024;
const LIMITS = { maxHeldBytes: 1024 * KIB };
const MOST_COLLECTIONS = 20;
/** In each turn the engine runs the finalizers of one registry. Earlier files of tests in this process may have left hundreds of registries. */
const MOST_TURNS = 2_000;
/** Keeps iterators and waiting promises of a test reachable: if the last reference were collected, no code could read on. */
const held: unknown[] = [];

/** Opens a stream and sends three values, the second and third of 200 KiB each. Then `end` ends the stream. */
async function sendThree(peer: Peer, end: (stream: Stream) => unknown): Promise<void> {
  const stream = peer.open('p');
  for (const value of ['first', 'x'.repeat(200 * KIB), 'y'.repeat(200 * KIB)]) void stream.send(value);
  await time.advance();
  void end(stream);
  await time.advance();
}

/** Sends on three streams. The third one is over the limit, unless a collection has released what the others left unread. */
async function overfill(peer: Peer, end: (stream: Stream) => unknown): Promise<void> {
  for (let nth = 1; nth <= 2; nth++) await sendThree(peer, end);
  for (let nth = 1; nth <= 2; nth++) await collection();
  await sendThree(peer, end);
}

const resetCodes = (sent: readonly { readonly code?: unknown }[]) => sent.flatMap(({ code }) => (code === undefined ? [] : [code]));

describe('Unread values of an iterator whose stream has ended', () => {
  collectLogs();

  it('Unread values of an ended stream stay counted while its iterator is reachable, whatever its handler has done', async () => {
    const { dialer, acceptor } = createPair({ acceptor: { limits: LIMITS } });
    const iterators: AsyncIterator<unknown>[] = [];
    acceptor.onStream((_, stream) => {
      const iterator = stream[Symbol.asyncIterator]();
      iterators.push(iterator);
      void iterator.next();
      void stream.end();
      return new Promise((settle) =>
        stream.signal.addEventListener('abort', () => {
          settle(undefined);
        }),
      );
    });
    const sent = framesOf(acceptor);
    await overfill(dialer, (stream) => stream.end());
    expect([iterators.length, resetCodes(sent)]).toEqual([3, [11]]);
    expect(await iterators[0]?.next()).toMatchObject({ value: expect.stringMatching(/^x/) });
  });

  it.each<readonly [what: string, take: (acceptor: Peer, hold: (stream: Stream) => void) => void, end: (stream: Stream) => unknown]>([
    [
      '`respond`, which answers with them',
      (acceptor, hold) => {
        async function* slowly(stream: Stream): AsyncGenerator {
          hold(stream);
          for await (const value of stream) yield await new Promise((settle) => held.push(settle, value));
        }
        acceptor.streams$.pipe(respond((_, stream) => slowly(stream))).subscribe();
      },
      (stream) => {
        stream.reset();
      },
    ],
    [
      'an iterator whose handler has returned before the end',
      (acceptor, hold) => {
        acceptor.onStream((_, stream) => {
          hold(stream);
          const iterator = stream[Symbol.asyncIterator]();
          held.push(iterator);
          void iterator.next();
        });
      },
      (stream) => stream.end(),
    ],
  ])('Unread values of an ended stream stay counted for %s', async (_what, take, end) => {
    const { dialer, acceptor } = createPair({ acceptor: { limits: LIMITS } });
    let streams = 0;
    take(acceptor, () => streams++);
    const sent = framesOf(acceptor);
    await overfill(dialer, end);
    expect([streams, resetCodes(sent)]).toEqual([3, [11]]);
  });

  it('Unread values of an ended stream are released when their iterator is collected', async () => {
    const { dialer, acceptor } = createPair({ acceptor: { limits: LIMITS } });
    const heldBytes = (): number => acceptor.stats().limits.maxHeldBytes.used;
    acceptor.streams$.subscribe((stream) => void stream[Symbol.asyncIterator]().next());
    const sent = framesOf(acceptor);
    const sendUnread = () =>
      sendThree(dialer, (stream) => {
        stream.reset();
      });
    await sendUnread();
    const ofOne = heldBytes();
    expect(ofOne).toBeGreaterThan(400 * KIB);
    // The engine may keep one of them longer.
    const isReleased = (): boolean => heldBytes() <= ofOne;
    for (let nth = 2; nth <= 6; nth++) {
      await sendUnread();
      for (let tries = 0; tries < MOST_COLLECTIONS && !isReleased(); tries++) await collection(isReleased);
      expect([resetCodes(sent), isReleased()]).toEqual([[], true]);
    }
  });
});

/** Collects garbage, and runs the finalizers, at most until `isDone` returns true. */
async function collection(isDone = (): boolean => false): Promise<void> {
  collect();
  for (let turns = 0; turns < MOST_TURNS && !isDone(); turns++) await new Promise((resolve) => setImmediate(resolve));
}
