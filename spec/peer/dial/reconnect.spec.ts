import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ConnectOptions, DialContext, Peer } from '../../../src/index.js';
import { Backoff } from '../../../src/peer/dial/backoff.js';
import type { DialFailure, FailureFacts, Reconnect } from '../../../src/peer/dial/backoff.js';
import { CodecMismatch, ConnectError, RemoteError } from '../../../src/wire/errors.js';
import fc from '../../support/fast-check.js';
import { echoing, holding, reconnecting, SOON, watched } from '../../support/peer/dialing.js';
import { framesOf } from '../../support/peer/frames.js';
import type { Envelope } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Network } from '../../support/peer/network.js';
import type { Answer } from '../../support/peer/network.js';
import { settled } from '../../support/peer/outcome.js';
import { fillSocket } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { otherPlatform } from '../../support/platform/globals.js';

describe('Reconnect helper', () => {
  const time = virtualPeerTime();
  collectLogs();

  const cut = { code: 1006, reason: '', wasClean: false };

  it('The reconnect helper dials again after a lost socket, and reports that', async () => {
    const network = echoing();
    const { peer, reasons, states } = reconnecting(network);
    const frames: unknown[] = [];
    peer.frames$.subscribe(({ direction, frame, connection }) => {
      if (direction === 'tx') frames.push([connection, frame.stream]);
    });
    await time.advance();
    peer.notify('one');
    network.last.link.cut();
    expect([reasons, peer.status]).toEqual([
      [{ ...cut, willRetry: true }],
      { state: 'waiting', attempt: 2, delayMs: expect.any(Number), last: { ...cut, willRetry: true }, offline: false },
    ]);
    await time.advance(10);
    peer.notify('two');
    expect(states).toEqual(['connecting 1', 'open 0', 'waiting 2', 'connecting 2', 'open 1']);
    expect(frames).toEqual([
      [1, 1],
      [2, 1],
    ]);
    expect(peer.status).toEqual({ state: 'open', reconnects: 1 });
  });

  it('A lost socket fails every stream whose open was sent with a ConnectionLostError that is not retriable', async () => {
    const network = holding();
    const { peer } = reconnecting(network);
    await time.advance();
    const stream = peer.open('p');
    const errors: unknown[] = [];
    stream.subscribe({ error: (error: unknown) => errors.push(error) });
    await time.advance();
    network.last.link.cut({ reason: 'gone' });
    expect(errors).toEqual([
      expect.objectContaining({
        code: 'CONNECTION_LOST',
        retriable: false,
        streamId: 1,
        reason: { ...cut, reason: 'gone', willRetry: true },
      }),
    ]);
  });

  it('Unsent opens move to the next socket, with all their frames', async () => {
    const network = echoing();
    const { peer } = reconnecting(network);
    await time.advance();
    network.last.link.stall('acceptor');
    peer.open().subscribe({ error: () => undefined });
    // The socket accepts no more: later frames stay in the queue.
    fillSocket(peer);
    await time.advance();
    const waiting = peer.open('waiting');
    void waiting.send(1);
    const answer = peer.request('asked');
    await time.advance();
    expect(waiting.id).not.toBeNull();
    network.last.link.cut();
    expect([waiting.id, waiting.phase]).toEqual([null, 'idle']);
    const sent = framesOf(peer);
    await time.advance(10);
    expect(sent).toEqual([
      { type: 'open', stream: 1, payload: 'waiting' },
      { type: 'data', stream: 1, payload: 1 },
      { type: 'open', stream: 3, end: true, payload: 'asked' },
    ]);
    expect(await answer).toBe('asked');
  });

  /** A socket that the remote has begun to close, before its close event. */
  async function closing(
    options: ConnectOptions,
  ): Promise<{ readonly peer: Peer; readonly network: Network; readonly sent: readonly Envelope[] }> {
    const network = echoing();
    const { peer } = watched(network, options);
    await time.advance();
    Object.defineProperty(network.last.socket, 'readyState', { value: 2 });
    return { peer, network, sent: framesOf(peer) };
  }

  it('Calls made while the remote closes the socket wait for the next socket', async () => {
    const { peer, network, sent } = await closing({ reconnect: SOON });
    const answer = peer.request('asked');
    peer.notify('told');
    await time.advance();
    expect(sent).toEqual([]);
    network.last.link.cut({ code: 1001 });
    await time.advance(10);
    expect(await answer).toBe('asked');
    expect(sent.map(({ payload }) => payload)).toEqual(['asked', 'told']);
  });

  it('Calls made while the remote closes the socket are refused without the reconnect helper', async () => {
    const { peer } = await closing({});
    await expect(peer.request('asked')).rejects.toMatchObject({ code: 'REFUSED', retriable: false });
  });

  it('The reconnect helper reports each failed dial to `onClose` once, and stops after 5 before a first success', async () => {
    const network = new Network();
    network.answer = { status: 503 };
    const { peer, reasons, states } = reconnecting(network);
    const outcome = settled(peer.request('p'));
    await time.advance(1_000);
    expect(network.dials).toHaveLength(5);
    expect(reasons.map(({ willRetry }) => willRetry)).toEqual([true, true, true, true, false]);
    expect(states).toEqual(
      [1, 2, 3, 4, 5].flatMap((n) => (n === 1 ? ['connecting 1'] : [`waiting ${n}`, `connecting ${n}`])).concat('closed 1006'),
    );
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'CONNECT', status: 503, retriable: true }) });
    expect(await peer.closed).toEqual(reasons.at(-1));
    expect(time.isOver()).toBe(true);
  });

  it('The reconnect helper dials without a limit after a first success', async () => {
    const network = echoing();
    const { peer } = reconnecting(network);
    await time.advance();
    network.answer = { status: null };
    network.last.link.cut();
    await time.advance(1_000);
    expect(network.dials.length).toBeGreaterThan(50);
    expect(peer.status.state).not.toBe('closed');
    void peer.close();
  });

  /** Dials until the helper stops, at most `mostDials` times. The server closes each socket with 1011 after `first`. */
  async function turnedAway(network: Network, mostDials: number, first: (network: Network) => void = () => undefined): Promise<Peer> {
    const { peer, states } = reconnecting(network);
    for (let dials = 1; dials <= mostDials; dials++) {
      await time.advance(10);
      if (states.at(-1)?.startsWith('open') !== true) continue;
      first(network);
      await time.advance();
      network.last.link.cut({ code: 1011, reason: 'no backend', wasClean: true });
    }
    return peer;
  }

  it('The reconnect helper stops after 5 sockets that a proxy has accepted and closed with 1011 at once', async () => {
    const network = echoing();
    const peer = await turnedAway(network, 20);
    const reason = { code: 1011, reason: 'no backend', wasClean: true, willRetry: false };
    expect([network.dials.length, peer.status]).toEqual([5, { state: 'closed', reason, error: null }]);
    expect(time.isOver()).toBe(true);
  });

  it('The reconnect helper goes on if a socket that was closed with 1011 at once has brought a message', async () => {
    const network = echoing();
    const peer = await turnedAway(network, 20, ({ last }) => {
      last.link.inject('dialer', JSON.stringify({ type: 'ping', nonce: 'n' }));
    });
    expect([network.dials.length > 5, peer.status.state]).toEqual([true, 'waiting']);
    void peer.close();
  });

  it('The reconnect helper counts attempts from one again after a socket that lasted 10 s, and not before', async () => {
    const network = echoing();
    const { peer, states } = reconnecting(network, { reconnect: { minDelayMs: 0, maxDelayMs: 0 } });
    await time.advance();
    network.last.link.cut();
    await time.advance();
    await time.advance(9_999);
    network.last.link.cut();
    await time.advance();
    await time.advance(10_000);
    network.last.link.cut();
    await time.advance();
    expect(states.filter((state) => state.startsWith('waiting'))).toEqual(['waiting 2', 'waiting 3', 'waiting 2']);
    void peer.close();
  });

  it('The reconnect helper does not reset its count while it waits, even 10 s after the last opening', async () => {
    const network = echoing();
    const { peer, states } = reconnecting(network, { reconnect: { maxDelayMs: 20_000 } });
    await time.advance(9_999);
    network.last.link.cut({ code: 1008 });
    await time.advance(20_000);
    expect(states).toEqual(['connecting 1', 'open 0', 'waiting 2', 'connecting 2', 'open 1']);
    void peer.close();
  });

  it.each([1002, 1003, 4002, 4003])('The reconnect helper does not dial again after %p', async (code) => {
    const network = echoing();
    const { peer, reasons } = reconnecting(network);
    await time.advance();
    network.last.link.cut({ code });
    expect(reasons).toEqual([{ ...cut, code, willRetry: false }]);
    expect(await peer.closed).toEqual(reasons[0]);
    await time.advance(60_000);
    expect(network.dials).toHaveLength(1);
  });

  it.each([1002, 1006])('The reconnect helper does not dial again after a goaway with PROTOCOL_ERROR and %p', async (code) => {
    const network = echoing();
    const { peer, reasons } = reconnecting(network);
    await time.advance();
    network.last.link.inject('dialer', JSON.stringify({ type: 'goaway', code: 1, last_stream: 0 }));
    await time.advance(500);
    network.last.link.cut({ code });
    expect(reasons).toEqual([{ ...cut, code, willRetry: false }]);
    expect(await peer.closed).toEqual(reasons[0]);
    await time.advance(60_000);
    expect(network.dials).toHaveLength(1);
  });

  it('The reconnect helper uses the longest delay after a goaway with ENHANCE_YOUR_CALM', async () => {
    const network = echoing();
    const { peer, reasons } = reconnecting(network, { reconnect: { maxDelayMs: 20_000 } });
    await time.advance();
    network.last.link.inject('dialer', JSON.stringify({ type: 'goaway', code: 11, last_stream: 0 }));
    await time.advance(500);
    network.last.link.cut({ code: 1008 });
    expect([reasons, peer.status]).toMatchObject([[{ code: 1008, willRetry: true }], { state: 'waiting', attempt: 2, delayMs: 20_000 }]);
    await time.advance(19_999);
    expect(network.dials).toHaveLength(1);
    await time.advance(1);
    expect(network.dials).toHaveLength(2);
    void peer.close();
  });

  it.each(['a socket is lost', 'a dial fails'])('The reconnect helper stops if `shouldRetry` closes the peer because %s', async (what) => {
    const network = echoing();
    if (what === 'a dial fails') network.answer = { status: 503 };
    const { peer, reasons } = reconnecting(network, {
      reconnect: {
        shouldRetry: ({ willRetry }) => {
          void peer.close();
          return willRetry;
        },
      },
    });
    await time.advance();
    if (what === 'a socket is lost') network.last.link.cut();
    await time.advance(60_000);
    expect([reasons.map(({ willRetry }) => willRetry), network.dials.length, peer.status.state]).toEqual([[false], 1, 'closed']);
  });

  it.each(['a socket is lost', 'a dial fails', 'a hello is lost'])(
    '`closes$` and `closed` have the reason of the end in which user code closes the peer: %s',
    async (what) => {
      const network = what === 'a hello is lost' ? new Network({ onHello: () => new Promise(() => undefined) }) : echoing();
      if (what === 'a dial fails') network.answer = { status: 503 };
      const close = (): boolean => {
        void watching.peer.close();
        return true;
      };
      const watching = reconnecting(network, {
        reconnect: { ...SOON, shouldRetry: close },
        ...(what === 'a hello is lost' && {
          hello: ({ signal }: DialContext) => {
            signal.addEventListener('abort', close);
            return {};
          },
        }),
      });
      const { peer, reasons, states } = watching;
      const seen: unknown[] = [];
      peer.closes$.subscribe({ next: ({ code, reason }) => seen.push([code, reason]), complete: () => seen.push('complete') });
      await time.advance();
      if (what !== 'a dial fails') network.last.link.cut({ code: 1006, reason: 'cut' });
      await time.advance(60_000);
      const { code, reason } = await peer.closed;
      expect([reasons, seen, states.at(-1)]).toEqual([
        [expect.objectContaining({ code, reason })],
        [[1006, reason], 'complete'],
        'closed 1006',
      ]);
    },
  );

  it('`opened` and `ping` wait for the next socket in the code that hears of a loss', async () => {
    const network = holding();
    const { peer } = reconnecting(network);
    await time.advance();
    const seen: unknown[] = [];
    const wait = (): void => {
      void peer.opened.then(() => seen.push(peer.status));
      void peer.ping().then((ms) => seen.push(ms));
    };
    peer.open('held').subscribe({ error: wait });
    peer.onClose(wait);
    await time.advance();
    network.last.link.cut();
    await time.advance();
    expect([seen, peer.status.state]).toEqual([[], 'waiting']);
    await time.advance(10);
    const open = { state: 'open', reconnects: 1 };
    expect(seen).toEqual([open, open, 0, 0]);
  });

  it('`opened` rejects in the code that hears of the last loss', async () => {
    const network = echoing();
    const { peer } = reconnecting(network, { reconnect: false });
    await time.advance();
    const outcomes: Promise<unknown>[] = [];
    peer.onClose(() => outcomes.push(settled(peer.opened)));
    network.last.link.cut();
    expect(await Promise.all(outcomes)).toEqual([{ error: expect.objectContaining({ code: 'CONNECTION_LOST' }) }]);
  });

  it('Close handlers learn that no dial follows when a subscriber of a lost stream has closed the peer', async () => {
    const network = holding();
    const { peer, reasons } = reconnecting(network);
    await time.advance();
    peer.open('p').subscribe({ error: () => void peer.close() });
    await time.advance();
    network.last.link.cut();
    await time.advance(60_000);
    expect([reasons.map(({ willRetry }) => willRetry), peer.status]).toEqual([[false], expect.objectContaining({ state: 'closed' })]);
  });

  it.each(['a socket is lost', 'a dial fails'])(
    'Later close handlers learn that no dial follows when an earlier one has closed the peer: %s',
    async (what) => {
      const network = echoing();
      if (what === 'a dial fails') network.answer = { status: 503 };
      const { peer, reasons } = reconnecting(network);
      peer.onClose(() => void peer.close());
      const later: boolean[] = [];
      peer.onClose(({ willRetry }) => later.push(willRetry));
      peer.closes$.subscribe(({ willRetry }) => later.push(willRetry));
      await time.advance();
      network.last.link.cut();
      await time.advance();
      expect([reasons.map(({ willRetry }) => willRetry), later]).toEqual([[true], [false, false]]);
    },
  );

  it('`shouldRetry` has the final decision on a dial', async () => {
    const network = echoing();
    const asked: unknown[] = [];
    const { peer } = reconnecting(network, {
      reconnect: {
        ...SOON,
        shouldRetry: ({ attempt, reason, willRetry }) => {
          asked.push([attempt, reason.code, willRetry]);
          return attempt < 2;
        },
      },
    });
    await time.advance();
    network.last.link.cut({ code: 1002 });
    await time.advance(10);
    network.last.link.cut();
    await time.advance(10);
    expect([asked, network.dials.length, peer.status.state]).toEqual([
      [
        [1, 1002, false],
        [2, 1006, true],
      ],
      2,
      'closed',
    ]);
  });

  it('A peer without the reconnect helper ends with its socket', async () => {
    const network = echoing();
    const { peer, reasons, states } = reconnecting(network, { reconnect: false });
    await time.advance();
    network.last.link.cut();
    await time.advance(60_000);
    expect([network.dials.length, reasons, states.at(-1)]).toEqual([1, [{ ...cut, willRetry: false }], 'closed 1006']);
    expect(await settled(peer.request())).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: false }) });
  });

  it('`reconnectNow` of an open peer probes its socket, which has 2.5 s to answer', async () => {
    const network = echoing();
    const { peer, reasons, sent } = reconnecting(network, { keepalive: {} });
    await time.advance();
    peer.reconnectNow();
    expect(sent).toEqual([{ type: 'ping', nonce: expect.any(String) }]);
    await time.advance(3_000);
    expect([reasons, peer.status.state]).toEqual([[], 'open']);
    network.last.link.stall('acceptor');
    peer.reconnectNow();
    await time.advance(2_499);
    expect(reasons).toEqual([]);
    await time.advance(1);
    expect(reasons).toEqual([{ code: 1006, reason: 'no sign of life', wasClean: false, willRetry: true }]);
    void peer.close();
  });

  describe('The reconnect helper in a page', () => {
    const pretend = otherPlatform();

    it.each<[what: string, reconnect: true | Reconnect]>([
      ['true', true],
      ['an object without `maxAttempts`', { minDelayMs: 100 }],
    ])('A peer of a page whose `reconnect` is %s dials for as long as the server is away', async (_what, reconnect) => {
      pretend({ document: {} });
      const network = echoing();
      network.answer = { status: null };
      const { peer } = reconnecting(network, { reconnect });
      const answer = peer.request('asked', { timeoutMs: 0 });
      await time.advance(3_600_000);
      expect(network.dials.length).toBeGreaterThan(700);
      network.answer = 'accept';
      await time.advance(5_000);
      expect([await answer, peer.status.state]).toEqual(['asked', 'open']);
      void peer.close();
    });

    it.each<[what: string, answer: Answer]>([
      ['HTTP 401', { status: 401 }],
      ['another codec', { protocol: 'mux.v1.msgpack' }],
    ])('A peer of a page stops at a clear refusal: %s', async (_what, answer) => {
      pretend({ document: {} });
      const network = new Network();
      network.answer = answer;
      const { peer } = reconnecting(network, { reconnect: true });
      await time.advance(5_000);
      expect([network.dials.length, peer.status.state]).toEqual([1, 'closed']);
    });

    it('A peer of a page stops after `maxAttempts`, if its user sets them', async () => {
      pretend({ document: {} });
      const network = new Network();
      network.answer = { status: null };
      const { peer } = reconnecting(network, { reconnect: { maxAttempts: 2 } });
      await time.advance(60_000);
      expect([network.dials.length, peer.status.state]).toEqual([2, 'closed']);
    });
  });

  it.each([1, 3])(
    'A peer with `maxAttempts` of %p dials a server that goes away from each socket at once that often',
    async (maxAttempts) => {
      const network = echoing();
      const { peer } = reconnecting(network, { reconnect: { maxAttempts, minDelayMs: 1, maxDelayMs: 1 } });
      for (let n = 0; n < 6; n++) {
        await time.advance();
        void network.last.peer.close();
        await time.advance(10);
      }
      expect([network.dials.length, peer.status.state]).toEqual([maxAttempts, 'closed']);
    },
  );

  it('`reconnectNow` dials at once, and has no other effect', async () => {
    const network = echoing();
    const { peer } = reconnecting(network, { reconnect: { minDelayMs: 60_000, maxDelayMs: 60_000 } });
    await time.advance();
    peer.reconnectNow();
    network.last.link.cut();
    expect(network.dials).toHaveLength(1);
    peer.reconnectNow();
    peer.reconnectNow();
    expect(network.dials).toHaveLength(2);
    await time.advance();
    expect(peer.status).toEqual({ state: 'open', reconnects: 1 });
    void peer.close();
  });

  it('`reconnectNow` in `onClose` of a final loss does not dial, and calls made there are refused', async () => {
    const network = holding();
    const { peer, reasons } = reconnecting(network, { reconnect: { maxAttempts: 1 } });
    await time.advance();
    const old = peer.open('p');
    await time.advance();
    const outcomes: unknown[] = [];
    peer.onClose(() => {
      peer.reconnectNow();
      outcomes.push(settled(peer.request()));
    });
    network.last.link.cut();
    const lost = { ...cut, willRetry: false };
    expect([reasons, old.cause, network.dials.length]).toEqual([[lost], { how: 'lost', reason: lost }, 1]);
    expect(await Promise.all(outcomes)).toEqual([{ error: expect.objectContaining({ code: 'REFUSED', retriable: false }) }]);
  });

  it('`reconnectNow` in `onClose` dials at once', async () => {
    const network = echoing();
    const { peer } = reconnecting(network, { reconnect: { minDelayMs: 60_000, maxDelayMs: 60_000 } });
    peer.onClose(() => {
      peer.reconnectNow();
    });
    await time.advance();
    network.last.link.cut();
    await time.advance();
    expect([network.dials.length, peer.status.state]).toEqual([2, 'open']);
    void peer.close();
  });
});

