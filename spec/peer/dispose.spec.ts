import { describe, expect, it, jest } from '@jest/globals';
import { lastValueFrom, timer } from 'rxjs';
import type { Stream } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { otherPlatform } from '../support/platform/globals.js';
import { virtualPeerTime } from '../support/peer/time.js';

const time = virtualPeerTime();

describe('Peer in an `await using` block', () => {
  it('An `await using` block closes its peer at its end, as `close` does', async () => {
    const { dialer, acceptor } = createPair();
    const block = async (): Promise<void> => {
      await using peer = dialer;
      await peer.opened;
    };
    const done = block();
    await time.advance();
    await done;
    expect([dialer.status.state, await acceptor.closed]).toMatchObject(['closed', { code: 1000, wasClean: true }]);
  });

  it('An `await using` block that throws closes its peer', async () => {
    const { dialer } = createPair();
    const block = async (): Promise<void> => {
      await using peer = dialer;
      await peer.opened;
      throw new Error('of the block');
    };
    const failure = expect(block()).rejects.toThrow('of the block');
    await time.advance();
    await failure;
    expect(dialer.status.state).toBe('closed');
  });
});

describe('Stream in an `await using` block', () => {
  /** A stream in a block that returns or throws, and how both ends saw its end. */
  async function used(leave: (stream: Stream) => Promise<void>): Promise<readonly unknown[]> {
    const accepted: Stream[] = [];
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_payload, stream) => {
      accepted.push(stream);
      return stream.closed;
    });
    const opened: Stream[] = [];
    const block = async (): Promise<void> => {
      await using stream = dialer.open('p');
      opened.push(stream);
      await leave(stream);
    };
    const done = block().catch((error: unknown) => (error as Error).message);
    await time.advance();
    const outcome = [await done, opened[0]?.cause, accepted[0]?.cause];
    void dialer.close();
    await time.advance();
    return outcome;
  }

  const cancelled = { how: 'reset', code: 8 };

  it('An `await using` block resets its stream with CANCEL at its end', async () => {
    const outcome = await used(() => lastValueFrom(timer(0)).then(() => undefined));
    expect(outcome).toMatchObject([undefined, { ...cancelled, by: 'user' }, { ...cancelled, by: 'remote' }]);
  });

  it('An `await using` block that throws resets its stream', async () => {
    const outcome = await used(async () => {
      await lastValueFrom(timer(0));
      throw new Error('of the block');
    });
    expect(outcome).toMatchObject(['of the block', cancelled, cancelled]);
  });

  it('An `await using` block leaves the cause of a stream that has ended', async () => {
    const outcome = await used(async (stream) => {
      await lastValueFrom(timer(0));
      stream.reset(300, 'quota used up');
    });
    expect(outcome).toMatchObject([undefined, { code: 300, reason: 'quota used up' }, { code: 300, reason: 'quota used up' }]);
  });
});

describe('Peer without Symbol.asyncDispose', () => {
  const platform = otherPlatform();

  it('Peer uses a symbol of the package without Symbol.asyncDispose, and has no method named undefined', async () => {
    platform({ Symbol: withoutAsyncDispose() });
    jest.resetModules();
    const { Peer } = await import('../../src/index.js');
    const symbols = Object.getOwnPropertySymbols(Peer.prototype).map(String);
    expect(symbols).toContain('Symbol(Symbol.asyncDispose)');
    expect('undefined' in Peer.prototype).toBe(false);
  });
});

/** `Symbol` of an older platform. Since Node 24 code cannot delete the property itself. */
function withoutAsyncDispose(): (description?: string) => symbol {
  const complete = Symbol;
  const older = (description?: string): symbol => complete(description);
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(complete)))
    if (name !== 'asyncDispose' && !(name in older)) Object.defineProperty(older, name, property);
  return older;
}
