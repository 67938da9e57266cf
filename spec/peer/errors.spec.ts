import { describe, expect, it } from '@jest/globals';
import { connect, isMuxError, MuxError, StreamError } from '../../src/index.js';
import type { AnyMuxError, ConnectOptions, Peer } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { Network } from '../support/peer/network.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { collectLogs } from '../support/peer/logs.js';

const time = virtualPeerTime();

/** The error that a request rejects with when an event happens around it. */
interface Case {
  readonly when: string;
  readonly run: () => Promise<unknown>;
  readonly code: string;
  /** Whether the work provably never started. */
  readonly retriable: boolean;
  readonly streamId?: number | null;
  readonly facts?: object;
  readonly message: string | RegExp;
}

const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

/** A request over a pair. `act` runs once the request has arrived. */
function asked(
  act: (sides: ReturnType<typeof createPair>) => void,
  options: Parameters<typeof createPair>[0] = {},
): () => Promise<unknown> {
  return async () => {
    const sides = createPair(options);
    sides.acceptor.onStream(() => new Promise(() => undefined));
    await time.advance();
    const error = failure(sides.dialer.request('p', { timeoutMs: 5_000 }));
    await time.advance();
    act(sides);
    await time.advance(10_000);
    return error;
  };
}

/** The error of a request that `handler` answers. */
function handled(handler: Parameters<Peer['onStream']>[0]): () => Promise<unknown> {
  return async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(handler);
    const error = failure(dialer.request('p'));
    await time.advance();
    return error;
  };
}

/** A request that waits for a dial. */
function waiting(network: Network, options: ConnectOptions, act: (peer: Peer) => void = () => undefined): () => Promise<unknown> {
  return async () => {
    const peer = connect('ws://test', { socket: network.socket, keepalive: false, ...options });
    const error = failure(peer.request('p', { timeoutMs: 5_000 }));
    act(peer);
    await time.advance(20_000);
    return error;
  };
}

function refusing(answer: Network['answer']): Network {
  const network = new Network();
  network.answer = answer;
  return network;
}

