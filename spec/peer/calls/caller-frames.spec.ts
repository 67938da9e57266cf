import { NEVER } from 'rxjs';
import { describe, expect, it } from '@jest/globals';
import { connect, ConnectError, ResetError } from '../../../src/index.js';
import type { Peer, Stream, StreamHandler } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import type { Pair, PairOptions } from '../../../src/testing.js';
import { Network } from '../../support/peer/network.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
collectLogs();

/** Awaits a call. The stack of an error can show the name of this function. */
async function buyTickets(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
    return 'no error';
  } catch (error) {
    return error;
  }
}

const stays: StreamHandler = (_, stream) => stream.closed;
const fails =
  (error: Error): StreamHandler =>
  () => {
    throw error;
  };

interface Kind {
  readonly kind: string;
  readonly code: string;
  readonly handler?: StreamHandler;
  readonly options?: PairOptions;
  readonly call: (peer: Peer) => Promise<unknown>;
  /** Runs once the call is under way. */
  readonly then?: (pair: Pair) => unknown;
}

const opened = (peer: Peer): Stream => {
  const stream = peer.open('p');
  stream.subscribe({ error: () => undefined });
  return stream;
};
const full = { limits: { maxUnsentBytes: 100_000 } };

const KINDS: readonly Kind[] = [
  { kind: 'a request whose handler fails', code: 'REMOTE', handler: fails(new Error('why')), call: (peer) => peer.request('p') },
  { kind: 'a request that is reset', code: 'RESET', handler: fails(new ResetError(300)), call: (peer) => peer.request('p') },
  {
    kind: 'a request that is refused',
    code: 'REFUSED',
    handler: (_, stream) => {
      stream.reset(7);
    },
    call: (peer) => peer.request('p'),
  },
  { kind: 'a request that times out', code: 'DEADLINE_EXCEEDED', handler: stays, call: (peer) => peer.request('p', { timeoutMs: 5 }) },
  {
    kind: 'a request that is aborted before it is sent',
    code: 'CANCELLED',
    call: (peer) => peer.request('p', { signal: AbortSignal.abort() }),
  },
  {
    kind: 'a request with `retry` that fails',
    code: 'REMOTE',
    handler: fails(new Error('why')),
    call: (peer) => peer.request('p', { retry: 'safe' }),
  },
  {
    kind: 'a request whose connection is lost',
    code: 'CONNECTION_LOST',
    handler: stays,
    call: (peer) => peer.request('p'),
    then: ({ link }) => link.cut(),
  },
  {
    kind: 'a request whose peer is closed',
    code: 'CANCELLED',
    handler: stays,
    call: (peer) => peer.request('p'),
    then: ({ dialer }) => dialer.close(),
  },
  {
    kind: 'a `send` after the end',
    code: 'PROTOCOL',
    handler: stays,
    call: (peer) => {
      const stream = opened(peer);
      void stream.end();
      return stream.send(1);
    },
  },
  {
    kind: 'a `send` that waits for room when the stream is reset',
    code: 'RESET',
    handler: (_, stream) => {
      stream.reset(11);
    },
    call: (peer) => opened(peer).send('x'.repeat(10_000_000)),
  },
  {
    kind: 'a `send` into a full queue',
    code: 'QUEUE_OVERFLOW',
    handler: stays,
    options: full,
    call: (peer) => {
      const stream = opened(peer);
      for (let nth = 0; nth < 40; nth++) void stream.send('x'.repeat(1_000_000));
      return stream.send('x'.repeat(1_000_000));
    },
  },
  {
    kind: 'a `reply` after the end',
    code: 'PROTOCOL',
    handler: stays,
    call: (peer) => {
      const stream = opened(peer);
      void stream.end();
      return stream.reply(1);
    },
  },
  {
    kind: 'a `reply` on a stream whose connection is lost',
    code: 'CONNECTION_LOST',
    handler: stays,
    call: async (peer) => {
      const stream = opened(peer);
      await stream.closed;
      return stream.reply(1);
    },
    then: ({ link }) => link.cut(),
  },
  {
    kind: 'a `sendAll` whose stream is reset',
    code: 'RESET',
    handler: fails(new ResetError(300)),
    call: (peer) => opened(peer).sendAll(NEVER),
  },
  {
    kind: 'a `sendAll` whose connection is lost',
    code: 'CONNECTION_LOST',
    handler: stays,
    call: (peer) => opened(peer).sendAll(NEVER),
    then: ({ link }) => link.cut(),
  },
  {
    kind: 'a loop over a stream that fails',
    code: 'REMOTE',
    handler: fails(new Error('why')),
    call: async (peer) => {
      for await (const value of peer.open('p', { end: true })) expect(value).toBe('never');
    },
  },
  {
    kind: 'a `ping` on a connection that is lost',
    code: 'CONNECTION_LOST',
    options: { latencyMs: 100 },
    call: (peer) => peer.ping(),
    then: ({ link }) => link.cut(),
  },
  {
    kind: 'a `ping` of a peer that has closed',
    code: 'CONNECTION_LOST',
    call: async (peer) => {
      await peer.close();
      return peer.ping();
    },
  },
  {
    kind: '`opened` of a peer that has closed',
    code: 'CONNECTION_LOST',
    call: async (peer) => {
      await peer.close();
      return peer.opened;
    },
  },
];

describe('Stack of a failed call', () => {
  it.each(KINDS)('The error stack names the function that awaits $kind', async ({ handler, options, call, code, then }) => {
    const pair = createPair({ ...options, acceptor: { onStream: handler } });
    await time.advance();
    const outcome = buyTickets(() => call(pair.dialer));
    await time.advance();
    void then?.(pair);
    await time.advance(10);
    const error = await outcome;
    expect(error).toMatchObject({ code });
    expect((error as Error).stack).toMatch(/\n +at (async )?buyTickets /);
  });
});

describe('Calls that fail with the error of one dial', () => {
  it('Calls that fail with one dial get an error each, with the stack of their own caller; `status` keeps the plain error', async () => {
    const network = new Network();
    network.answer = { status: 503 };
    const peer = connect('ws://test', { socket: network.socket });
    async function sellTickets(): Promise<unknown> {
      const error = await buyTickets(() => peer.request('q'));
      return error;
    }
    const outcomes = Promise.all([buyTickets(() => peer.request('p')), sellTickets(), buyTickets(() => peer.opened)]);
    await time.advance();
    const errors = (await outcomes) as ConnectError[];
    expect(errors.map((error) => [error instanceof ConnectError, error.code, error.status, error.retriable])).toEqual(
      errors.map(() => [true, 'CONNECT', 503, true]),
    );
    const stacks = errors.map(({ stack = '' }) => [stack.split('buyTickets').length - 1, stack.split('sellTickets').length - 1]);
    expect(stacks).toEqual([
      [1, 0],
      [1, 1],
      [1, 0],
    ]);
    const { status } = peer;
    expect(status.state === 'closed' ? status.error?.stack : '').not.toContain('buyTickets');
  });
});

describe('Errors of an input', () => {
  it('A failed call does not change the error of its own input', async () => {
    const { dialer } = createPair();
    const error = new RangeError('input');
    const { stack } = error;
    const outcome = buyTickets(() => dialer.open().sendAll(Promise.reject(error)));
    await time.advance();
    expect([await outcome, error.stack]).toEqual([error, stack]);
  });
});
