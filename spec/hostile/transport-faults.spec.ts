import { expect } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../src/index.js';
import { DEFAULT_KEEPALIVE } from '../../src/connection/watchdog.js';
import { CLOSING_MS } from '../../src/connection/watchdog.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { stopTaking } from '../support/hostile/socket.js';
import { answersPing } from '../support/hostile/steps.js';
import { progressOf } from '../support/peer/outcome.js';
import { fillSocket } from '../support/peer/streams.js';

const { stallBytes, stallMs } = DEFAULT_LIMITS;
const MIB = 1024 * 1024;

/** Checks that the peer has terminated the socket without a handshake, for this reason. */
const terminated =
  (reason: string): Step =>
  ({ peer, socket }) => {
    expect(socket.terminations).toBe(1);
    expect(peer.status).toMatchObject({ state: 'closed', reason: { code: 1006, reason, wasClean: false, willRetry: false } });
  };

const standing: Step = ({ peer, socket }) => {
  expect([socket.terminations, socket.closes, peer.status.state]).toEqual([0, [], 'open']);
};

/** The socket holds this number of bytes. */
const keeps =
  (bytes: number): Step =>
  ({ socket }) => {
    socket.bufferedAmount = bytes;
  };

const sends =
  (bytes: number): Step =>
  ({ innocents: [theirs] }) =>
    void theirs?.stream.send('x'.repeat(bytes)).catch(() => undefined);

/** The peer fills its socket. Bulk alone waits for a first answer. */
const fills: Step = ({ peer }) => {
  fillSocket(peer);
};

/** The socket takes this number of its held bytes. */
const takes =
  (bytes: number): Step =>
  ({ socket }) => {
    socket.bufferedAmount = Math.max(0, socket.bufferedAmount - bytes);
  };

const forget: Step = (remote) => {
  remote.news();
};

/** Checks that the peer has sent this number of pings since the last check. */
const asks =
  (times: number): Step =>
  (remote) => {
    expect(remote.news().map(({ type }) => type)).toEqual(Array.from({ length: times }, () => 'ping'));
  };

const { idleMs, timeoutMs } = DEFAULT_KEEPALIVE;
const KEEPALIVE = { keepalive: {} };

const NEVER_READS: readonly HostileCase[] = [
  {
    name: `The peer terminates a socket that takes no byte for ${stallMs} ms as a slow consumer`,
    send: [stopTaking, fills, sends(2 * stallBytes), stallMs - 1, standing, 1, terminated('slow consumer'), forget],
    expect: 'lost',
  },
  {
    name: 'The peer keeps a socket that takes a byte now and then',
    send: [
      stopTaking,
      sends(2 * stallBytes),
      ...[1, 1].flatMap((bytes) => [stallMs - 1, takes(bytes)]),
      stallMs - 1,
      standing,
      takes(stallBytes),
      100,
      takes(2 * stallBytes),
      100,
      answersPing,
      100,
      forget,
    ],
    expect: 'lives',
  },
  {
    name: `The peer keeps a stalled socket while less than ${stallBytes} bytes wait`,
    send: [stopTaking, sends(stallBytes / 2), 10 * stallMs, standing, forget],
    expect: 'lives',
  },
  {
    name: 'The peer terminates a stalled socket only once enough bytes wait again',
    send: [
      stopTaking,
      fills,
      sends(0.5 * stallBytes),
      100,
      takes(stallBytes),
      10 * stallMs,
      standing,
      sends(stallBytes),
      2 * stallMs,
      terminated('slow consumer'),
      forget,
    ],
    expect: 'lost',
  },
  {
    name: 'The peer queues at most 64 MiB for a stalled socket, and fails the stream that sends more',
    role: 'acceptor',
    send: [
      { type: 'open', stream: 3 },
      keeps(2 * MIB),
      async ({ calls: [call] }) => {
        const errors: unknown[] = [];
        for (let n = 0; n < 66; n++) void call?.stream.send('x'.repeat(MIB)).catch((error: unknown) => errors.push(error));
        await Promise.resolve();
        expect(call?.ends).toEqual(['QUEUE_OVERFLOW']);
      },
      keeps(0),
      100,
    ],
    expect: 'lives',
    resets: [[3, 8]],
    handlerCalls: 1,
  },
];

const HALF_OPEN: readonly HostileCase[] = [
  {
    name: `The peer pings a silent remote after ${idleMs} ms and terminates the socket ${timeoutMs} ms later`,
    options: KEEPALIVE,
    send: [idleMs - 1, standing, asks(0), 1, asks(1), timeoutMs - 1, standing, 1, terminated('no sign of life'), forget],
    expect: 'lost',
  },
  {
    name: 'The peer keeps the socket if any frame arrives in time',
    options: KEEPALIVE,
    send: [idleMs, timeoutMs - 1, { type: 'whatever' }, idleMs - 1, standing, forget],
    expect: 'lives',
  },
  {
    name: 'The peer fails a ping of the application when it terminates the socket of a silent remote',
    options: KEEPALIVE,
    send: () => {
      let progress: { readonly error: unknown } = { error: null };
      return [
        ({ peer }) => {
          progress = progressOf(peer.ping());
        },
        // Bytes that the socket has taken are a sign of life.
        idleMs + timeoutMs + 1,
        terminated('no sign of life'),
        0,
        () => {
          expect(progress.error).toMatchObject({ code: 'CONNECTION_LOST' });
        },
        forget,
      ];
    },
    expect: 'lost',
  },
];

const REFUSING: readonly HostileCase[] = [
  {
    name: 'The peer terminates a socket whose send throws, and no call throws',
    send: [
      ({ socket, peer, innocents: [theirs] }) => {
        socket.send = () => {
          throw new Error('InvalidStateError');
        };
        expect(() => theirs?.stream.send('x')).not.toThrow();
        expect(() => peer.open('q').subscribe({ error: () => undefined })).not.toThrow();
      },
      ({ socket, peer }) => {
        expect([socket.terminations, peer.status.state]).toEqual([1, 'closed']);
      },
    ],
    expect: 'lost',
  },
  {
    name: 'The peer terminates a socket whose close throws',
    send: [
      ({ socket }) => {
        socket.close = () => {
          throw new Error('SyntaxError');
        };
      },
      { type: 'open', stream: 2 },
      ({ socket, peer }) => {
        expect([socket.terminations, peer.status.state]).toEqual([1, 'closed']);
      },
      forget,
    ],
    expect: 'lost',
  },
  {
    name: `The peer terminates a socket that does not answer the close for ${CLOSING_MS} ms`,
    send: [
      { type: 'open', stream: 2 },
      CLOSING_MS - 1,
      ({ socket }) => {
        expect(socket.terminations).toBe(0);
      },
      1,
      terminated('closing made no progress'),
      forget,
    ],
    expect: 'lost',
  },
  {
    name: 'The peer terminates a closing socket that takes no bytes, and drops its queue',
    send: [keeps(2 * MIB), sends(MIB), ({ peer }) => void peer.close(), CLOSING_MS, terminated('closing made no progress'), forget],
    expect: 'lost',
  },
];

describeHostile('remotes that never read', NEVER_READS);
describeHostile('silent remotes', HALF_OPEN);
describeHostile('sockets that fail', REFUSING);
