import { describe, expect, it } from '@jest/globals';
import { Subject } from 'rxjs';
import { Peer } from '../../../src/index.js';
import { Backoff } from '../../../src/peer/dial/backoff.js';
import { Dialer } from '../../../src/peer/dial/dialer.js';
import { GivenSocket } from '../../../src/peer/dial/given-socket.js';
import { resolveOptions } from '../../../src/peer/options.js';
import { PeerCore } from '../../../src/peer/core.js';
import { MemoryLink } from '../../../src/testing/memory-link.js';
import type { Resume } from '../../../src/transport/connectivity.js';
import { W3cTransport } from '../../../src/transport/w3c.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import type { Network } from '../../support/peer/network.js';
import { echoing, spell } from '../../support/peer/dialing.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();

const logs = collectLogs();

describe('Connectivity of a dialing peer', () => {
  function surrounded(network: Network, { url = 'ws://test', lazy = false } = {}) {
    const resumes$ = new Subject<Resume>();
    const connectivity = { offline: false, resumes$ };
    const core = new PeerCore(resolveOptions({ keepalive: { idleMs: 60_000 } }, true));
    const dialer = new Dialer(core, {
      url,
      open: (url, protocol) => new W3cTransport(network.socket(url, protocol)),
      backoff: new Backoff({ minDelayMs: 1_000, maxDelayMs: 1_000, maxAttempts: 3 }),
      hello: undefined,
      helloTimeoutMs: 10_000,
      connectTimeoutMs: 10_000,
      lazy,
      idleCloseMs: 0,
      connectivity,
    });
    const peer = new Peer(core, dialer);
    dialer.start();
    return { peer, connectivity, resumes$ };
  }

  it('A peer without a network dials at the longest delay, spends no attempts, and dials at once when the network returns', async () => {
    const network = echoing();
    const { peer, connectivity, resumes$ } = surrounded(network);
    await time.advance();
    connectivity.offline = true;
    network.answer = { status: null };
    network.last.link.cut();
    expect(peer.status).toMatchObject({ state: 'waiting', attempt: 1, delayMs: 1_000, offline: true });
    await time.advance(999);
    expect(network.dials).toHaveLength(1);
    await time.advance(9_001);
    expect(network.dials).toHaveLength(11);
    expect(spell(peer.status)).toBe('waiting 1 offline');
    // A page that becomes visible does not restore the network.
    resumes$.next('page');
    expect(network.dials).toHaveLength(11);
    connectivity.offline = false;
    network.answer = 'accept';
    resumes$.next('network');
    await time.advance();
    expect([network.dials.length, spell(peer.status)]).toEqual([12, 'open 1']);
    void peer.close();
    await time.advance(5_000);
    expect([resumes$.observed, time.isOver()]).toEqual([false, true]);
  });

  it('A peer that is wrongly reported offline connects all the same', async () => {
    const network = echoing();
    const { peer, connectivity } = surrounded(network);
    await time.advance();
    connectivity.offline = true;
    network.last.link.cut();
    await time.advance(1_000);
    expect([network.dials.length, spell(peer.status)]).toEqual([2, 'open 1']);
    void peer.close();
  });

  it.each([
    ...['ws://localhost:8080', 'ws://127.0.0.1/mux', 'wss://user@[::1]:1/', 'ws://app.localhost?query'].map((url) => [url, 'waiting 2']),
    ...['ws://localhost.example.org', 'ws://127.0.0.1.example.org', 'ws://example.org/localhost', 'ws://localhost@example.org'].map(
      (url) => [url, 'waiting 1 offline'],
    ),
  ])('A peer of %s that is offline is %s: only loopback needs no network', async (url, status) => {
    const network = echoing();
    const { peer, connectivity } = surrounded(network, { url });
    await time.advance();
    connectivity.offline = true;
    network.last.link.cut();
    expect(spell(peer.status)).toBe(status);
    void peer.close();
    await time.advance();
  });

  it('A lazy peer listens to the page from its first dial on', async () => {
    const { peer, resumes$ } = surrounded(echoing(), { lazy: true });
    await time.advance();
    expect(resumes$.observed).toBe(false);
    const answer = peer.request('x');
    await time.advance();
    expect(await answer).toBe('x');
    expect(resumes$.observed).toBe(true);
    void peer.close();
    await time.advance();
    expect(resumes$.observed).toBe(false);
  });

  it.each<[Resume, string, readonly [dials: number, status: string]]>([
    ['network', 'ends the delay', [2, 'connecting 2']],
    ['page', 'does not end the delay', [1, 'waiting 2']],
  ])('A resumed %s probes an open connection, and %s of a waiting peer', async (wake, _what, after) => {
    const network = echoing();
    const { peer, resumes$ } = surrounded(network);
    await time.advance();
    const sent = framesOf(peer);
    resumes$.next(wake);
    expect(sent).toEqual([{ type: 'ping', nonce: expect.any(String) }]);
    network.last.link.cut();
    resumes$.next(wake);
    expect([network.dials.length, spell(peer.status)]).toEqual(after);
    await time.advance(60_000);
    expect([network.dials.length, spell(peer.status)]).toEqual([2, 'open 1']);
    expect(logs.errors).toEqual([]);
    void peer.close();
  });
});

describe('Connectivity of a peer over a given socket', () => {
  it('A resumed page probes a given socket until it ends', async () => {
    const resumes$ = new Subject<Resume>();
    const line = new MemoryLink({ protocol: 'mux.v1.json' });
    const core = new PeerCore(resolveOptions({ keepalive: { idleMs: 60_000 } }, true));
    const peer = new Peer(core, new GivenSocket(core, line.ends.dialer, { offline: false, resumes$ }));
    const sent = framesOf(peer);
    void peer.serve();
    resumes$.next('page');
    expect(sent).toEqual([{ type: 'ping', nonce: expect.any(String) }]);
    line.cut();
    await time.advance();
    expect(resumes$.observed).toBe(false);
  });
});
