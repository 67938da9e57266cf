import { describe, expect, it } from '@jest/globals';
import type { CloseOptions } from '../../src/index.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { DEFAULT_KEEPALIVE } from '../../src/session/watch/keepalive.js';
import { CLOSING_MS } from '../../src/session/watch/watchdog.js';
import { MIN_CHARGE_BYTES } from '../../src/wire/held-bytes.js';
import { GOOD, HostilePeer } from '../support/hostile/peer.js';
import type { Role } from '../support/hostile/peer.js';
import { stopTaking } from '../support/hostile/socket.js';
import { collectLogs } from '../support/peer/logs.js';
import type { PeerLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';
import type { PeerTime } from '../support/peer/time.js';
import { inTime } from '../support/session/time.js';
import type { SessionTime } from '../support/session/time.js';
import { CountedCode, PLACES } from '../support/user-code.js';
import type { UserPlace } from '../support/user-code.js';

const ROLES: readonly Role[] = ['acceptor', 'dialer'];
const codec = new MsgpackCodec();

const WAYS: readonly (readonly [way: string, closes: readonly CloseOptions[]])[] = [
  ['at once', [{}]],
  ['with a drain', [{ drainMs: 1_000 }]],
  ['twice', [{}, {}]],
  ['with a drain for ever, and then at once', [{ drainMs: Infinity }, {}]],
];

/** A peer that is closed by code in a place of it, and a remote that leaves no place idle. */
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

  /** The peer has said so once, and closed in good order; with the socket everything is over. */
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

describe.each(ROLES)('a peer, the %s, that is closed', (role) => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  describe.each(PLACES.filter(({ atEnd }) => atEnd !== true))('in $place', (place) => {
    it.each(WAYS)('%s says so once, closes in good order, and keeps nothing', async (_way, closes) => {
      const meeting = new Meeting(role, closes, time);
      await meeting.begin(place);
      expect(meeting.code.runs).toBeGreaterThan(0);
      await meeting.end(logs);
    });
  });

  describe.each(PLACES.filter(({ atEnd }) => atEnd === true))('again in $place', (place) => {
    it.each(WAYS)('%s has said so once, closed in good order, and keeps nothing', async (_way, closes) => {
      const meeting = new Meeting(role, closes, time);
      await meeting.begin(place);
      expect(meeting.code.runs).toBe(0);
      void meeting.remote.peer.close();
      await time.advance();
      await meeting.end(logs);
      expect(meeting.code.runs).toBe(1);
    });
  });
});

const { idleMs, timeoutMs } = DEFAULT_KEEPALIVE;
const HOURS = 3_600_000;
const MIB = 1024 * 1024;

/** The innocent stream's handler settles by a promise, and none does before the test is over. */
const unsettled = { places: 1, attachedBytes: MIN_CHARGE_BYTES };

type Watched = (remote: HostilePeer, time: SessionTime) => void;
type Judged = (remote: HostilePeer, time: SessionTime) => void;

/** What is watched when the machine falls asleep, and what has to happen for it to be judged after all. */
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
    'a probe without an answer',
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
      void remote.innocents[0]?.stream.send('x'.repeat(2 * MIB)).catch(() => undefined);
    },
    (remote, time) => {
      // Frames of the remote keep the connection alive; it takes none of ours.
      for (let n = 0; n < 11; n++) {
        time.advance(5_000);
        remote.send({ type: 'whatever' });
        expect(remote.socket.terminations).toBe(0);
      }
      time.advance(5_000);
    },
  ],
  [
    'a close that is not answered',
    ({ peer }) => void peer.close(),
    (remote, time) => {
      time.advance(CLOSING_MS - 1);
      expect(remote.socket.terminations).toBe(0);
      time.advance(1);
    },
  ],
];

describe.each(ROLES)('a peer, the %s, that has slept for 8 hours', (role) => {
  collectLogs();

  it.each(WATCHES)(
    'condemns nobody for %s, and judges when it has watched a whole time',
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
    'goes on where the remote answers',
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
