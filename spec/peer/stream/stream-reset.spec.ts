import { describe, expect, it } from '@jest/globals';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { opened, read, stays } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();

const logs = collectLogs();

describe('`reset`', () => {
  it.each<[string, unknown[]]>([
    ['a code that is no integer', [1.5]],
    ['a code that is no number', ['CANCEL']],
    ['NaN', [NaN]],
    ['a reason that is no text', [300, 5]],
  ])('`reset` throws a TypeError for %s and resets nothing', async (_what, args) => {
    const { dialer, stream } = opened(stays);
    const sent = framesOf(dialer);
    expect(() => {
      stream.reset(...(args as [number, string]));
    }).toThrow(TypeError);
    await time.advance();
    expect([sent, stream.cause]).toEqual([[], null]);
  });

  it('`reset` with REFUSED is allowed only before the first frame of a remote stream', async () => {
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

  it('`reset` of a closed stream does nothing', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.reply());
    const stream = dialer.open(null, { end: true });
    await time.advance();
    const sent = framesOf(dialer);
    stream.reset(300, 'late');
    await time.advance();
    expect([sent, stream.cause]).toEqual([[], { how: 'ended' }]);
    await expect(stream.send(1)).rejects.toThrow('stream 1: expected nothing to be sent after the end');
    expect(logs.warnings).toHaveLength(1);
  });

  it.each([
    ['a code of the application, with a payload', 300, 'why', { left: 2 }, 'RESET', 300],
    ['a code of the protocol', 6, '', null, 'RESET', 6],
    ['APPLICATION_ERROR', 16, 'no', null, 'RESET', 16],
    ['CANCEL', 8, 'enough', null, 'CANCELLED', undefined],
  ])('Readers receive the code, reason and payload of a local `reset`: %s', async (_what, code, reason, payload, name, resetCode) => {
    const { stream } = opened(stays);
    const seen = read(stream);
    stream.reset(code, reason, payload);
    await time.advance();
    const [error] = seen;
    expect(seen).toHaveLength(1);
    expect(error).toMatchObject({ code: name, streamId: 1 });
    if (resetCode !== undefined) expect(error).toMatchObject({ resetCode, reason, payload });
  });

  it('Readers of a refused stream receive the code of the refusal', async () => {
    const { dialer, acceptor } = createPair();
    const seen: unknown[] = [];
    acceptor.onStream((_, stream) => {
      stream.subscribe({ error: (error: unknown) => seen.push(error) });
      stream.reset(7, 'not here');
    });
    dialer.open();
    await time.advance();
    expect(seen).toEqual([expect.objectContaining({ code: 'RESET', resetCode: 7, reason: 'not here', streamId: 1 })]);
  });

  it('The error of `reset` with REFUSED on a stream that has begun says why', () => {
    const { stream } = opened(stays);
    expect(() => {
      stream.reset(7);
    }).toThrow(new TypeError('reset: expected another code than REFUSED, which vouches that nothing was done, on a stream that has begun'));
  });

  it('`reset` cuts a long reason to 1 024 bytes at a code point', () => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    stream.reset(300, '€'.repeat(400));
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 300, reason: '€'.repeat(341) }]);
  });
});
