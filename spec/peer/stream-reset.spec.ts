import { describe, expect, it } from '@jest/globals';
import { createPair } from '../../src/testing.js';
import { framesOf } from '../support/peer-frames.js';
import { opened, stays } from '../support/peer-streams.js';
import { virtualPeerTime } from '../support/peer-time.js';

const time = virtualPeerTime();

describe('reset()', () => {
  it.each<[string, unknown[]]>([
    ['a code that is no integer', [1.5]],
    ['a code that is no number', ['CANCEL']],
    ['NaN', [NaN]],
    ['a reason that is no text', [300, 5]],
  ])('throws TypeError for %s, and resets nothing', async (_what, args) => {
    const { dialer, stream } = opened(stays);
    const sent = framesOf(dialer);
    expect(() => {
      stream.reset(...(args as [number, string]));
    }).toThrow(TypeError);
    await time.advance();
    expect([sent, stream.cause]).toEqual([[], null]);
  });

  it('with REFUSED vouches that nothing was done: only before the first frame of a stream of the remote', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => {
      if (payload === 'begun') void stream.send(1);
      if (payload === 'begun')
        expect(() => {
          stream.reset(7);
        }).toThrow(TypeError);
      else stream.reset(7, 'not here');
    });
    const streams = ['begun', 'fresh'].map((payload) => dialer.open(payload, { end: true }));
    expect(() => {
      streams[0]?.reset(7);
    }).toThrow(TypeError);
    await time.advance();
    expect(streams.map((stream) => stream.cause)).toEqual([
      { how: 'ended' },
      { how: 'reset', by: 'remote', code: 7, reason: 'not here', payload: null },
    ]);
  });

  it('does nothing on a stream that is closed', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.reply());
    const stream = dialer.open(null, { end: true });
    await time.advance();
    const sent = framesOf(dialer);
    stream.reset(300, 'late');
    await time.advance();
    expect([sent, stream.cause]).toEqual([[], { how: 'ended' }]);
  });

  it('cuts a long reason to 1 024 bytes at a code point', () => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    stream.reset(300, '€'.repeat(400));
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 300, reason: '€'.repeat(341) }]);
  });
});
