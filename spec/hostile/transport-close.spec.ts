import { describe, expect, it } from '@jest/globals';
import type { CloseOptions, Peer } from '../../src/index.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { GOOD, HostilePeer } from '../support/hostile-peer.js';
import type { Role } from '../support/hostile-peer.js';
import { stopTaking } from '../support/hostile-socket.js';
import { collectLogs } from '../support/peer-logs.js';
import { inTime } from '../support/session-time.js';
import type { SessionTime } from '../support/session-time.js';
import { virtualPeerTime } from '../support/peer-time.js';

const ROLES: readonly Role[] = ['acceptor', 'dialer'];
const codec = new MsgpackCodec();

/** Code of an application, in each place where it may close the peer. */
const PLACES: readonly (readonly [place: string, hang: (peer: Peer, close: () => undefined) => unknown])[] = [
  ['an open interceptor', (peer, close) => peer.interceptOpen(close)],
  ['a reply-headers interceptor', (peer, close) => peer.interceptReplyHeaders(close)],
  ['an incoming-headers interceptor', (peer, close) => peer.interceptIncomingHeaders(close)],
  ['a frame observer of what comes in', (peer, close) => peer.onFrame((direction) => (direction === 'rx' ? close() : undefined))],
  ['a frame observer of what goes out', (peer, close) => peer.onFrame((direction) => (direction === 'tx' ? close() : undefined))],
  ['a handler', (peer, close) => peer.onStream(close)],
  [
    'a handler that answers behind it',
    (peer, close) =>
      peer.onStream((_, stream) => {
        close();
        return stream.reply('answer').catch(() => undefined);
      }),
  ],
  ['a handler, later', (peer, close) => peer.onStream(() => Promise.resolve().then(close))],
  ['a subscriber of streams$', (peer, close) => peer.streams$.subscribe(close)],
  ['a subscriber of frames$', (peer, close) => peer.frames$.subscribe(close)],
  ['a subscriber of status$', (peer, close) => peer.status$.subscribe(close)],
  [
    'a reader of a stream',
    (peer, close) => peer.onStream((_, stream) => stream.subscribe({ next: close, error: () => undefined }) && stream.closed),
  ],
  ['the answer to a request', (peer, close) => peer.request$('q').subscribe({ next: close, error: close })],
  ['a close handler', (peer, close) => peer.onClose(close)],
  ['a subscriber of closes$', (peer, close) => peer.closes$.subscribe(close)],
  ['the end of another stream', (peer, close) => void peer.open('q').closed.then(close)],
];

const WAYS: readonly (readonly [way: string, closes: readonly CloseOptions[]])[] = [
  ['at once', [{}]],
  ['with a drain', [{ drainMs: 1_000 }]],
  ['twice', [{}, {}]],
  ['with a drain for ever, and then at once', [{ drainMs: Infinity }, {}]],
];

describe.each(ROLES)('a peer, the %s, that is closed', (role) => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  describe.each(PLACES)('in %s', (_place, hang) => {
    it.each(WAYS)('%s says so once, closes in good order, and keeps nothing', async (_way, closes) => {
      const remote = new HostilePeer(codec, role);
      const { peer } = remote;
      const reasons: number[] = [];
      peer.onClose(({ code }) => reasons.push(code));
      await time.advance();
      remote.news();
      hang(peer, () => {
        for (const options of closes) void peer.close(options);
      });
      peer.notify('mine');
      remote.send({ type: 'open', stream: 3, payload: GOOD, headers: { h: 1 } }, { type: 'data', stream: 3, payload: 'more' });
      await time.advance();
      for (const stream of [2, 4, 6]) remote.send({ type: 'data', stream, end: true, payload: 'theirs', headers: { h: 1 } });
      remote.send({ type: 'reset', stream: 3, code: 8 });
      await time.advance(1_000);
      void peer.close();
      await time.advance();
      expect(remote.socket.closes).toEqual([[1000, '']]);
      expect(remote.news().filter(({ type }) => type === 'goaway')).toHaveLength(1);
      const sent = remote.socket.sent.length;
      remote.endSocket();
      remote.send({ type: 'open', stream: 9, payload: 'late' }, { type: 'ping' });
      await time.advance();
      expect([reasons, peer.status.state, remote.socket.sent.length]).toEqual([[1000], 'closed', sent]);
      expect([...remote.calls, ...remote.innocents].filter(({ ends }) => ends.length !== 1)).toEqual([]);
      expect([remote.kept, time.isOver(), logs.errors]).toEqual([{}, true, []]);
    });
  });
});

const HOURS = 3_600_000;
const MIB = 1024 * 1024;

/** The innocent stream's handler settles by a promise, and none does before the test is over. */
const unsettled = { places: 1 };

type Watched = (remote: HostilePeer) => void;
type Judged = (remote: HostilePeer, time: SessionTime) => void;

/** What is watched when the machine falls asleep, and what has to happen for it to be judged after all. */
const WATCHES: [string, Watched, Judged][] = [
  [
    'silence',
    () => undefined,
    (remote, time) => {
      expect(remote.news()).toMatchObject([{ type: 'ping' }]);
      time.advance(9_999);
      expect(remote.socket.terminations).toBe(0);
      time.advance(1);
    },
  ],
  [
    'a probe without an answer',
    (remote) => {
      remote.news();
    },
    (remote, time) => {
      time.advance(9_999);
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
      time.advance(1_999);
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
      begin(remote);
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
