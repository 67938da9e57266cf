import { describe, expect, it } from '@jest/globals';
import { connect } from '../../../src/index.js';
import type { ConnectOptions, Peer } from '../../../src/index.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Network } from '../../support/peer/network.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { otherPlatform } from '../../support/platform/globals.js';

describe('A page with many sockets to one address', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();
  const pretend = otherPlatform();

  /** Adds a WebSocket in memory to the platform, and the document of a page. */
  function platform(globals: object = { document: {} }): Network {
    const network = new Network();
    pretend({
      ...globals,
      WebSocket: function (url: string, protocol: string) {
        return network.socket(url, protocol);
      },
    });
    return network;
  }

  async function dialed(url: string, count: number, options: ConnectOptions = {}): Promise<readonly Peer[]> {
    const peers = Array.from({ length: count }, () => connect(url, { keepalive: false, ...options }));
    await time.advance();
    return peers;
  }

  async function closed(peers: readonly Peer[]): Promise<void> {
    for (const peer of peers) void peer.close();
    await time.advance(5_000);
  }

  it('The log warns once, at the fifth, with the remedy', async () => {
    platform();
    const four = await dialed('ws://one.test/mux?token=secret', 4);
    expect(logs.warnings).toEqual([]);
    const more = await dialed('ws://one.test/mux?token=other', 8);
    expect(logs.warnings).toEqual(['rxmux: 5 sockets to ws://one.test/mux: call connect() once, outside of components']);
    await closed(more);
    const again = await dialed('ws://one.test/mux', 8);
    await closed([...four, ...again]);
    expect(logs.warnings).toHaveLength(1);
  });

  it('The log does not warn of peers that were closed, or that dial other addresses', async () => {
    platform();
    for (let n = 0; n < 4; n++) await closed(await dialed('ws://two.test', 3));
    const others = await Promise.all(Array.from({ length: 8 }, (_, n) => dialed(`ws://two.test/${n}`, 1)));
    await closed(others.flat());
    expect(logs.warnings).toEqual([]);
  });

  it('The log does not warn of one peer that dials again and again', async () => {
    const network = platform();
    const [peer] = await dialed('ws://three.test', 1, { reconnect: { minDelayMs: 1, maxDelayMs: 1 } });
    for (let n = 0; n < 10; n++) {
      network.last.link.cut();
      await time.advance(10);
    }
    expect([network.dials.length, peer?.status.state]).toEqual([11, 'open']);
    await closed(peer === undefined ? [] : [peer]);
    expect(logs.warnings).toEqual([]);
  });

  it('The log does not warn of a pool of a program of Node, or of sockets of your own', async () => {
    const network = platform({});
    await closed(await dialed('ws://four.test', 8));
    platform();
    await closed(await dialed('ws://four.test', 8, { socket: network.socket }));
    expect(logs.warnings).toEqual([]);
  });
});
