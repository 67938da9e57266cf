import { describe, expect, it, jest } from '@jest/globals';
import { lastValueFrom, timer } from 'rxjs';
import type { CloseHandler, CloseReason, ConnectOptions, Hello } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { dialing, echoing } from '../support/peer/dialing.js';
import { framesOf } from '../support/peer/frames.js';
import { settled } from '../support/peer/outcome.js';
import { pair } from '../support/peer/pairs.js';
import { stays } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';

const time = virtualPeerTime();

/** A hello that takes 400 ms to make. */
const later = (): Promise<Hello> => lastValueFrom(timer(400)).then(() => ({ payload: 'me' }));

const CLEAN: CloseReason = { code: 1000, reason: '', wasClean: true, willRetry: false };

describe('Peer', () => {
  it('`status$` emits the current status and each change, and completes after `closed`', async () => {
    const { dialer, statuses } = pair();
    const seen: unknown[] = [];
    dialer.status$.subscribe({ next: ({ state }) => seen.push(state), complete: () => seen.push('complete') });
    await time.advance();
    void dialer.close();
    await time.advance();
    expect(seen).toEqual(['open', 'draining', 'closed', 'complete']);
    expect(statuses).toEqual([
      { state: 'open', reconnects: 0 },
      { state: 'draining', by: 'local' },
      { state: 'closed', reason: CLEAN, error: null },
    ]);
    const late: unknown[] = [];
    dialer.status$.subscribe({ next: ({ state }) => late.push(state), complete: () => late.push('complete') });
    expect([late, dialer.status]).toEqual([['closed', 'complete'], statuses[2]]);
  });

  it('`opened` resolves with the peer, and `closed` with the reason of its socket, for early and late callers', async () => {
    const { dialer, acceptor } = pair();
    await time.advance();
    expect([await dialer.opened, await acceptor.opened]).toEqual([dialer, acceptor]);
    const closed = dialer.closed;
    void acceptor.close({ reason: 'bye' });
    await time.advance();
    const reason = { ...CLEAN, reason: 'bye' };
    expect([await closed, await dialer.closed, await acceptor.closed]).toEqual([reason, reason, reason]);
    await expect(dialer.opened).rejects.toMatchObject({ code: 'CONNECTION_LOST', reason });
  });

  it('An unused `opened` of a closed peer causes no unhandled rejection', async () => {
    const { dialer, link } = pair();
    await time.advance();
    link.cut();
    void dialer.opened;
    await time.advance();
    expect(dialer.status.state).toBe('closed');
  });

  it('`frames$` emits each frame with its direction and socket number, and completes after the last frame', async () => {
    const { dialer } = pair((_, stream) => stream.reply(1));
    const seen: unknown[] = [];
    dialer.frames$.subscribe({
      next: ({ direction, frame, connection, peer }) => seen.push([direction, frame.type, connection, peer === dialer]),
      complete: () => seen.push('complete'),
    });
    void dialer.request();
    await time.advance();
    void dialer.close();
    await time.advance();
    expect(seen).toEqual([['tx', 'open', 1, true], ['rx', 'data', 1, true], ['tx', 'goaway', 1, true], 'complete']);
  });

  it('`onFrame` sees each slice as a logical frame: tx before encoding, rx after decoding', async () => {
    const { dialer, acceptor, link } = pair(stays, { maxFrameBytes: 100 });
    const order: unknown[] = [];
    dialer.onFrame((direction, frame) => order.push([direction, frame.fragment]));
    link.messages$.subscribe(({ frame }) => order.push(['wire', frame.fragment]));
    const received = framesOf(acceptor, 'rx');
    dialer.open('x'.repeat(120), { end: true });
    await time.advance();
    expect(order.length).toBeGreaterThan(3);
    for (let at = 0; at < order.length; at += 2)
      expect([order[at], order[at + 1]]).toEqual([
        ['tx', expect.any(String)],
        ['wire', (order[at] as string[])[1]],
      ]);
    expect(received.map((frame) => frame['fragment'])).toEqual(
      order.filter((_, at) => at % 2 === 0).map((entry) => (entry as string[])[1]),
    );
  });

  it('`onClose` and `closes$` report a lost socket once, and `closes$` completes', async () => {
    const { dialer, link } = pair();
    const handler = jest.fn<CloseHandler>();
    const seen: unknown[] = [];
    dialer.onClose(handler);
    dialer.closes$.subscribe({ next: (reason) => seen.push(reason), complete: () => seen.push('complete') });
    await time.advance();
    link.cut({ code: 1001, reason: 'restart' });
    link.cut({ code: 1006 });
    await time.advance();
    const reason = { code: 1001, reason: 'restart', wasClean: false, willRetry: false };
    expect(handler.mock.calls).toEqual([[reason]]);
    expect(seen).toEqual([reason, 'complete']);
  });

  it('A lost socket fails every live stream with the reason of the loss, before `onClose` runs', async () => {
    const { dialer, acceptor, link, streams } = pair((_, stream) => {
      stream.subscribe({ error: () => undefined });
      return new Promise(() => undefined);
    });
    const seen: unknown[] = [];
    const push = acceptor.open('push');
    push.subscribe({ error: (error: unknown) => seen.push(error) });
    dialer.open('a').subscribe({ error: (error: unknown) => seen.push(error) });
    const answer = settled(dialer.request('b'));
    acceptor.onClose(() => seen.push('acceptor'));
    dialer.onClose(() => seen.push('dialer'));
    dialer.onStream(stays);
    await time.advance();
    link.cut({ reason: 'gone' });
    const reason = { code: 1006, reason: 'gone', wasClean: false, willRetry: false };
    const lost = (streamId: number) => expect.objectContaining({ code: 'CONNECTION_LOST', retriable: false, streamId, reason });
    expect(seen).toEqual([lost(1), 'dialer', lost(2), 'acceptor']);
    expect(await answer).toEqual({ error: lost(3) });
    expect(streams.map((stream) => stream.cause)).toEqual([
      { how: 'lost', reason },
      { how: 'lost', reason },
    ]);
  });

  it('`ping` measures the round trip in ms', async () => {
    const { dialer, acceptor } = createPair({ latencyMs: 20 });
    const sent = framesOf(acceptor);
    const round = Promise.all([dialer.ping(), dialer.ping()]);
    await time.advance(40);
    expect(await round).toEqual([40, 40]);
    expect(sent).toEqual([
      { type: 'pong', nonce: expect.any(String) },
      { type: 'pong', nonce: expect.any(String) },
    ]);
    expect(sent[0]).not.toEqual(sent[1]);
  });

  it('`ping` rejects when the socket ends first, and when no socket exists', async () => {
    const { dialer, link } = createPair({ latencyMs: 20 });
    const ping = settled(dialer.ping());
    link.cut({ reason: 'gone' });
    expect(await ping).toEqual({
      error: expect.objectContaining({ code: 'CONNECTION_LOST', reason: expect.objectContaining({ reason: 'gone' }) }),
    });
    expect(await settled(dialer.ping())).toEqual({ error: expect.objectContaining({ code: 'CONNECTION_LOST' }) });
    void dialer.ping();
    await time.advance(100);
  });

  it('`ping` of a closed peer rejects with the close reason', async () => {
    const { dialer } = createPair();
    void dialer.close();
    await time.advance();
    expect(await settled(dialer.ping())).toEqual({
      error: expect.objectContaining({ code: 'CONNECTION_LOST', reason: await dialer.closed }),
    });
  });

  it.each<[string, ConnectOptions]>([
    ['that is being made', {}],
    ['of a peer that dials on its first call', { lazy: true }],
  ])('`ping` waits for the connection %s, and does not count the wait', async (_when, options) => {
    const network = echoing();
    const peer = dialing(network, { hello: later, ...options });
    const ping = settled(peer.ping());
    await time.advance(500);
    expect([await ping, network.dials.length]).toEqual([{ value: 0 }, 1]);
  });

  it.each<[string, number | null, object]>([
    ['the connection cannot be made', 403, { code: 'CONNECT', status: 403 }],
    ['the peer is closed first', null, { code: 'CONNECTION_LOST' }],
  ])('A waiting `ping` rejects when %s', async (_what, status, error) => {
    const network = echoing();
    network.answer = status === null ? 'silence' : { status };
    const peer = dialing(network);
    const ping = settled(peer.ping());
    if (status === null) void peer.close();
    await time.advance();
    expect(await ping).toEqual({ error: expect.objectContaining(error) });
    void peer.ping();
  });
});
