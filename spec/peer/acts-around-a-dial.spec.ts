import { describe, expect, it } from '@jest/globals';
import { filter } from 'rxjs';
import { connect } from '../../src/index.js';
import type { ConnectOptions, Peer } from '../../src/index.js';
import type { SocketLike } from '../../src/transport/socket-like.js';
import { counting } from '../support/counting.js';
import { collectLogs } from '../support/peer-logs.js';
import { Network } from '../support/peer-network.js';
import { progressOf } from '../support/peer-outcome.js';
import { virtualPeerTime } from '../support/peer-time.js';
import { CountedCode } from '../support/user-code.js';
import { LONGEST_WATCH_MS, surplus } from '../leaks/scene.js';

const time = virtualPeerTime();
const { held } = counting(time);
const logs = collectLogs();

type Run = () => void;

/** Where a dialing peer runs code of an application. */
interface Place {
  readonly place: string;
  readonly url?: (run: Run) => () => string;
  readonly options?: (run: Run, network: Network) => ConnectOptions;
  readonly hang?: (peer: Peer, run: Run) => unknown;
}

/** What code can reach there. There is no peer yet where the first dial is made at once. */
interface Reach {
  readonly peer: () => Peer | null;
  readonly network: Network;
  readonly keep: (promise: Promise<unknown> | undefined) => void;
}

const ignore = { error: () => undefined };

const PLACES: readonly Place[] = [
  {
    place: 'the function that gives the address',
    url: (run) => () => {
      run();
      return 'ws://test';
    },
  },
  {
    place: 'the function that makes the socket',
    options: (run, network) => ({
      socket(url, protocol): SocketLike {
        run();
        return network.socket(url, protocol);
      },
    }),
  },
  {
    place: 'the hello',
    options: (run) => ({
      hello() {
        run();
        return { payload: 'hi' };
      },
    }),
  },
  {
    place: 'the hello, later',
    options: (run) => ({
      async hello() {
        await Promise.resolve();
        run();
        return { payload: 'hi' };
      },
    }),
  },
  { place: 'the reply to the hello', options: (run) => ({ hello: () => ({ payload: 'hi', onReply: run }) }) },
  {
    place: 'an abort of the dial',
    options: (run) => ({
      helloTimeoutMs: 100,
      hello: ({ attempt, reconnects, signal }) => {
        if (attempt > 1 || reconnects > 0) return { payload: 'hi' };
        signal.addEventListener('abort', run, { once: true });
        return new Promise<never>(() => undefined);
      },
    }),
  },
  {
    place: 'the decision to dial again',
    options: (run) => ({
      reconnect: {
        shouldRetry() {
          run();
          return true;
        },
      },
    }),
  },
  { place: 'a close handler', hang: (peer, run) => peer.onClose(run) },
  { place: 'a subscriber of closes$', hang: (peer, run) => peer.closes$.subscribe(run) },
  { place: 'a subscriber of status$', hang: (peer, run) => peer.status$.subscribe(run) },
  {
    place: 'a subscriber of status$ between two dials',
    hang: (peer, run) => peer.status$.pipe(filter(({ state }) => state === 'waiting')).subscribe(run),
  },
  {
    place: 'a subscriber of status$ at the second dial',
    hang: (peer, run) => peer.status$.pipe(filter((status) => status.state === 'connecting' && status.attempt === 2)).subscribe(run),
  },
  { place: 'a subscriber of frames$', hang: (peer, run) => peer.frames$.subscribe(run) },
  { place: 'whoever waits for the connection', hang: (peer, run) => void peer.opened.then(run, run) },
  { place: 'the answer to a call that waited', hang: (peer, run) => peer.request$('early').subscribe({ next: run, error: run }) },
  { place: 'the taking of an open that waited', hang: (peer, run) => peer.open('p', { onOpen: run }).subscribe(ignore) },
];

interface Act {
  readonly does: string;
  readonly act: (reach: Reach) => unknown;
  /** Whether a dial that is under way is given up by it. */
  readonly givesUp?: true;
}

