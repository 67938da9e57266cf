import { describe, expect, it } from '@jest/globals';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { CLOSING_MS, DEFAULT_KEEPALIVE } from '../../src/connection/watchdog.js';
import { DEFAULT_LIMITS } from '../../src/index.js';
import type { CloseOptions } from '../../src/index.js';
import { MIN_CHARGE_BYTES } from '../../src/wire/reassembly.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { unfinished } from '../support/hostile/messages.js';
import { GOOD, HostilePeer } from '../support/hostile/peer.js';
import type { Role } from '../support/hostile/peer.js';
import { stopTaking } from '../support/hostile/socket.js';
import { answersPing, firstCall } from '../support/hostile/steps.js';
import { collectLogs } from '../support/peer/logs.js';
import type { PeerLogs } from '../support/peer/logs.js';
import { progressOf } from '../support/peer/outcome.js';
import { fillSocket } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';
import type { PeerTime } from '../support/peer/time.js';
import { CountedCode, PLACES } from '../support/peer/user-code.js';
import type { UserPlace } from '../support/peer/user-code.js';
import { inTime } from '../support/session/time.js';
import type { SessionTime } from '../support/session/time.js';

describe('transport faults', () => {
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
});

const ROLES: readonly Role[] = ['acceptor', 'dialer'];
const codec = new MsgpackCodec();

const WAYS: readonly (readonly [way: string, closes: readonly CloseOptions[]])[] = [
  ['at once', [{}]],
  ['with a drain', [{ drainMs: 1_000 }]],
  ['twice', [{}, {}]],
  ['with an endless drain and then at once', [{ drainMs: Infinity }, {}]],
];

/** A peer that user code closes from one place, and a remote whose frames run the code in each place. */
class Meeting {
  readonly remote: HostilePeer;
  readonly code: CountedCode;
  readonly #reasons: number[] = [];

