import { describe, expect, it } from '@jest/globals';
import type { CloseOptions } from '../../src/index.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { DEFAULT_KEEPALIVE } from '../../src/connection/watchdog.js';
import { CLOSING_MS } from '../../src/connection/watchdog.js';
import { MIN_CHARGE_BYTES } from '../../src/wire/reassembly.js';
import { GOOD, HostilePeer } from '../support/hostile/peer.js';
import type { Role } from '../support/hostile/peer.js';
import { stopTaking } from '../support/hostile/socket.js';
import { collectLogs } from '../support/peer/logs.js';
import type { PeerLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';
import type { PeerTime } from '../support/peer/time.js';
import { inTime } from '../support/session/time.js';
import type { SessionTime } from '../support/session/time.js';
import { fillSocket } from '../support/peer/streams.js';
import { CountedCode, PLACES } from '../support/peer/user-code.js';
import type { UserPlace } from '../support/peer/user-code.js';

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
