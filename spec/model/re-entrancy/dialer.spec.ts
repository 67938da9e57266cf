import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { config } from 'rxjs';
import { connect, reopenOnReconnect, ResetCode } from '../../../src/index.js';
import type { Frame, Peer, Stream } from '../../../src/index.js';
import { createServer } from '../../../src/testing.js';
import type { Side, TestServer } from '../../../src/testing.js';
import { LONGEST_WATCH_MS } from '../../leaks/scene.js';
import { counting, NOTHING } from '../../support/peer/counting.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { WireRules } from '../../support/wire/rules.js';
import { THROWN } from './actions.js';

describe('a peer that dials again', () => {
  const time = virtualPeerTime();
  const counts = counting(time);
  const logs = collectLogs();

  const QUIET = { error: () => undefined };

  /** A peer that dials again and again, and what it receives. */
  class Dialing {
    readonly server: TestServer = createServer({ onStream: (payload, stream) => this.#answer(payload, stream) });
    readonly accepted: Peer[] = [];
    readonly peer: Peer;
    #hasRefused = false;
    readonly pending = new Map<object, string>();

    constructor(within: Inside) {
      this.server.peers$.subscribe((peer) => this.accepted.push(peer));
      this.peer = connect(
        () => {
          within('the address');
          return 'ws://test';
        },
        {
          keepalive: false,
          hello: () => {
            within('the hello');
            return { payload: 'hello', onReply: () => within('onReply of the hello') };
          },
          socket: (url, protocol) => {
            within('the option socket');
            return this.server.socket(url, protocol);
          },
          reconnect: {
            minDelayMs: 10,
            maxDelayMs: 10,
            shouldRetry: ({ willRetry }) => {
              within('shouldRetry');
              return willRetry;
            },
          },
        },
      );
      this.peer.onClose(() => within('a close handler'));
      this.peer.status$.subscribe(({ state }) => within(`the status ${state}`));
      this.awaits('closed', this.peer.closed);
      this.awaits(
        'opened',
        this.peer.opened.finally(() => within('what follows opened')),
      );
      this.awaits(
        'a request',
        this.peer.request('before it is open').finally(() => within('what follows a request')),
      );
      const retry = {
        delay: () => {
          within('the delay of a retry');
          return [0];
        },
      };
      this.peer.request$('refused once', { retry }).subscribe(QUIET);
      reopenOnReconnect(this.peer, {
        initial: 0,
        open: () => {
          within('open of reopenOnReconnect');
          return this.peer.open$('held', { retry: 'safe' });
        },
        cursor: (_, last: number) => {
          within('the cursor of reopenOnReconnect');
          return last + 1;
        },
      }).subscribe(QUIET);
    }

    /** Registers a promise that has to settle. */
    awaits(name: string, promise: Promise<unknown>): void {
      const key = {};
      this.pending.set(key, name);
      const settle = (): void => void this.pending.delete(key);
      promise.then(settle, settle);
    }

    #answer(payload: unknown, stream: Stream): unknown {
      if (payload === 'refused once' && !this.#hasRefused) {
        this.#hasRefused = true;
        stream.reset(ResetCode.REFUSED);
        return undefined;
      }
      if (payload !== 'held') return stream.reply(payload);
      void stream.send('value');
      return stream.closed;
    }
  }

  const STATES = ['connecting', 'open', 'waiting', 'draining', 'closed'] as const;
  const WHERES = [
    'the address',
    'the hello',
    'onReply of the hello',
    'the option socket',
    'shouldRetry',
    'a close handler',
    ...STATES.map((state) => `the status ${state}` as const),
    'what follows opened',
    'what follows a request',
    'the delay of a retry',
    'open of reopenOnReconnect',
    'the cursor of reopenOnReconnect',
  ] as const;
  type Where = (typeof WHERES)[number];
  type Inside = (where: Where) => void;

  /** `ends`: the peer does not dial again. */
  const ACTIONS: readonly { readonly does: string; readonly ends?: true; readonly act: (scene: Dialing) => unknown }[] = [
    { does: 'closes the peer', ends: true, act: ({ peer }) => peer.close() },
    { does: 'closes the peer with a drain', ends: true, act: ({ peer }) => peer.close({ drainMs: 1_000 }) },
    { does: 'closes the server', act: ({ accepted }) => accepted.at(-1)?.close() },
    { does: 'closes the server with a drain', act: ({ accepted }) => accepted.at(-1)?.close({ drainMs: 1_000 }) },
    { does: 'loses the socket', act: ({ server }) => server.link?.cut() },
    {
      does: 'loses the socket and dials at once',
      act: ({ server, peer }) => {
        server.link?.cut();
        peer.reconnectNow();
      },
    },
    { does: 'dials at once', act: ({ peer }) => peer.reconnectNow() },
    {
      does: 'dials at once, and closes the peer',
      ends: true,
      act: ({ peer }) => {
        peer.reconnectNow();
        void peer.close();
      },
    },
    { does: 'makes a request', act: (scene) => scene.awaits('a request inside', scene.peer.request('inside')) },
    { does: 'makes a call and leaves it', act: ({ peer }) => peer.open$('held').subscribe(QUIET).unsubscribe() },
    { does: 'waits until it is open', act: (scene) => scene.awaits('opened inside', scene.peer.opened) },
    { does: 'pings', act: (scene) => scene.awaits('a ping', scene.peer.ping()) },
    {
      does: 'throws',
      act: () => {
        throw new Error(THROWN);
      },
    },
  ];

  /** Callbacks that run once in the life of a peer, or of a call. */
  const ONCE: readonly Where[] = ['the status closed', 'what follows opened', 'what follows a request', 'the delay of a retry'];

  const CELLS = WHERES.flatMap((where) =>
    ACTIONS.flatMap((action) => (ONCE.includes(where) ? [1] : [1, 2]).map((nth) => ({ where, nth, does: action.does, action }))),
  );

  beforeEach(() => {
    config.onUnhandledError = () => undefined;
  });
  afterEach(() => {
    config.onUnhandledError = null;
  });

  it.each(CELLS)('A peer that dials again leaves nothing undone: in $where, time $nth, $does', async ({ where, nth, action }) => {
    let times = 0;
    let made: Dialing | null = null;
    // A callback before the peer exists has nothing to act on.
    const scene = new Dialing((at) => {
      if (at === where && made !== null && ++times === nth) action.act(made);
    });
    made = scene;
    await time.advance(1_000);
    scene.server.link?.cut();
    await time.advance(1_000);
    void scene.accepted.at(-1)?.close({ drainMs: 1_000 });
    await time.advance(3_000);
    scene.server.link?.cut();
    await time.advance(LONGEST_WATCH_MS);
    const { state } = scene.peer.status;
    const isBefore = times >= nth;
    const answer = state === 'closed' ? 'closed' : await answerOf(scene);
    void scene.peer.close();
    await time.advance(LONGEST_WATCH_MS);
    expect({ state, answer, left: [...scene.pending.values()], times: times >= nth }).toEqual({
      ...(isBefore && action.ends === true ? { state: 'closed', answer: 'closed' } : { state: 'open', answer: 'again' }),
      left: [],
      times: true,
    });
    expect(time.isOver()).toBe(true);
    expect(logs.errors.filter((line) => line.includes('internal error'))).toEqual([]);
    // Each ended socket keeps its error listener. The close handler and the subscriber of the server belong to this test.
    expect({ ...counts.held(), listeners: 0 }).toEqual({ ...NOTHING, hooks: 1, subscriptions: 1 });
  });

  async function answerOf({ peer }: Dialing): Promise<unknown> {
    const answer = peer.request('again').catch(String);
    await time.advance();
    return answer;
  }
});

type Sent = readonly [from: Side, frame: Frame];

const open: Sent = ['dialer', { type: 'open', stream: 1, payload: 'p' }];
const data: Sent = ['dialer', { type: 'data', stream: 1, payload: 'v' }];
const end: Sent = ['dialer', { type: 'data', stream: 1, end: true }];
const reset: Sent = ['dialer', { type: 'reset', stream: 1, code: 8 }];
const cut: Sent = ['dialer', { type: 'data', stream: 1, more: true, fragment: '"v' }];

/** The broken rules of messages in order. */
function brokenBy(messages: readonly Sent[]): readonly string[] {
  const rules = new WireRules();
  messages.forEach(([from, frame], index) => {
    rules.wrote({ from, frame, nth: index + 1 });
  });
  return rules.broken;
}

describe('the wire rules', () => {
  it.each<[string, readonly Sent[]]>([
    ['an upload that is reset after its end', [open, data, end, reset]],
    ['a payload in fragments, given up in between', [open, cut, reset]],
    ['streams of both sides', [open, ['acceptor', { type: 'open', stream: 2 }], ['acceptor', { type: 'data', stream: 1, end: true }]]],
    ['frames of the connection', [['dialer', { type: 'ping' }]]],
  ])('The wire rules accept %s', (_what, messages) => {
    expect(brokenBy(messages)).toEqual([]);
  });

  it.each<[string, readonly Sent[]]>([
    ['data of stream 1: after it was ended', [open, end, data]],
    ['data of stream 1: after it was reset', [open, reset, data]],
    ['reset of stream 1: after it was reset', [open, reset, reset]],
    ['data of stream 1: before its open', [data]],
    ['open of stream 1: an id that is taken', [open, open]],
    ['open of stream 2: an id that is taken', [['dialer', { type: 'open', stream: 2 }]]],
    ['open of stream 1: after 3', [['dialer', { type: 'open', stream: 3 }], open]],
    ['open of stream 1: between the fragments of data', [cut, open]],
    ['data of stream 1: headers after the first frame', [open, ['dialer', { type: 'data', stream: 1, headers: { a: 1 } }]]],
    ['data of stream 1: trailers without an end', [open, ['dialer', { type: 'data', stream: 1, trailers: { a: 1 } }]]],
    ['reset of stream 2: a stream without an open', [['dialer', { type: 'reset', stream: 2 }]]],
  ])('The wire rules report %s', (what, messages) => {
    expect(brokenBy(messages)).toContain(`dialer: ${what}`);
  });

  it('The wire rules report an open by a side that has read a goaway', () => {
    const rules = new WireRules();
    rules.readGoaway('dialer');
    rules.wrote({ from: open[0], frame: open[1], nth: 1 });
    expect(rules.broken).toEqual(['dialer: open of stream 1: after a goaway']);
  });
});