const CASES: readonly Case[] = [
  {
    when: 'the remote has no handler',
    run: async () => {
      const { dialer } = createPair();
      const error = failure(dialer.request());
      await time.advance();
      return error;
    },
    code: 'REFUSED',
    retriable: true,
    streamId: 1,
    facts: { resetCode: 7 },
    message: 'stream 1: refused: no handler took this stream: this side has neither an onStream handler nor an operator such as respond()',
  },
  {
    when: 'the handler refuses',
    run: handled((_, stream) => {
      stream.reset(7, 'not here');
    }),
    code: 'REFUSED',
    retriable: true,
    streamId: 1,
    facts: { resetCode: 7, reason: 'not here' },
    message: 'stream 1: refused: not here',
  },
  {
    when: 'the remote has reached its limit of streams',
    run: async () => {
      const { dialer, acceptor } = createPair({ limits: { maxStreams: 1 } });
      acceptor.onStream(() => new Promise(() => undefined));
      dialer.open();
      const error = failure(dialer.request());
      await time.advance();
      return error;
    },
    code: 'REFUSED',
    retriable: true,
    streamId: 3,
    message: /more than 1 streams \(maxStreams\)/,
  },
  {
    when: 'the remote goes away without having processed the request',
    run: asked(({ link }) => {
      link.inject('dialer', JSON.stringify({ type: 'goaway', code: 0, last_stream: 0, reason: 'restart' }));
    }),
    code: 'REFUSED',
    retriable: true,
    streamId: 1,
    facts: { resetCode: null, reason: 'restart' },
    message: 'stream 1: refused: restart',
  },
  {
    when: 'this peer opens no more streams',
    run: async () => {
      const { dialer } = createPair();
      void dialer.close();
      return failure(dialer.request());
    },
    code: 'REFUSED',
    retriable: true,
    streamId: null,
    facts: { resetCode: null },
    message: 'refused: this peer opens no more streams',
  },
  {
    when: 'a permanent dial failure precedes the request',
    run: async () => {
      const peer = connect('ws://test', { socket: refusing({ status: 401 }).socket, keepalive: false, reconnect: true });
      await time.advance(1_000);
      const error = failure(peer.request('p', { retry: { delay: 5_000 } }));
      await time.advance();
      return error;
    },
    code: 'CONNECT',
    retriable: true,
    facts: { status: 401 },
    message: 'expected ws://test to accept the handshake, got HTTP 401',
  },
  {
    when: 'the dial fails',
    run: waiting(refusing({ status: 503 }), {}),
    code: 'CONNECT',
    retriable: true,
    facts: { status: 503 },
    message: 'expected ws://test to accept the handshake, got HTTP 503',
  },
  {
    when: 'the peer is closed before a connection opens',
    run: waiting(refusing('silence'), {}, (peer) => void peer.close()),
    code: 'CONNECTION_LOST',
    retriable: true,
    streamId: null,
    message: 'connection lost (1000 closed before it was open)',
  },
  {
    when: 'too many bytes wait for a connection',
    run: async () => {
      const network = refusing('silence');
      const peer = connect('ws://test', { socket: network.socket, limits: { maxQueuedBytes: 100 } });
      peer.open('x'.repeat(200));
      return failure(peer.request('y'));
    },
    code: 'QUEUE_OVERFLOW',
    retriable: true,
    streamId: null,
    message: /bytes waiting for a connection are over the limit of 100 \(maxQueuedBytes\)/,
  },
  {
    when: 'the socket is lost after the open was sent',
    run: asked(({ link }) => {
      link.cut({ code: 1011, reason: 'crash' });
    }),
    code: 'CONNECTION_LOST',
    retriable: false,
    streamId: 1,
    facts: { reason: { code: 1011, reason: 'crash', wasClean: false, willRetry: false } },
    message: 'stream 1: connection lost (1011 crash)',
  },
  {
    when: 'the remote goes away and may have processed the request',
    run: asked(({ acceptor }) => {
      void acceptor.close();
    }),
    code: 'RESET',
    retriable: false,
    streamId: 1,
    facts: { resetCode: 8 },
    message: /^stream 1: reset with CANCEL/,
  },
  {
    when: 'the handler fails',
    run: handled(() => Promise.reject(new RangeError('too big'))),
    code: 'REMOTE',
    retriable: false,
    streamId: 1,
    facts: { resetCode: 16, reason: 'too big', payload: { name: 'RangeError', message: 'too big' } },
    message: 'too big',
  },
  {
    when: 'the handler resets with a code of the application',
    run: handled((_, stream) => {
      stream.reset(300, 'quota', { limit: 1 });
    }),
    code: 'RESET',
    retriable: false,
    streamId: 1,
    facts: { resetCode: 300, reason: 'quota', payload: { limit: 1 } },
    message: 'stream 1: reset with 300: quota',
  },
  {
    when: 'the remote resets without a code',
    run: asked(({ link }) => {
      link.inject('dialer', JSON.stringify({ type: 'reset', stream: 1, reason: 'why' }));
    }),
    code: 'RESET',
    retriable: false,
    streamId: 1,
    facts: { resetCode: null, reason: 'why' },
    message: 'stream 1: reset with no code: why',
  },
  {
    when: 'the remote resets with an unknown code',
    run: asked(({ link }) => {
      link.inject('dialer', JSON.stringify({ type: 'reset', stream: 1, code: 99 }));
    }),
    code: 'RESET',
    retriable: false,
    streamId: 1,
    facts: { resetCode: 99, reason: '', payload: null },
    message: 'stream 1: reset with 99',
  },
  {
    when: 'no answer comes in time',
    run: asked(() => undefined),
    code: 'DEADLINE_EXCEEDED',
    retriable: false,
    streamId: 1,
    facts: { timeoutMs: 5_000 },
    message: 'stream 1: expected the stream to end within 5000 ms, got no end',
  },
  {
    when: 'no connection opens in time',
    run: waiting(refusing('silence'), { connectTimeoutMs: 0 }),
    code: 'DEADLINE_EXCEEDED',
    retriable: true,
    streamId: null,
    facts: { timeoutMs: 5_000 },
    message: 'expected the stream to end within 5000 ms, but it was never sent: no connection to ws://test',
  },
  {
    when: 'this side closes the peer',
    run: asked(({ dialer }) => {
      void dialer.close();
    }),
    code: 'CANCELLED',
    retriable: false,
    streamId: 1,
    message: 'stream 1: the connection is closing',
  },
  {
    when: 'its signal aborts',
    run: async () => {
      const { dialer } = createPair();
      const abort = new AbortController();
      const error = failure(dialer.request('p', { signal: abort.signal }));
      abort.abort('why');
      return error;
    },
    code: 'CANCELLED',
    retriable: false,
    streamId: 1,
    facts: { cause: 'why' },
    message: 'stream 1: aborted',
  },
  {
    when: 'the two ends speak different subprotocols',
    run: waiting(refusing({ protocol: 'mux.v1.msgpack' }), {}),
    code: 'CODEC_MISMATCH',
    retriable: false,
    facts: { offered: 'mux.v1.json', selected: 'mux.v1.msgpack' },
    message: "expected the subprotocol 'mux.v1.json', got 'mux.v1.msgpack': both ends must use the same codec",
  },
  {
    when: 'its headers do not fit a message',
    run: async () => failure(createPair().dialer.request('p', { headers: { big: 'x'.repeat(70_000) } })),
    code: 'PROTOCOL',
    retriable: false,
    message: /.+/,
  },
  {
    when: 'the answer is larger than this side accepts',
    run: async () => {
      const { dialer, acceptor } = createPair({ dialer: { limits: { maxPayloadBytes: 100_000 } } });
      acceptor.onStream((_, stream) => stream.reply('x'.repeat(200_000)));
      const error = failure(dialer.request('p'));
      await time.advance();
      return error;
    },
    code: 'RESET',
    retriable: false,
    streamId: 1,
    facts: { resetCode: 6 },
    message: /^stream 1: reset with PAYLOAD_TOO_LARGE: .*100000/,
  },
];

