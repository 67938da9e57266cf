import { describe, expect, it } from '@jest/globals';
import type { PeerOptions } from '../../../src/peer/options.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { read } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

describe('Stream of the remote as an Observable', () => {
  async function received(limits: PeerOptions['limits'] = {}) {
    const { dialer, acceptor } = createPair({ acceptor: { limits } });
    const streams: Stream[] = [];
    acceptor.onStream((_, stream) => {
      streams.push(stream);
      return new Promise(() => undefined);
    });
    const sent = framesOf(acceptor);
    const local = dialer.open();
    await time.advance();
    const [stream] = streams;
    if (stream === undefined) throw new Error('expected a stream');
    return { local, stream, sent };
  }

  it('A stream of the remote is not reset when its last subscriber leaves: it drops later values', async () => {
    const { local, stream, sent } = await received();
    const first = read(stream, 1);
    void local.send(1);
    void local.send(2);
    await time.advance();
    expect([first, sent, stream.phase]).toEqual([[1, 'complete'], [], 'open']);
    const second = read(stream);
    void local.reply(3);
    await time.advance();
    expect(second).toEqual([3, 'complete']);
  });

  it('A second reader causes one warning for values that came while no subscriber read', async () => {
    const { local, stream } = await received();
    stream.subscribe().unsubscribe();
    void local.send(1);
    await time.advance();
    const seen = [read(stream), read(stream)];
    void local.reply(2);
    await time.advance();
    expect([seen, logs.warnings]).toEqual([
      [
        [2, 'complete'],
        [2, 'complete'],
      ],
      [expect.stringContaining('has missed the payloads between')],
    ]);
  });

  it('A stream whose last reader has left counts no unread bytes', async () => {
    const { local, stream } = await received({ maxUnreadBytes: 1_000 });
    stream.subscribe().unsubscribe();
    for (let n = 0; n < 100; n++) void local.send('x'.repeat(500));
    await time.advance();
    expect(stream.phase).toBe('open');
  });

  it('A stream of the remote errors when the remote resets it', async () => {
    const { local, stream } = await received();
    const seen = read(stream);
    local.reset(300, 'why', { a: 1 });
    await time.advance();
    expect(seen).toEqual([expect.objectContaining({ code: 'RESET', resetCode: 300, reason: 'why', payload: { a: 1 }, streamId: 1 })]);
  });
});
