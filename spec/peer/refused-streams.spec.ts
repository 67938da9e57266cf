import { describe, expect, it } from '@jest/globals';
import { connect, Peer } from '../../src/index.js';
import { warnOfRefusal } from '../../src/peer/log.js';
import type { RefusalLines } from '../../src/peer/log.js';
import { createPair, createServer } from '../../src/testing.js';
import { linkOf } from '../../src/testing/link.js';
import { MemoryLink } from '../../src/testing/memory-link.js';
import { MemorySocket } from '../../src/testing/memory-socket.js';
import { LazyMap } from '../../src/util/collections.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';
import { virtualPeerTime } from '../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

/** A peer of `new Peer(socket)` before its `serve`, at one end of a line. */
function unserved(side: 'dialer' | 'acceptor'): { line: MemoryLink; peer: Peer } {
  const line = new MemoryLink({ protocol: 'mux.v1.json' });
  return { line, peer: new Peer(new MemorySocket(line.ends[side], null), { isDialer: side === 'dialer', keepalive: false }) };
}

describe('Peer that refuses a stream', () => {
  it('A peer warns once a minute of notifies that are too large, with a count', async () => {
    const { dialer } = createPair({ limits: { maxPayloadBytes: 100_000 } });
    const notify = async (times: number): Promise<void> => {
      for (let nth = 0; nth < times; nth++) dialer.notify('x'.repeat(200_000));
      await time.advance();
    };
    await notify(5);
    await time.advance(60_000);
    await notify(2);
    expect(logs.warnings.map((line) => line.replace(/peer \d+/, 'peer N'))).toEqual([
      expect.stringMatching(/^rxmux: peer N refused a stream with PAYLOAD_TOO_LARGE: payload of at least \d+ bytes .*\(maxPayloadBytes\)$/),
      expect.stringContaining('PAYLOAD_TOO_LARGE, and 4 more since the line before: '),
    ]);
  });

  /** The log's lines without their peers. */
  const lines = (): readonly string[] => logs.warnings.map((line) => line.replace(/peer \d+[^:]* refused/, 'peer N refused'));

  it('All peers of one server share a line a minute, and a second server has its own', async () => {
    const dialed: Peer[] = [];
    for (const server of [createServer(), createServer()])
      for (let nth = 0; nth < 5; nth++) dialed.push(connect('ws://test', { socket: server.socket, keepalive: false }));
    await time.advance();
    for (const peer of dialed) peer.notify('p');
    await time.advance();
    expect(lines()).toEqual(Array(2).fill(expect.stringContaining('refused a stream with REFUSED: no handler took this stream')));
    for (const peer of dialed) void peer.close();
    await time.advance(5_000);
  });

  it('Another reason of the same code has a line of its own', async () => {
    const { dialer, acceptor } = createPair({ acceptor: { limits: { maxStreams: 1 } } });
    dialer.notify('p');
    await time.advance();
    acceptor.onStream(() => new Promise(() => undefined));
    for (let nth = 0; nth < 3; nth++) void dialer.open('p');
    await time.advance();
    expect(lines()).toEqual([
      expect.stringContaining('REFUSED: no handler took this stream'),
      expect.stringContaining('REFUSED: more than 1 streams (maxStreams)'),
    ]);
  });

  it('A remote that chooses the reasons gets a few lines a minute, and then one', () => {
    const kinds: RefusalLines = new LazyMap();
    for (let nth = 0; nth < 1_000; nth++) {
      warnOfRefusal(kinds, 'peer 1', 1, `no '${nth}'; did you mean 'x'?`);
      warnOfRefusal(kinds, 'peer 1', 1, `no ${'x'.repeat(nth)}`);
    }
    expect(kinds.size).toBeLessThan(25);
    expect(logs.warnings.length).toBeLessThan(25);
  });

  it('A peer warns of a notify without a handler', async () => {
    createPair().dialer.notify('p');
    await time.advance();
    expect(logs.warnings).toEqual([expect.stringContaining('refused a stream with REFUSED: no handler took this stream')]);
  });

  it('A peer does not warn of an upload that it stops after its answer', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.reply('r'));
    dialer.open('p');
    await time.advance();
    expect(logs.warnings).toEqual([]);
  });
});

describe('Peer made with `new Peer(socket)`', () => {
  it('A peer made with `new Peer` warns once of calls that wait for `serve`', async () => {
    const { line, peer } = unserved('dialer');
    expect(linkOf(line, peer.codec)).toBeDefined();
    peer.notify('p');
    peer.notify('q');
    await time.advance();
    expect(logs.warnings).toEqual([expect.stringContaining('a call waits for peer.serve()')]);
    void peer.close();
    await time.advance();
  });

  it('A peer made with `new Peer` warns once when a message of the remote waits for `serve`', async () => {
    const { line, peer } = unserved('acceptor');
    peer.onStream((payload, stream) => stream.reply(payload));
    line.ends.dialer.send('{"type":"open","stream":1,"payload":1,"end":true}');
    await time.advance();
    line.ends.dialer.send('{"type":"open","stream":3,"payload":1,"end":true}');
    await time.advance();
    expect(logs.warnings).toEqual([expect.stringContaining('a message of the remote waits for peer.serve()')]);
    void peer.close();
    await time.advance();
  });

  it('A peer made with `new Peer` does not warn of messages after `serve`', async () => {
    const { line, peer } = unserved('acceptor');
    void peer.serve((payload, stream) => stream.reply(payload));
    line.ends.dialer.send('{"type":"open","stream":1,"payload":1,"end":true}');
    await time.advance();
    expect(logs.warnings).toEqual([]);
    void peer.close();
    await time.advance();
  });

  it('The deadline error of a call says that `serve` was not called', async () => {
    const { peer } = unserved('dialer');
    const outcome = settled(peer.request('p', { timeoutMs: 5 }));
    await time.advance(10);
    expect(await outcome).toMatchObject({
      error: { code: 'DEADLINE_EXCEEDED', retriable: true, message: expect.stringContaining('serve() was not called') },
    });
    void peer.close();
    await time.advance();
  });

  it('A peer made with `new Peer` does not warn of a call when `serve` follows in the same turn', async () => {
    const { peer } = unserved('dialer');
    peer.notify('p');
    void peer.serve();
    await time.advance();
    expect(logs.warnings).toEqual([]);
    void peer.close();
    await time.advance();
  });
});
