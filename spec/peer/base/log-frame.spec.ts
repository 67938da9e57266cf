import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { connect, logger } from '../../../src/index.js';
import { Network } from '../../support/peer/network.js';
import { createPair } from '../../support/peer/tracked.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const lines: string[] = [];

beforeEach(() => {
  lines.length = 0;
  jest.spyOn(console, 'debug').mockImplementation((line: string) => {
    lines.push(line.replace(/peer \d+/, 'peer N'));
  });
});

afterEach(() => {
  logger.level = 'warn';
  jest.restoreAllMocks();
});

async function talk(): Promise<void> {
  const { dialer, acceptor } = createPair();
  acceptor.onStream((_, stream) => stream.reply('secret answer', { headers: { key: 'secret header' }, trailers: { sum: 'secret sum' } }));
  const answers = [dialer.request({ question: 'secret' }, { headers: { token: 'secret' } }), dialer.request('x'.repeat(700_000))];
  await time.advance();
  await Promise.all(answers);
  dialer.open().reset(8, 'the user\u001b[2J left');
  dialer.open().reset(300);
  await time.advance();
  void dialer.close({ reason: 'new version' });
  await time.advance();
}

describe('Frame lines', () => {
  it('Frame lines appear at level debug: one for each frame and side, and one for all fragments of a payload', async () => {
    logger.level = 'debug';
    await talk();
    expect(lines.filter((line) => / tx (?!p[io]ng)/.test(line))).toEqual([
      'rxmux: peer N connection 1 tx open stream 1 end',
      'rxmux: peer N connection 1 tx data stream 1 end',
      'rxmux: peer N connection 1 tx open stream 3 end, 700002 bytes in 11 fragments, 0 ms',
      'rxmux: peer N connection 1 tx data stream 3 end',
      'rxmux: peer N connection 1 tx open stream 5',
      'rxmux: peer N connection 1 tx reset stream 5 CANCEL "the user\\u001b[2J left"',
      'rxmux: peer N connection 1 tx open stream 7',
      'rxmux: peer N connection 1 tx reset stream 7 300',
      'rxmux: peer N connection 1 tx data stream 5 end',
      'rxmux: peer N connection 1 tx data stream 7 end',
      'rxmux: peer N connection 1 tx goaway NO_ERROR last_stream 0 "new version"',
    ]);
    expect(lines.filter((line) => / rx (?!p[io]ng)/.test(line))).toHaveLength(11);
  });

  it('Frame lines contain no payload, headers or trailers, and no control characters of a reason', async () => {
    logger.level = 'debug';
    await talk();
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => line.includes('secret') || line.includes('\u001b'))).toEqual([]);
  });

  it.each(['info', 'warn', 'error', 'silent'] as const)('Frame lines do not appear at level %s', async (level) => {
    logger.level = level;
    await talk();
    expect(lines).toEqual([]);
  });

  it('Frame lines do not count fragments of a payload that a lost connection cut off', async () => {
    logger.level = 'debug';
    const { dialer, link } = createPair();
    dialer.notify('x'.repeat(700_000));
    link.cut();
    await time.advance();
    expect(lines.filter((line) => line.includes('fragments'))).toEqual([]);
  });
});

describe('Connection lines', () => {
  it('Connection lines report each dial, open, wait and close, with the cause and the address without its query', async () => {
    logger.level = 'debug';
    const network = new Network();
    const peer = connect('ws://user:pw@host.test/mux?token=secret', {
      socket: network.socket,
      reconnect: { minDelayMs: 10, maxDelayMs: 10 },
    });
    await time.advance();
    network.last.link.cut();
    await time.advance(20);
    void peer.close();
    await time.advance();
    const told = lines.filter((line) => line.includes('(ws://host.test/mux)') && !/ [tr]x /.test(line));
    expect(told.map((line) => line.replace('rxmux: peer N (ws://host.test/mux) ', '').replace(/in \d+ ms/, 'in N ms'))).toEqual([
      'connects, attempt 1',
      'connection 1 opened',
      'is open',
      'connection 1 ended: 1006 ABNORMAL without a close handshake',
      'dials again in N ms, after 1006 ABNORMAL without a close handshake',
      'connects, attempt 2, after 1006 ABNORMAL without a close handshake',
      'connection 2 opened',
      'is open, sockets before: 1',
      'drains: close() was called',
      'connection 2 ended: 1000 CLEAN',
      'is closed: 1000 CLEAN',
    ]);
    expect(lines.filter((line) => line.includes('secret') || line.includes('pw'))).toEqual([]);
  });
});