  constructor(
    role: Role,
    closes: readonly CloseOptions[],
    private readonly time: PeerTime,
  ) {
    this.remote = new HostilePeer(codec, role);
    const { peer } = this.remote;
    this.code = new CountedCode(() => {
      for (const options of closes) void peer.close(options);
    });
    peer.onClose(({ code }) => this.#reasons.push(code));
  }

  async begin({ hang }: UserPlace): Promise<void> {
    const { remote, time } = this;
    await time.advance();
    remote.news();
    hang(remote.peer, this.code.run);
    remote.peer.notify('mine');
    remote.send({ type: 'open', stream: 3, payload: GOOD, headers: { h: 1 } }, { type: 'data', stream: 3, payload: 'more' });
    await time.advance();
    for (const stream of [2, 4, 6]) remote.send({ type: 'data', stream, end: true, payload: 'theirs', headers: { h: 1 } });
    remote.send({ type: 'reset', stream: 3, code: 8 });
    await time.advance(1_000);
  }

  /** Checks that the peer has sent one goaway and closed in good order, and that nothing is left after the socket. */
  async end(logs: PeerLogs): Promise<void> {
    const { remote, time } = this;
    expect(remote.socket.closes).toEqual([[1000, '']]);
    expect(remote.news().filter(({ type }) => type === 'goaway')).toHaveLength(1);
    const sent = remote.socket.sent.length;
    remote.endSocket();
    remote.send({ type: 'open', stream: 9, payload: 'late' }, { type: 'ping' });
    await time.advance();
    expect([this.#reasons, remote.peer.status.state, remote.socket.sent.length]).toEqual([[1000], 'closed', sent]);
    expect([...remote.calls, ...remote.innocents].filter(({ ends }) => ends.length !== 1)).toEqual([]);
    expect([remote.kept, time.isOver(), logs.errors]).toEqual([{}, true, []]);
  }
}

describe.each(ROLES)('closing as %s', (role) => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  describe.each(PLACES.filter(({ atEnd }) => atEnd !== true))('in $place', (place) => {
    it.each(WAYS)('A peer that user code closes %s sends one goaway, closes in good order and keeps nothing', async (_way, closes) => {
      const meeting = new Meeting(role, closes, time);
      await meeting.begin(place);
      expect(meeting.code.runs).toBeGreaterThan(0);
      await meeting.end(logs);
    });
  });

  describe.each(PLACES.filter(({ atEnd }) => atEnd === true))('again in $place', (place) => {
    it.each(WAYS)(
      'A peer that is closed again %s after its end has sent one goaway, closed in good order and keeps nothing',
      async (_way, closes) => {
        const meeting = new Meeting(role, closes, time);
        await meeting.begin(place);
        expect(meeting.code.runs).toBe(0);
        void meeting.remote.peer.close();
        await time.advance();
        await meeting.end(logs);
        expect(meeting.code.runs).toBe(1);
      },
    );
  });
});

const { idleMs, timeoutMs } = DEFAULT_KEEPALIVE;
const HOURS = 3_600_000;
const MIB = 1024 * 1024;

/** The handler of the innocent stream settles by a promise, which is still pending at the end of the test. */
const unsettled = { places: 1, attachedBytes: MIN_CHARGE_BYTES };

type Watched = (remote: HostilePeer, time: SessionTime) => void;
type Judged = (remote: HostilePeer, time: SessionTime) => void;

/** A watch that runs when the machine falls asleep, and the steps after which it ends the connection. */
const WATCHES: [string, Watched, Judged][] = [
  [
    'silence',
    () => undefined,
    (remote, time) => {
      expect(remote.news()).toMatchObject([{ type: 'ping' }]);
      time.advance(timeoutMs - 1);
      expect(remote.socket.terminations).toBe(0);
      time.advance(1);
    },
  ],
  [
    'an unanswered probe',
    (remote, time) => {
      time.advance(idleMs + timeoutMs / 2);
      expect(remote.news()).toMatchObject([{ type: 'ping' }]);
    },
    (remote, time) => {
      expect(remote.news()).toMatchObject([{ type: 'ping' }]);
      time.advance(timeoutMs - 1);
      expect(remote.socket.terminations).toBe(0);
      time.advance(1);
    },
  ],
  [
    'a slow consumer',
    (remote) => {
      stopTaking(remote);
      fillSocket(remote.peer);
      void remote.innocents[0]?.stream.send('x'.repeat(2 * MIB)).catch(() => undefined);
    },
    (remote, time) => {
      // Frames of the remote are signs of life, but its socket takes no bytes.
      for (let n = 0; n < 11; n++) {
        time.advance(5_000);
        remote.send({ type: 'whatever' });
        expect(remote.socket.terminations).toBe(0);
      }
      time.advance(5_000);
    },
  ],
  [
    'an unanswered close',
    ({ peer }) => void peer.close(),
    (remote, time) => {
      time.advance(CLOSING_MS - 1);
      expect(remote.socket.terminations).toBe(0);
      time.advance(1);
    },
  ],
];

describe.each(ROLES)('8 hours of sleep as %s', (role) => {
  collectLogs();

  it.each(WATCHES)(
    'A peer that has slept ends the connection for %s only after a whole time-out awake',
    inTime<[string, Watched, Judged]>((time, _watch, begin, judged) => {
      const remote = new HostilePeer(codec, role, { keepalive: {} });
      remote.news();
      begin(remote, time);
      time.sleep(8 * HOURS);
      expect([remote.socket.terminations, remote.peer.status.state === 'closed']).toEqual([0, false]);
      judged(remote, time);
      expect([remote.socket.terminations, remote.peer.status.state]).toEqual([1, 'closed']);
      expect(remote.kept).toEqual(unsettled);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'A peer that has slept keeps the connection if the remote answers',
    inTime((time) => {
      const remote = new HostilePeer(codec, role, { keepalive: {} });
      for (let nights = 0; nights < 10; nights++) {
        remote.news();
        time.sleep(8 * HOURS);
        remote.send({ type: 'pong', nonce: remote.news().at(-1)?.['nonce'] });
        time.advance(15_000);
        expect([remote.socket.terminations, remote.peer.status.state]).toEqual([0, 'open']);
      }
      void remote.peer.close();
      remote.endSocket();
      expect([remote.kept, time.isOver]).toEqual([unsettled, true]);
    }),
  );
});

describe('transport ends', () => {
  const MIB = 1024 * 1024;

  const holdsMuch: Step = ({ socket }) => {
    socket.bufferedAmount = 2 * MIB;
  };

  const sendsMore: Step = ({ innocents: [theirs] }) => {
    void theirs?.stream.send('x'.repeat(MIB)).catch(() => undefined);
  };

  /** Ways in which a socket ends, each with the reason that close handlers receive. */
  const ENDS: readonly (readonly [how: string, end: (remote: HostilePeer) => void, told: object])[] = [
    [
      'closes without an error',
      ({ socket }) => socket.emit('close', { code: 1006, reason: '', wasClean: false }, 'CLOSED'),
      { code: 1006, reason: '', wasClean: false },
    ],
    [
      'closes in good order of its own accord',
      ({ socket }) => socket.emit('close', { code: 1000, reason: 'bye', wasClean: true }, 'CLOSED'),
      { code: 1000, reason: 'bye', wasClean: true },
    ],
    ['closes without a code', ({ socket }) => socket.emit('close', {}, 'CLOSED'), { code: 1006, reason: '', wasClean: false }],
    [
      'closes twice',
      ({ socket }) => {
        socket.emit('close', { code: 1001 }, 'CLOSED');
        socket.emit('close', { code: 1011 }, 'CLOSED');
      },
      { code: 1001, reason: '', wasClean: true },
    ],
    [
      'fails without a close',
      ({ socket }) => socket.emit('error', { message: 'reset' }, 'CLOSED'),
      { code: 1006, reason: 'reset', wasClean: false },
    ],
    [
      'fails, then closes',
      ({ socket }) => {
        socket.emit('error', { message: 'reset' }, 'CLOSED');
        socket.emit('close', { code: 1006 }, 'CLOSED');
      },
      { code: 1006, reason: 'reset', wasClean: false },
    ],
    [
      'closes, then fails',
      ({ socket }) => {
        socket.emit('close', { code: 1006 }, 'CLOSED');
        socket.emit('error', { message: 'reset' }, 'CLOSED');
      },
      { code: 1006, reason: '', wasClean: false },
    ],
    [
      'fails many times, then closes',
      ({ socket }) => {
        for (let n = 0; n < 100; n++) socket.emit('error', { message: 'odd' });
        socket.emit('close', { code: 1006 }, 'CLOSED');
      },
      { code: 1006, reason: 'odd', wasClean: false },
    ],
  ];

  /** Activities during which the socket ends. */
  const MIDDLES: readonly (readonly [when: string, before: (binary: boolean) => readonly Step[], calls: number])[] = [
    ['at rest', () => [], 0],
    ['amid a fragmented open', (binary) => [{ type: 'open', stream: 3, fragment: unfinished(binary), more: true }], 0],
    [
      'amid a fragmented payload',
      (binary) => [
        { type: 'open', stream: 3 },
        { type: 'data', stream: 3, fragment: unfinished(binary), more: true },
      ],
      1,
    ],
    [
      'with unread payloads',
      () => [
        { type: 'open', stream: 3 },
        { type: 'data', stream: 3, payload: 'x' },
      ],
      1,
    ],
    [
      'with a queued reset',
      () => [
        { type: 'open', stream: 3 },
        holdsMuch,
        (remote) => {
          firstCall(remote).stream.reset(300);
        },
      ],
      1,
    ],
    ['with a queued transfer', () => [holdsMuch, sendsMore], 0],
    [
      'with pending calls',
      () => [
        ({ peer }) => {
          for (const call of [peer.request('q'), peer.ping()]) void call.catch(() => undefined);
        },
      ],
      0,
    ],
    ['during a drain', () => [({ peer }) => void peer.close({ drainMs: 10_000 })], 0],
  ];

  const ends = ENDS.flatMap(([how, end, told]) =>
    MIDDLES.map(([when, before, handlerCalls]): HostileCase => ({
      name: `Each stream fails once and nothing is left when the socket ${how} ${when}`,
      send: ({ binary }) => {
        const closes: object[] = [];
        return [
          ({ peer }) => {
            peer.onClose((reason) => closes.push(reason));
          },
          ...before(binary),
          end,
          0,
          (remote) => {
            expect([closes, remote.peer.status.state]).toEqual([[{ ...told, willRetry: false }], 'closed']);
            const sent = remote.socket.sent.length;
            remote.send({ type: 'open', stream: 9, payload: 'late' }, { type: 'data', stream: 1, payload: 'late' });
            remote.peer.notify('late');
            expect(remote.socket.sent).toHaveLength(sent);
            remote.news();
          },
        ];
      },
      expect: 'lost',
      handlerCalls,
    })),
  );

  describeHostile('ends of sockets', ends);
});