describe('Errors of a request', () => {
  collectLogs();

  it.each(CASES.map((entry) => [entry.when, entry] as const))(
    'A request rejects when %s',
    async (_when, { run, code, retriable, streamId, facts, message }) => {
      const error = await run();
      expect(isMuxError(error)).toBe(true);
      expect(error).toBeInstanceOf(MuxError);
      expect(error).toMatchObject({ code, retriable, ...facts });
      const { message: text, streamId: id } = error as AnyMuxError & { streamId?: unknown };
      if (typeof message === 'string') expect(text).toBe(message);
      else expect(text).toMatch(message);
      expect(error instanceof StreamError).toBe(streamId !== undefined);
      expect(id).toBe(streamId);
    },
  );

  it('A request is retriable only if the work provably never started', () => {
    const NEVER_STARTED = new Set(['REFUSED', 'CONNECT', 'QUEUE_OVERFLOW']);
    const UNLESS_SENT = new Set(['CONNECTION_LOST', 'DEADLINE_EXCEEDED']);
    const unexpected = CASES.filter(
      ({ code, retriable, streamId }) => retriable !== (NEVER_STARTED.has(code) || (UNLESS_SENT.has(code) && streamId === null)),
    );
    expect(unexpected).toEqual([]);
  });
});

describe('Errors of a stream', () => {
  it('A stream passes the same error to all its subscribers', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      stream.reset(300, 'why');
    });
    const stream = dialer.open('p');
    const seen: unknown[] = [];
    for (let n = 0; n < 2; n++) stream.subscribe({ error: (error: unknown) => seen.push(error) });
    await time.advance();
    stream.subscribe({ error: (error: unknown) => seen.push(error) });
    expect(seen).toHaveLength(3);
    expect(new Set(seen).size).toBe(1);
  });
});
