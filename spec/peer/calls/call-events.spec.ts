import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, mergeMap, of } from 'rxjs';
import type { CallEnd, CallEvent } from '../../../src/index.js';
import type { Peer } from '../../../src/peer/peer.js';
import { collectLogs } from '../../support/peer/logs.js';
import { settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { createPair } from '../../support/peer/tracked.js';

const time = virtualPeerTime();
const logs = collectLogs();

/** Collects the calls of a peer, and their ends. */
function callsOf(peer: Peer): { readonly calls: CallEvent[]; readonly ends: CallEnd[] } {
  const [calls, ends]: [CallEvent[], CallEnd[]] = [[], []];
  peer.calls$.subscribe((call) => calls.push(call));
  peer.calls$.pipe(mergeMap(({ end$ }) => end$)).subscribe((end) => ends.push(end));
  return { calls, ends };
}

describe('calls$', () => {
  it('Each way to open a stream emits one call, with its label, before the open leaves', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const { calls } = callsOf(dialer);
    const sent: (number | null)[] = [];
    dialer.onFrame((direction, { type, stream }) => {
      if (direction === 'tx' && type === 'open') sent.push(Number(stream));
    });
    dialer.calls$.subscribe(({ stream }) => sent.push(stream.id === sent.at(-1) ? NaN : null));
    void dialer.request(['request']);
    dialer.request$(['request$']).subscribe();
    dialer.open(['open']);
    dialer.open$(['open$']).subscribe();
    dialer.open$(['upload'], { input: of(1) }).subscribe();
    dialer.notify(['notify']);
    await time.advance();
    expect(calls.map(({ stream, isNotification }) => [stream.label, stream.id, isNotification])).toEqual([
      ['request', 1, false],
      ['request$', 3, false],
      ['open', 5, false],
      ['open$', 7, false],
      ['upload', 9, false],
      ['notify', 11, true],
    ]);
    expect(sent).toEqual([null, 1, null, 3, null, 5, null, 7, null, 9, null, 11]);
  });

  it('A call has the time of its open and of its end, and the cause', async () => {
    const { dialer, acceptor } = createPair({ latencyMs: 10 });
    acceptor.onStream((payload, stream) => (payload === 'fails' ? stream.reset(300, 'no') : stream.reply(1)));
    const { calls, ends } = callsOf(dialer);
    const outcomes = [settled(dialer.request('works')), settled(dialer.request('fails'))];
    await time.advance(100);
    await Promise.all(outcomes);
    const [first] = calls;
    expect(ends.map(({ at, cause }) => [at - Number(first?.at), cause])).toEqual([
      [20, { how: 'ended' }],
      [20, { how: 'reset', by: 'remote', code: 300, reason: 'no', payload: null }],
    ]);
  });

  it.each(['cancelled', 'aborted before', 'lost'])('A call that is %s ends once', async (how) => {
    const { dialer, link } = createPair();
    const { ends } = callsOf(dialer);
    const abort = new AbortController();
    if (how === 'aborted before') abort.abort();
    const subscription = dialer.open$('p', { signal: abort.signal }).subscribe({ error: () => undefined });
    await time.advance();
    if (how === 'cancelled') subscription.unsubscribe();
    if (how === 'lost') link.cut();
    await time.advance();
    expect(ends).toHaveLength(1);
  });

  it('The end of a call reaches a late subscriber', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.reply(1));
    const { calls } = callsOf(dialer);
    void dialer.request('p');
    await time.advance(50);
    const late = calls.map(({ end$ }) => firstValueFrom(end$));
    expect(await Promise.all(late)).toEqual([{ at: calls[0]?.at, cause: { how: 'ended' } }]);
  });

  it('A subscriber may reset the stream that is being opened, and then no open leaves', async () => {
    const { dialer, acceptor } = createPair();
    const opened: unknown[] = [];
    acceptor.onStream((payload) => void opened.push(payload));
    dialer.calls$.subscribe(({ stream }) => {
      stream.reset(300, 'not now');
    });
    const outcome = settled(dialer.request('p'));
    await time.advance();
    expect(await outcome).toHaveProperty('error.code', 'RESET');
    expect(opened).toEqual([]);
    expect(logs.errors).toEqual([]);
  });

  it('`calls$` is one Observable, which completes when the peer has ended', async () => {
    const { dialer } = createPair();
    expect(dialer.calls$).toBe(dialer.calls$);
    let completed = false;
    dialer.calls$.subscribe({ complete: () => (completed = true) });
    void dialer.close();
    await time.advance();
    expect(completed).toBe(true);
  });
});

describe('Round trips', () => {
  it('A peer knows its last round trip, and emits each one', async () => {
    const { dialer } = createPair({ latencyMs: 15 });
    const seen: number[] = [];
    dialer.rtt$.subscribe((ms) => seen.push(ms));
    expect(dialer.rttMs).toBeNull();
    void dialer.ping();
    await time.advance(30);
    void dialer.ping();
    await time.advance(30);
    expect([seen, dialer.rttMs]).toEqual([[30, 30], 30]);
  });

  it('The pings of keepalive measure a connection that nothing else uses', async () => {
    const { dialer } = createPair({ latencyMs: 15, dialer: { keepalive: { idleMs: 1_000 } } });
    await time.advance(1_031);
    expect(dialer.rttMs).toBe(30);
  });
});
