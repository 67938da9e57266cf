import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import type { Peer, Stream } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { framesOf } from '../support/peer-frames.js';
import { virtualPeerTime } from '../support/peer-time.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const time = virtualPeerTime();

const KIB = 1024;
const LIMITS = { maxHeldBytes: 1024 * KIB };

/** Sends a stream of three values, the second and third of 200 KiB each, and ends it as `end` says. */
async function sendThree(peer: Peer, end: (stream: Stream) => unknown): Promise<void> {
  const stream = peer.open('p');
  for (const value of ['first', 'x'.repeat(200 * KIB), 'y'.repeat(200 * KIB)]) void stream.send(value);
  await time.advance();
  void end(stream);
  await time.advance();
}

const resetCodes = (sent: readonly { readonly code?: unknown }[]) => sent.flatMap(({ code }) => (code === undefined ? [] : [code]));

describe('what an iterator has not come to when its stream ends', () => {
  it('is held while somebody may still ask for it, whatever its handler has done meanwhile', async () => {
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
    for (let nth = 0; nth < 3; nth++) await sendThree(dialer, (stream) => stream.end());
    expect([iterators.length, resetCodes(sent)]).toEqual([3, [11]]);
    expect(await iterators[0]?.next()).toMatchObject({ value: expect.stringMatching(/^x/) });
  });

  it('is held no longer when nobody can ask for it any more', async () => {
    const { dialer, acceptor } = createPair({ acceptor: { limits: LIMITS } });
    acceptor.streams$.subscribe((stream) => void stream[Symbol.asyncIterator]().next());
    const sent = framesOf(acceptor);
    for (let nth = 0; nth < 8; nth++) {
      await sendThree(dialer, (stream) => {
        stream.reset();
      });
      await collected();
    }
    expect(resetCodes(sent)).toEqual([]);
  });
});

/** A collection, and the turns in which those are told who wait for one. */
async function collected(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  await new Promise((resolve) => setImmediate(resolve));
}
