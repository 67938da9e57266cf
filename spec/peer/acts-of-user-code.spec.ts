import { describe, expect, it } from '@jest/globals';
import { Observable, of } from 'rxjs';
import type { Subscription } from 'rxjs';
import { ResetCode, respond } from '../../src/index.js';
import type { Peer, Stream } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import type { Link, Side } from '../../src/testing.js';
import { counting } from '../support/counting.js';
import { framesOf } from '../support/peer-frames.js';
import { illegalFrames } from '../support/legal-frames.js';
import { collectLogs } from '../support/peer-logs.js';
import { progressOf } from '../support/peer-outcome.js';
import { virtualPeerTime } from '../support/peer-time.js';
import { CountedCode, PLACES } from '../support/user-code.js';
import type { UserPlace } from '../support/user-code.js';
import { LONGEST_WATCH_MS, surplus } from '../leaks/scene.js';

const time = virtualPeerTime();
const { held, watch } = counting(time);
const logs = collectLogs();

/** What user code can reach: its own peer, the other one, and streams of both sides. */
interface Reach {
  readonly own: Peer;
  readonly other: Peer;
  readonly link: Link;
  /** The ends of its own peer, of streams that either side opened. */
  readonly streams: readonly Stream[];
  /** Gives up what the other side reads. */
  readonly leave: () => void;
  /** Keeps a promise, to see whether it settles. */
  readonly keep: (promise: PromiseLike<unknown>) => void;
}

interface Act {
  readonly does: string;
  readonly act: (reach: Reach) => unknown;
  /** Whether the connection ends by it. */
  readonly ends?: true;
}

const ignore = { error: () => undefined };

const ACTS: readonly Act[] = [
  { does: 'cuts the connection', ends: true, act: ({ link }) => link.cut() },
  { does: 'closes its peer at once', ends: true, act: ({ own, keep }) => keep(own.close({ drainMs: 0 })) },
  { does: 'closes its peer', ends: true, act: ({ own, keep }) => keep(own.close({ drainMs: 100 })) },
  { does: 'makes the other side close', ends: true, act: ({ other, keep }) => keep(other.close({ drainMs: 100 })) },
  { does: 'makes a request', act: ({ own, keep }) => keep(own.request('again', { headers: { a: 2 } })) },
  { does: 'makes the other side ask', act: ({ other, keep }) => keep(other.request('again', { headers: { a: 2 } })) },
  { does: 'opens a stream and leaves it', act: ({ own }) => own.open$('q').subscribe(ignore).unsubscribe() },
  { does: 'uploads', act: ({ own }) => own.open$('q', { input: of(1, 2) }).subscribe(ignore) },
  { does: 'notifies', act: ({ own }) => own.notify('n') },
  { does: 'pings', act: ({ own, keep }) => keep(own.ping()) },
  { does: 'sends', act: ({ streams, keep }) => streams.forEach((stream) => keep(stream.send('more'))) },
  { does: 'sends a large payload', act: ({ streams, keep }) => streams.forEach((stream) => keep(stream.send('x'.repeat(200_000)))) },
  { does: 'replies', act: ({ streams, keep }) => streams.forEach((stream) => keep(stream.reply('last', { trailers: { t: 1 } }))) },
  { does: 'sends an iterable', act: ({ streams, keep }) => streams.forEach((stream) => keep(stream.sendAll([1, 2, 3]))) },
  { does: 'resets its streams', act: ({ streams }) => streams.forEach((stream) => stream.reset(300, 'why')) },
  { does: 'reads its streams', act: ({ streams }) => streams.forEach((stream) => stream.subscribe(ignore)) },
  { does: 'reads its streams and leaves them', act: ({ streams }) => streams.forEach((stream) => stream.subscribe(ignore).unsubscribe()) },
  { does: 'gives up what the other side reads', act: ({ leave }) => leave() },
  {
    does: 'hangs up a hook of every kind, and takes them down',
    act({ own }) {
      const hook = () => undefined;
      const removes = [own.interceptOpen(hook), own.interceptReplyHeaders(hook), own.interceptIncomingHeaders(hook)];
      for (const remove of [...removes, own.onFrame(hook), own.onClose(hook)]) remove();
    },
  },
];

