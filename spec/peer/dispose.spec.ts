import { describe, expect, it, jest } from '@jest/globals';
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

describe('Peer without Symbol.asyncDispose', () => {
  const platform = otherPlatform();

  it('Peer uses a symbol of the package without Symbol.asyncDispose, and has no method named undefined', async () => {
    platform({ Symbol: withoutAsyncDispose() });
    jest.resetModules();
    const { Peer } = await import('../../src/index.js');
    const base: unknown = Object.getPrototypeOf(Peer.prototype);
    const symbols = Object.getOwnPropertySymbols(base).map(String);
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
