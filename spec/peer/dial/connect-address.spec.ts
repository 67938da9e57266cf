import { describe, expect, it } from '@jest/globals';
import { connect } from '../../../src/index.js';
import type { ConnectUrl, DialContext, Peer } from '../../../src/index.js';
import { collectLogs } from '../../support/peer/logs.js';
import { settled } from '../../support/peer/outcome.js';
import { ADDRESS, dialing, echoing } from '../../support/peer/dialing.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();

const logs = collectLogs();

describe('Address function', () => {
  it('An address function runs for each dial, and receives facts of the earlier dials', async () => {
    const network = echoing();
    const contexts: DialContext[] = [];
    const peer = dialing(network, { reconnect: { minDelayMs: 10, maxDelayMs: 10 } }, (context) => {
      contexts.push(context);
      return `${ADDRESS}?${contexts.length}`;
    });
    await time.advance();
    network.last.link.cut({ code: 1011, reason: 'crash' });
    await time.advance(20);
    expect(network.dials.map(({ url }) => url)).toEqual([`${ADDRESS}?1`, `${ADDRESS}?2`]);
    expect(contexts.map(({ attempt, reconnects, last }) => ({ attempt, reconnects, last }))).toEqual([
      { attempt: 1, reconnects: 0, last: null },
      { attempt: 2, reconnects: 1, last: { code: 1011, reason: 'crash', wasClean: false, willRetry: true } },
    ]);
    void peer.close();
    // No dial was aborted: both have opened.
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });

  it('An address function may return a promise, and the dial waits', async () => {
    const network = echoing();
    const peer = dialing(network, {}, async () => {
      await Promise.resolve();
      return new URL(ADDRESS);
    });
    expect(network.dials).toEqual([]);
    const answer = peer.request('p');
    await time.advance();
    expect([network.last.url, await answer]).toEqual([ADDRESS, 'p']);
  });

  const thrown = new Error('no token');

  it.each<[string, ConnectUrl]>([
    [
      'throws',
      () => {
        throw thrown;
      },
    ],
    ['rejects', () => Promise.reject(thrown)],
  ])('An address function that %s makes the dial fail', async (_what, url) => {
    const network = echoing();
    const peer = dialing(network, {}, url);
    await time.advance();
    const reason = { code: 1006, reason: 'no token', wasClean: false, willRetry: false };
    await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT', message: 'no token', reason, cause: thrown });
    expect(await peer.closed).toEqual(reason);
    expect(network.dials).toEqual([]);
  });

  it.each([false, true])('An address function that throws at once still reports to `onClose`, with reconnect %p', async (reconnect) => {
    const peer = dialing(echoing(), { reconnect }, () => {
      throw thrown;
    });
    const reasons: unknown[] = [];
    peer.onClose((reason) => reasons.push(['onClose', reason]));
    peer.closes$.subscribe((reason) => reasons.push(['closes$', reason]));
    expect(peer.status).toEqual({ state: 'connecting', attempt: 1, last: null });
    await time.advance();
    const reason = { code: 1006, reason: 'no token', wasClean: false, willRetry: reconnect };
    expect(reasons).toEqual([
      ['onClose', reason],
      ['closes$', reason],
    ]);
    void peer.close();
  });

  it('An address function that throws at once reports nothing when the peer is closed right after', async () => {
    const peer = dialing(echoing(), {}, () => {
      throw thrown;
    });
    const reasons: unknown[] = [];
    peer.onClose((reason) => reasons.push(reason));
    void peer.close();
    await time.advance();
    expect([reasons, peer.status.state]).toEqual([[], 'closed']);
  });

  it('An address function that failed runs again for the next dial of the reconnect helper', async () => {
    const network = echoing();
    let asked = 0;
    const peer = dialing(network, { reconnect: { minDelayMs: 10, maxDelayMs: 10 } }, () => {
      if (++asked < 3) throw thrown;
      return ADDRESS;
    });
    await time.advance(100);
    expect([asked, peer.status.state]).toEqual([3, 'open']);
  });

  it('The signal of an address function aborts on a time-out and on `close`', async () => {
    const network = echoing();
    const signals: AbortSignal[] = [];
    const never: ConnectUrl = ({ signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    dialing(network, { connectTimeoutMs: 100 }, never);
    const peer = dialing(network, {}, never);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    await time.advance(100);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    void peer.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it('An address function has one signal, which has already aborted when it is first read after the end', async () => {
    const contexts: DialContext[] = [];
    const never: ConnectUrl = (context) => {
      contexts.push(context);
      return new Promise(() => undefined);
    };
    const [asked, unasked] = [dialing(echoing(), {}, never), dialing(echoing(), {}, never)];
    const early = contexts[0]?.signal;
    await Promise.all([asked.close(), unasked.close()]);
    expect(early?.aborted).toBe(true);
    expect(contexts[0]?.signal).toBe(early);
    expect(contexts[1]?.signal.aborted).toBe(true);
  });

  it('An address function that closes the peer prevents the socket', async () => {
    const network = echoing();
    const peers: Peer[] = [];
    const peer = dialing(network, { lazy: true, reconnect: true }, () => {
      void peers[0]?.close();
      return ADDRESS;
    });
    peers.push(peer);
    const outcome = settled(peer.request('p'));
    await time.advance(60_000);
    expect(await outcome).toEqual({ error: expect.objectContaining({ retriable: true }) });
    expect([network.dials, peer.status.state]).toEqual([[], 'closed']);
    expect(time.isOver()).toBe(true);
  });

  it('A socket factory that throws makes the dial fail', async () => {
    const peer = connect(ADDRESS, {
      socket: () => {
        throw new SyntaxError('bad address');
      },
    });
    const reasons: unknown[] = [];
    peer.onClose(({ reason }) => reasons.push(reason));
    await time.advance();
    await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT', message: 'bad address' });
    expect(reasons).toEqual(['bad address']);
    expect(logs.errors).toEqual([]);
  });
});