/** Where user code runs besides, with nothing that could be hung up in a peer by itself. */
const MORE_PLACES: readonly UserPlace[] = [
  { place: 'the answer to a ping', hang: (peer, code) => void peer.ping().then(code, code) },
  { place: 'the end of the peer', atEnd: true, hang: (peer, code) => void peer.closed.then(code) },
  {
    place: 'the teardown of an answer',
    takes: true,
    hang: (peer, code) => peer.streams$.pipe(respond(() => new Observable(() => code))).subscribe(),
  },
  {
    place: 'a generator that is sent',
    takes: true,
    hang: (peer, code) =>
      peer.onStream((_, stream) => {
        function* asked(): Iterable<number> {
          code();
          yield 1;
        }
        return stream.sendAll(asked());
      }),
  },
  {
    place: 'an abort of a call',
    hang(peer, code) {
      const abort = new AbortController();
      watch(abort.signal);
      const leave = () => {
        abort.abort();
      };
      abort.signal.addEventListener('abort', code, { once: true });
      peer.open$('q', { signal: abort.signal }).subscribe({ next: leave, error: code, complete: code });
    },
  },
];

/** The codes that a side which breaks no rule sends, and is sent. A handler that acts answers nothing, so callers may run out of time. */
const { NO_ERROR, CANCEL, REFUSED, APPLICATION_ERROR, DEADLINE_EXCEEDED } = ResetCode;
const BLAMELESS: ReadonlySet<unknown> = new Set([NO_ERROR, CANCEL, REFUSED, APPLICATION_ERROR, DEADLINE_EXCEEDED, 300]);

/** What code that ends its own stream is told of an input which that stream is still sending. */
const CUT_SHORT = 'rxmux: a handler failed after its stream had ended';

const ROLES = ['dialer', 'acceptor'] as const;

/** How often code acts, and once more at the end of the connection: an observer of frames that sends one each time would never end. */
const MOST_ACTS = 3;

/** Both sides call each other, with code hung up at one of them, which acts; in the end the connection is cut. */
async function run(role: Side, { hang, atEnd }: UserPlace, { act, ends }: Act): Promise<void> {
  const { link, ...peers } = createPair();
  const own = peers[role];
  const other = own === peers.dialer ? peers.acceptor : peers.dialer;
  const streams: Stream[] = [];
  let reading: Subscription | null = null;
  const promises: ReturnType<typeof progressOf>[] = [];
  const sent = { dialer: framesOf(peers.dialer), acceptor: framesOf(peers.acceptor) };
  const reach: Reach = {
    own,
    other,
    link,
    streams,
    leave: () => reading?.unsubscribe(),
    keep: (promise) => void promises.push(progressOf(Promise.resolve(promise))),
  };
  let actsLeft = MOST_ACTS;
  const code = new CountedCode(() => {
    if (actsLeft-- > 0) act(reach);
  });
  other.onStream((payload, stream) => stream.reply(payload));
  own.onStream((payload, stream) => stream.reply(payload));
  own.interceptIncomingHeaders((_, stream) => void streams.push(stream));
  hang(own, code.run);
  await time.advance();
  streams.push(own.open('push'));
  reading = other.open$('p', { headers: { a: 1 } }).subscribe(ignore);
  const stream = other.open('p', { headers: { a: 1 } });
  stream.subscribe(ignore);
  reach.keep(stream.reply(1));
  await time.advance(1_000);
  reading.unsubscribe();
  for (const each of [stream, ...streams]) each.reset();
  await time.advance(LONGEST_WATCH_MS);
  expect(held()).toMatchObject({ streams: 0, waiting: 0 });
  if (atEnd === true || ends !== true) {
    const probe = own.request('probe');
    reach.keep(probe);
    await time.advance();
    expect(await probe).toBe('probe');
  }
  expect(ROLES.flatMap((each) => illegalFrames(sent[each], each))).toEqual([]);
  const resets = [...sent.dialer, ...sent.acceptor].filter(({ type }) => type === 'reset' || type === 'goaway');
  expect(resets.filter((frame) => !BLAMELESS.has(frame['code'] ?? NO_ERROR))).toEqual([]);
  // Some streams are still open when the connection is lost.
  if (ends !== true) for (const payload of ['p', 'q']) other.open$(payload, { headers: { a: 1 } }).subscribe(ignore);
  await time.advance();
  actsLeft = MOST_ACTS;
  link.cut();
  await time.advance(LONGEST_WATCH_MS);
  expect(code.runs).toBeGreaterThan(0);
  expect(promises.filter(({ settled }) => !settled)).toEqual([]);
  expect([own.status.state, other.status.state]).toEqual(['closed', 'closed']);
  expect(logs.errors.filter((message) => message !== CUT_SHORT)).toEqual([]);
}

const CELLS = ROLES.flatMap((role) => ACTS.map((act) => ({ role, does: act.does, act })));

describe.each([...PLACES, ...MORE_PLACES])('code in $place', (place) => {
  it.each(CELLS)('of the $role that $does harms nobody, and leaves nothing', async ({ role, act }) => {
    const empty = held();
    await run(role, place, act);
    // Hooks stay in a peer as long as somebody holds it.
    const { hooks } = held();
    expect(surplus({ ...empty, hooks }, held())).toEqual({});
    expect(time.isOver()).toBe(true);
  });
});
