import { expect } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../src/index.js';
import { DEFAULT_KEEPALIVE } from '../../src/session/watch/keepalive.js';
import { CLOSING_MS } from '../../src/session/watch/watchdog.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { stopTaking } from '../support/hostile/socket.js';
import { progressOf } from '../support/peer/outcome.js';

const { stallBytes, stallMs } = DEFAULT_LIMITS;
const MIB = 1024 * 1024;

/** The peer has given the socket up, without a handshake, and its streams know why. */
const terminated =
  (reason: string): Step =>
  ({ peer, socket }) => {
    expect(socket.terminations).toBe(1);
    expect(peer.status).toMatchObject({ state: 'closed', reason: { code: 1006, reason, wasClean: false, willRetry: false } });
  };

const standing: Step = ({ peer, socket }) => {
  expect([socket.terminations, socket.closes, peer.status.state]).toEqual([0, [], 'open']);
};

/** The socket holds so many bytes. */
const keeps =
  (bytes: number): Step =>
  ({ socket }) => {
    socket.bufferedAmount = bytes;
  };

const sends =
  (bytes: number): Step =>
  ({ innocents: [theirs] }) =>
    void theirs?.stream.send('x'.repeat(bytes)).catch(() => undefined);

/** The socket gets rid of so many bytes. */
const takes =
  (bytes: number): Step =>
  ({ socket }) => {
    socket.bufferedAmount = Math.max(0, socket.bufferedAmount - bytes);
  };

const forget: Step = (remote) => {
  remote.news();
};

/** So many pings have been sent since the last look. */
const asks =
  (times: number): Step =>
  (remote) => {
    expect(remote.news().map(({ type }) => type)).toEqual(Array.from({ length: times }, () => 'ping'));
  };

const { idleMs, timeoutMs } = DEFAULT_KEEPALIVE;
const KEEPALIVE = { keepalive: {} };

const NEVER_READS: readonly HostileCase[] = [
  {
    name: `is terminated after ${stallMs} ms as a slow consumer`,
    send: [stopTaking, sends(2 * stallBytes), stallMs - 1, standing, 1, terminated('slow consumer'), forget],
    expect: 'lost',
  },
  {
    name: 'is left alone as long as it takes a byte now and then',
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
      forget,
    ],
    expect: 'lives',
  },
  {
    name: `is left alone while less than ${stallBytes} bytes wait for it`,
    send: [stopTaking, sends(stallBytes / 2), 10 * stallMs, standing, forget],
    expect: 'lives',
  },
  {
    name: 'is left alone where it has taken all but less than that, and is terminated when more waits again',
    send: [
      stopTaking,
      sends(1.5 * stallBytes),
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
    name: 'costs its own sender no more than 64 MiB: the stream that goes on fails',
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
    name: `is probed after ${idleMs} ms and given up ${timeoutMs} ms later`,
    options: KEEPALIVE,
    send: [idleMs - 1, standing, asks(0), 1, asks(1), timeoutMs - 1, standing, 1, terminated('no sign of life'), forget],
    expect: 'lost',
  },
  {
    name: 'is not given up where any frame comes in time, a pong or not',
    options: KEEPALIVE,
    send: [idleMs, timeoutMs - 1, { type: 'whatever' }, idleMs - 1, standing, forget],
    expect: 'lives',
  },
  {
    name: 'fails a ping of the application with it, once',
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
    name: 'throws when something is sent: it is given up, and no call throws',
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
    name: 'throws when it is closed: it is given up',
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
    name: `never answers the close: it is given up after ${CLOSING_MS} ms without movement`,
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
    name: 'takes nothing while it is to be closed: likewise, and what waits is forgotten',
    send: [keeps(2 * MIB), sends(MIB), ({ peer }) => void peer.close(), CLOSING_MS, terminated('closing made no progress'), forget],
    expect: 'lost',
  },
];

describeHostile('a remote that never reads', NEVER_READS);
describeHostile('a remote that is gone without a word', HALF_OPEN);
describeHostile('a socket that', REFUSING);
