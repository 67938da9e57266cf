import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { connect } from '../../src/index.js';
import { serve } from '../../src/node.js';
import { createPair } from '../../src/testing.js';
import { Network } from '../support/peer/network.js';
import { virtualPeerTime } from '../support/peer/time.js';

const time = virtualPeerTime();
const plain = (value: object): string => inspect(value).replace(/\d+/, 'N');

describe('Inspected peers and streams', () => {
  it('Inspecting a peer in Node shows its address, state, side and counts', async () => {
    const network = new Network({ onStream: (_, stream) => stream.closed });
    const peer = connect('ws://host.test/mux?token=secret', { socket: network.socket });
    peer.open({ secret: 1 }, { headers: { secret: 1 } });
    expect(plain(peer)).toBe(
      `Peer N (ws://host.test/mux) { state: connecting, dialer, streams: 1, bufferedAmount: ${peer.bufferedAmount} }`,
    );
    await time.advance();
    expect(plain(peer)).toBe('Peer N (ws://host.test/mux) { state: open, dialer, streams: 1, bufferedAmount: 0 }');
    expect(String(network.last.peer)).toMatch(/^Peer \d+ \{ state: open, acceptor, streams: 1, bufferedAmount: 0 \}$/);
    void peer.close({ drainMs: 0 });
    await time.advance();
  });

  it('Inspecting a stream in Node shows its id, side and phase, and no payload or header', async () => {
    const { dialer, acceptor } = createPair();
    const shown: string[] = [];
    acceptor.onStream((_, stream) => {
      shown.push(inspect(stream));
    });
    const stream = dialer.open({ secret: 1 }, { headers: { secret: 1 } });
    await time.advance();
    expect([...shown, inspect(stream)]).toEqual([
      'Stream 1 { opened by the remote, phase: open }',
      'Stream 1 { opened by this side, phase: closed }',
    ]);
    const queued = connect('ws://test', { lazy: true, socket: new Network().socket }).open();
    expect(String(queued)).toBe('Stream { opened by this side, phase: idle }');
    queued.peer.close().catch(() => undefined);
    await time.advance();
  });
});

describe('An inspected server', () => {
  it('Inspecting a server in Node shows its address, its number of peers, and whether it drains', async () => {
    const server = serve({ port: 0, host: '127.0.0.1' });
    expect(inspect(server)).toMatch(/^MuxServer \{ at: .*, peers: 0, taking peers \}$/);
    await server.listening;
    expect(String(server)).toMatch(/^MuxServer \{ at: 127\.0\.0\.1 port \d+, peers: 0, taking peers \}$/);
    await server.close();
    expect(inspect(server)).toBe('MuxServer { at: no address, peers: 0, draining }');
  });
});