const ACTS: readonly Act[] = [
  { does: 'closes the peer', givesUp: true, act: ({ peer, keep }) => keep(peer()?.close()) },
  { does: 'closes the peer at once', givesUp: true, act: ({ peer, keep }) => keep(peer()?.close({ drainMs: 0 })) },
  { does: 'asks to dial now', act: ({ peer }) => peer()?.reconnectNow() },
  { does: 'makes a request', act: ({ peer, keep }) => keep(peer()?.request('again')) },
  { does: 'opens a stream and leaves it', act: ({ peer }) => peer()?.open$('q').subscribe(ignore).unsubscribe() },
  { does: 'notifies', act: ({ peer }) => peer()?.notify('n') },
  { does: 'pings', act: ({ peer, keep }) => keep(peer()?.ping()) },
  { does: 'cuts the connection', act: ({ network }) => network.dials.at(-1)?.link.cut() },
  { does: 'makes the server go away', act: ({ network, keep }) => keep(network.dials.at(-1)?.peer.close({ drainMs: 50 })) },
  { does: 'makes the next dials fail', act: ({ network }) => void (network.answer = { status: null }) },
  { does: 'makes the next dials hang', act: ({ network }) => void (network.answer = 'silence') },
];

/** How often code acts: what ends each connection from a status or a frame would never let one be. */
const MOST_ACTS = 3;

async function run({ url, options, hang }: Place, { act, givesUp }: Act): Promise<Network> {
  const network = new Network({ onStream: (payload, stream) => stream.reply(payload), onHello: (_, stream) => stream.reply('welcome') });
  const promises: ReturnType<typeof progressOf>[] = [];
  let peer: Peer | null = null;
  let actsLeft = MOST_ACTS;
  const code = new CountedCode(() => {
    if (actsLeft-- <= 0) return;
    act({
      peer: () => peer,
      network,
      keep: (promise) => {
        if (promise !== undefined) promises.push(progressOf(promise));
      },
    });
  });
  const { reconnect, ...others } = options?.(code.run, network) ?? {};
  peer = connect(url?.(code.run) ?? 'ws://test', {
    socket: network.socket,
    keepalive: false,
    hello: () => ({ payload: 'hi' }),
    ...others,
    reconnect: { minDelayMs: 10, maxDelayMs: 10, ...(typeof reconnect === 'object' ? reconnect : {}) },
  });
  let told = 0;
  peer.onClose(() => told++);
  hang?.(peer, code.run);
  await time.advance(1_000);
  network.dials.at(-1)?.link.cut();
  await time.advance(1_000);
  actsLeft = 0;
  network.answer = 'accept';
  await time.advance(LONGEST_WATCH_MS);
  expect(code.runs).toBeGreaterThan(0);
  if (peer.status.state !== 'closed') {
    const answer = peer.request('probe');
    await time.advance();
    expect([await answer, peer.status.state]).toEqual(['probe', 'open']);
    void peer.close();
  }
  await time.advance(LONGEST_WATCH_MS);
  expect(promises.filter(({ settled }) => !settled)).toEqual([]);
  expect([peer.status.state, logs.errors]).toEqual(['closed', []]);
  // Each dial ends once, and is told of; but for one that a close gave up.
  const untold = network.dials.length - told;
  expect(untold).toBe(givesUp === true && untold > 0 ? 1 : 0);
  // Of a dial that failed it has never been open.
  expect(network.dials.filter(({ peer: accepted }) => accepted.status.state === 'open')).toEqual([]);
  return network;
}

describe.each(PLACES)('code in $place', (place) => {
  it.each(ACTS)('that $does harms nobody, and leaves nothing', async (act) => {
    const empty = held();
    const { dials } = await run(place, act);
    // Hooks stay in a peer as long as somebody holds it, and so does one listener, for errors, in each socket.
    const { hooks, listeners } = held();
    expect(listeners).toBeLessThanOrEqual(dials.length);
    expect(surplus({ ...empty, hooks, listeners }, held())).toEqual({});
    expect(time.isOver()).toBe(true);
  });
});