describe('backoff', () => {
  const logs = collectLogs();
  const time = virtualPeerTime();

  const LOST = { code: 1006, reason: '', wasClean: false };
  const NOTHING: FailureFacts = {
    status: null,
    error: null,
    announced: null,
    offline: false,
    openMs: null,
    heard: false,
    retryAfterMs: null,
  };

  /** A backoff after `failures` failures, with or without a connection before them. */
  function after(failures: number, options: Reconnect = {}, connected = true): Backoff {
    const backoff = new Backoff(options);
    if (connected) backoff.connected();
    for (let n = 0; n < failures; n++) backoff.failed(LOST, NOTHING);
    return backoff;
  }

  /** The number of failures in a row until the backoff refuses a retry, at most 100. */
  function attempts(backoff: Backoff, facts: Partial<FailureFacts> = {}): number {
    for (let n = 1; n <= 100; n++) if (!backoff.failed(LOST, { ...NOTHING, ...facts })) return n;
    return Infinity;
  }

  describe('Delay', () => {
    it('The delay lies between 0 and 500 ms, doubles with each failure, and is at most 5 s', () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 2_000 }), (failures) => {
          const delay = after(failures).delay(1006, NOTHING);
          expect(delay).toBeGreaterThanOrEqual(0);
          expect(delay).toBeLessThanOrEqual(Math.min(5_000, 500 * 2 ** (failures - 1)));
        }),
      );
    });

    it('The delay stays within the bounds of the options', () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(1_000), fc.nat(100_000), (failures, minDelayMs, more) => {
          const maxDelayMs = minDelayMs + more;
          const delay = after(failures, { minDelayMs, maxDelayMs }).delay(1006, NOTHING);
          expect(delay).toBeGreaterThanOrEqual(0);
          expect(delay).toBeLessThanOrEqual(Math.min(maxDelayMs, minDelayMs * 2 ** (failures - 1)));
        }),
      );
    });

    it('The delay is spread over its whole range, so that peers do not return together', () => {
      const backoff = after(4);
      const delays = Array.from({ length: 2_000 }, () => backoff.delay(1006, NOTHING));
      const quarters = [0, 1, 2, 3].map((quarter) => delays.filter((delay) => Math.floor(delay / 1_000) === quarter).length);
      for (const count of quarters) expect(count).toBeGreaterThan(350);
    });

    it.each<[string, number, number | null]>([
      ['a clean goaway', 1006, 0],
      ['1001', 1001, null],
      ['1012', 1012, null],
    ])('The delay lies between 0 and 1 s after %s, after any number of failures', (_what, code, announced) => {
      const backoff = after(20);
      const delays = Array.from({ length: 200 }, () => backoff.delay(code, { ...NOTHING, announced, openMs: 1_000 }));
      expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...delays)).toBeLessThanOrEqual(1_000);
      expect(Math.max(...delays)).toBeGreaterThan(900);
    });

    it.each<[string, number, number | null]>([
      ['a goaway with ENHANCE_YOUR_CALM', 1006, 11],
      ['1008 without a goaway', 1008, null],
      ['4008 without a goaway', 4008, null],
    ])('The delay is 30 s after %s, or `maxDelayMs` if set', (_what, code, announced) => {
      const facts = { ...NOTHING, announced };
      expect([after(1).delay(code, facts), after(1, { maxDelayMs: 7_000 }).delay(code, facts)]).toEqual([30_000, 7_000]);
    });

    it.each<[string, number, number]>([
      ['1008 with a goaway of another code, such as for a refused hello', 1008, 7],
      ['4008 with a goaway of another code', 4008, 7],
    ])('The delay is an ordinary one after %s', (_what, code, announced) => {
      const backoff = after(1);
      const delays = Array.from({ length: 200 }, () => backoff.delay(code, { ...NOTHING, announced }));
      expect(Math.max(...delays)).toBeLessThanOrEqual(500);
    });

    it.each<[what: string, retryAfterMs: number, options: Reconnect, least: number, most: number]>([
      ['2 s', 2_000, {}, 2_000, 3_000],
      ['an hour', 3_600_000, {}, 30_000, 30_000],
      ['an hour, with `maxDelayMs`', 3_600_000, { maxDelayMs: 7_000 }, 7_000, 7_000],
    ])('The delay is at least Retry-After, and at most half more: %s', (_what, retryAfterMs, options, least, most) => {
      const backoff = after(1, options);
      const delays = Array.from({ length: 200 }, () => backoff.delay(1006, { ...NOTHING, status: 503, retryAfterMs }));
      expect(Math.min(...delays)).toBeGreaterThanOrEqual(least);
      expect(Math.max(...delays)).toBeLessThanOrEqual(most);
    });

    it('The delay is the longest without a network', () => {
      expect(after(1).delay(1006, { ...NOTHING, offline: true })).toBe(5_000);
    });

    it('The delay may reach `minDelayMs` when `maxDelayMs` is not set', () => {
      const { minDelayMs, maxDelayMs } = new Backoff({ minDelayMs: 60_000 });
      expect([minDelayMs, maxDelayMs]).toEqual([60_000, 60_000]);
    });

    it('The delay never exceeds what the timers of the platform can count', () => {
      const delay = after(1_500, { minDelayMs: 1, maxDelayMs: Infinity }).delay(1008, NOTHING);
      expect([delay, after(1_500, { minDelayMs: 0 }).delay(1006, NOTHING)]).toEqual([2 ** 31 - 1, 0]);
      const endless = after(1, { minDelayMs: 2 ** 40, maxDelayMs: Infinity });
      expect(Math.max(...Array.from({ length: 100 }, () => endless.delay(1006, NOTHING)))).toBeLessThan(2 ** 31);
    });
  });

  describe('Server that ends its sockets cleanly', () => {
    const ORDERLY = { ...NOTHING, announced: 0 };
    const REFUSED = { ...NOTHING, error: new ConnectError('connect ECONNREFUSED 127.0.0.1:8080') };

    beforeEach(() => {
      // Makes each delay the longest possible.
      jest.spyOn(Math, 'random').mockReturnValue(1);
    });

    /** The delay after each failure. */
    const delays = (backoff: Backoff, failures: readonly (readonly [code: number, facts: FailureFacts])[]): readonly number[] =>
      failures.map(([code, facts]) => {
        backoff.failed({ ...LOST, code }, facts);
        return backoff.delay(code, facts);
      });

    it.each<[what: string, facts: FailureFacts]>([
      ['a refused connection', REFUSED],
      // Answers of proxies whose server is away. Cloudflare sends those from 521 on.
      ...[502, 503, 504, 521, 522, 523].map((status): [string, FailureFacts] => [`HTTP ${status}`, { ...REFUSED, status }]),
    ])('The delay stops at 1 s for 30 s after the restart was announced, then doubles to 5 s: %s', async (_what, facts) => {
      const backoff = after(0);
      expect(backoff.goneAway(10_000)).toBe(1_000);
      expect(delays(backoff, Array(20).fill([1006, facts]))).toEqual([500, ...Array<number>(19).fill(1_000)]);
      await time.advance(29_999);
      expect(delays(backoff, [[1006, facts]])).toEqual([1_000]);
      await time.advance(1);
      expect(delays(backoff, Array(4).fill([1006, facts]))).toEqual([2_000, 4_000, 5_000, 5_000]);
    });

    it.each<[what: string, facts: FailureFacts]>([
      ['HTTP 500', { ...REFUSED, status: 500 }],
      ['HTTP 404', { ...REFUSED, status: 404 }],
      ['a refused hello', { ...NOTHING, error: new RemoteError('no', null) }],
      ['a lost socket', { ...NOTHING, openMs: 10 }],
    ])('The delay doubles after an event that is no restart: %s', (_what, facts) => {
      const backoff = after(0);
      backoff.goneAway(10_000);
      expect(delays(backoff, Array(5).fill([1006, facts]))).toEqual([500, 1_000, 2_000, 4_000, 5_000]);
    });

    it('A refused connection without a restart before it doubles the delay', () => {
      expect(delays(after(0), Array(5).fill([1006, REFUSED]))).toEqual([500, 1_000, 2_000, 4_000, 5_000]);
    });

    it.each([null, 502, 503, 504])('Failed dials spend no attempts during a restart, and do so after it: status %p', async (status) => {
      const backoff = after(0, { maxAttempts: 3 });
      backoff.goneAway(10_000);
      expect(attempts(backoff, { ...REFUSED, status })).toBe(Infinity);
      await time.advance(30_000);
      expect(attempts(backoff, { ...REFUSED, status })).toBe(1);
    });

    it.each<[what: string, code: number, facts: FailureFacts]>([
      ['a goaway', 1000, ORDERLY],
      ['1001', 1001, NOTHING],
      ['1012', 1012, NOTHING],
    ])('The delay is short once after a socket that ended early, then doubles until a socket lasts: %s', (_what, code, facts) => {
      const backoff = after(0);
      const brief = { ...facts, openMs: 999 };
      expect(delays(backoff, Array(6).fill([code, brief]))).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
      expect(delays(backoff, [[code, { ...facts, openMs: 1_000 }]])).toEqual([1_000]);
      expect(delays(backoff, [[code, brief]])).toEqual([500]);
    });

    it('A goaway right after the opening counts as an early end while its socket drains', () => {
      const backoff = after(0);
      expect(Array.from({ length: 5 }, () => backoff.goneAway(0))).toEqual([500, 1_000, 2_000, 4_000, 5_000]);
      expect(backoff.failures).toBe(5);
      expect([backoff.goneAway(1_000), backoff.goneAway(0)]).toEqual([1_000, 500]);
    });

    it('A stable socket ends the period of a restart', () => {
      const backoff = after(0, { maxAttempts: 2 });
      backoff.goneAway(10_000);
      backoff.stable();
      expect(attempts(backoff, REFUSED)).toBe(2);
    });
  });

  describe('Budget', () => {
    it.each<[string, Backoff, number]>([
      ['5 failures in a row before the first success', after(0, {}, false), 5],
      ['unlimited after the first success', after(0), Infinity],
      ['maxAttempts before the first success', after(0, { maxAttempts: 2 }, false), 2],
      ['maxAttempts after the first success', after(0, { maxAttempts: 7 }), 7],
      ['unlimited with maxAttempts Infinity before the first success', after(0, { maxAttempts: Infinity }, false), Infinity],
      ['one failure with maxAttempts 1', after(0, { maxAttempts: 1 }), 1],
      ['one failure with maxAttempts 0', after(0, { maxAttempts: 0 }), 1],
    ])('The budget is %s', (_what, backoff, count) => {
      expect(attempts(backoff)).toBe(count);
    });

    it('The budget starts again after a stable connection', () => {
      const backoff = after(3, { maxAttempts: 5 });
      expect(backoff.failures).toBe(3);
      backoff.stable();
      expect(backoff.failures).toBe(0);
      expect(attempts(backoff)).toBe(5);
    });

    it('The budget is not spent without a network', () => {
      const backoff = after(0, { maxAttempts: 2 });
      expect([attempts(backoff, { offline: true }), backoff.failures]).toEqual([Infinity, 0]);
    });
  });

  describe('Socket that the remote closes at once, without a message', () => {
    const AT_ONCE = { ...NOTHING, openMs: 999 };

    /** The number of sockets until the backoff stops, when each opens and then ends so. */
    const sockets = (code: number, facts: FailureFacts, before: (backoff: Backoff) => void = () => undefined): number => {
      const backoff = new Backoff({});
      before(backoff);
      for (let n = 1; n <= 100; n++) {
        backoff.connected();
        if (!backoff.failed({ ...LOST, code }, facts)) return n;
      }
      return Infinity;
    };

    it.each([1000, 1001, 1008, 1011, 1012, 1013, 4001])(
      'Five such sockets stop a dialer that had no connection before: code %p',
      (code) => {
        expect(sockets(code, AT_ONCE)).toBe(5);
      },
    );

    it.each<[what: string, code: number, facts: FailureFacts]>([
      ['brought a message', 1011, { ...AT_ONCE, heard: true }],
      ['lasted for a second', 1011, { ...AT_ONCE, openMs: 1_000 }],
      ['was lost without a close', 1006, AT_ONCE],
    ])('A socket was a connection if it %s', (_what, code, facts) => {
      expect(sockets(code, facts)).toBe(Infinity);
    });

    it('Such sockets do not stop a dialer that had a connection before', () => {
      const before = (backoff: Backoff): void => {
        backoff.connected();
        backoff.failed(LOST, { ...NOTHING, openMs: 5_000, heard: true });
      };
      expect(sockets(1011, AT_ONCE, before)).toBe(Infinity);
    });
  });

  describe('Failures with and without a retry', () => {
    const FATAL: readonly (readonly [what: string, code: number, Partial<FailureFacts>])[] = [
      ['1002', 1002, {}],
      ['1003', 1003, {}],
      ['4002', 4002, {}],
      ['4003', 4003, {}],
      ['HTTP 400', 1006, { status: 400 }],
      ['HTTP 401', 1006, { status: 401 }],
      ['HTTP 403', 1006, { status: 403 }],
      ['another subprotocol', 1008, { error: new CodecMismatch('mux.v1.json', '') }],
    ];

    it.each(FATAL)('Backoff does not retry %s, unless `shouldRetry` decides so', (_what, code, facts) => {
      const asked: DialFailure[] = [];
      const reason = { ...LOST, code };
      expect(after(0).failed(reason, { ...NOTHING, ...facts })).toBe(false);
      const stubborn = after(0, {
        shouldRetry: (failure) => {
          asked.push(failure);
          return true;
        },
      });
      expect(stubborn.failed(reason, { ...NOTHING, ...facts })).toBe(true);
      expect(asked).toEqual([
        { attempt: 1, reason: { ...reason, willRetry: false }, status: facts.status ?? null, error: facts.error ?? null, willRetry: false },
      ]);
    });

    it.each<[string, number, Partial<FailureFacts>]>([
      ['1000', 1000, {}],
      ['1001', 1001, {}],
      ['1006', 1006, {}],
      ['1008', 1008, {}],
      ['1009', 1009, {}],
      ['1011', 1011, {}],
      ['1012', 1012, {}],
      ['4008', 4008, {}],
      ['4011', 4011, {}],
      ['HTTP 404', 1006, { status: 404 }],
      ['HTTP 503', 1006, { status: 503 }],
      ['a time-out', 1006, { error: new ConnectError('late') }],
    ])('Backoff retries %s, unless `shouldRetry` decides against it', (_what, code, facts) => {
      expect(after(0).failed({ ...LOST, code }, { ...NOTHING, ...facts })).toBe(true);
      expect(after(0, { shouldRetry: () => false }).failed({ ...LOST, code }, { ...NOTHING, ...facts })).toBe(false);
    });

    it.each<[string, () => boolean]>([
      [
        'throws',
        () => {
          throw new Error('broken');
        },
      ],
      ['returns a promise', () => Promise.reject(new Error('broken')) as unknown as boolean],
      ['returns nothing', () => undefined as unknown as boolean],
    ])('Backoff decides without `shouldRetry` when it %s, and logs that', (_what, shouldRetry) => {
      const backoff = after(0, { shouldRetry });
      expect([backoff.failed(LOST, NOTHING), backoff.failed({ ...LOST, code: 1002 }, NOTHING)]).toEqual([true, false]);
      expect(logs.errors).toHaveLength(2);
    });
  });
});
