import { describe, expect, it } from '@jest/globals';
import { connect } from '../../../src/index.js';
import type { ConnectUrl, DialContext, Peer } from '../../../src/index.js';
import { collectLogs } from '../../support/peer/logs.js';
import { settled } from '../../support/peer/outcome.js';
import { ADDRESS, dialing, echoing } from '../../support/peer/dialing.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();

const logs = collectLogs();

describe('an address that is a function', () => {
  it('is asked for each dial, with what is known of those before it', async () => {
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
    // Neither was given up: both have opened.
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });

  it('may take its time, and is waited for', async () => {
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
  ])('that %s is a failed dial', async (_what, url) => {
    const network = echoing();
    const peer = dialing(network, {}, url);
    await time.advance();
    const reason = { code: 1006, reason: 'no token', wasClean: false, willRetry: false };
    await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT', message: 'no token', reason, cause: thrown });
    expect(await peer.closed).toEqual(reason);
    expect(network.dials).toEqual([]);
  });

  it.each([false, true])(
    'that throws at once fails no sooner than one that rejects: onClose is told, with the helper %p',
    async (reconnect) => {
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
    },
  );

  it('that throws at once is not reported where the peer is closed right after', async () => {
    const peer = dialing(echoing(), {}, () => {
      throw thrown;
    });
    const reasons: unknown[] = [];
    peer.onClose((reason) => reasons.push(reason));
    void peer.close();
    await time.advance();
    expect([reasons, peer.status.state]).toEqual([[], 'closed']);
  });

  it('is asked again by the reconnect helper when it has failed', async () => {
    const network = echoing();
    let asked = 0;
    const peer = dialing(network, { reconnect: { minDelayMs: 10, maxDelayMs: 10 } }, () => {
      if (++asked < 3) throw thrown;
      return ADDRESS;
    });
    await time.advance(100);
    expect([asked, peer.status.state]).toEqual([3, 'open']);
  });

  it('is told by its signal that the dial is given up: on a time-out, and on close()', async () => {
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

  it('has one signal, which has aborted where it is asked for when all is over', async () => {
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

  it('may close the peer: no socket is made then', async () => {
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

  it('whose socket factory throws is a failed dial', async () => {
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
