import { describe, expect, it } from '@jest/globals';
import { Subject, throwError } from 'rxjs';
import type { Peer } from '../../../src/peer/peer.js';
import type { Stream } from '../../../src/peer/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { ABSENT } from '../../../src/wire/frame.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { opened, stays } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();

const logs = collectLogs();

describe('a value that comes too late', () => {
  it.each<[string, (stream: Stream) => Promise<void>]>([
    ['send', (stream) => stream.send(1)],
    ['reply', (stream) => stream.reply(1)],
    ['end', (stream) => stream.end()],
  ])('makes %s reject with a state error, which need not be handled, and warns once', async (_call, late) => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    await stream.end();
    void late(stream);
    await expect(late(stream)).rejects.toMatchObject({ code: 'PROTOCOL', message: expect.stringContaining('stream 1') });
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true }]);
    expect(logs.warnings).toEqual(['rxmux: stream 1: a value was sent after the end and is lost']);
    await time.advance();
  });

  it.each<[string, (dialer: Peer) => unknown]>([
    ['', (dialer) => dialer.request().catch(() => undefined)],
    [', which has stopped an upload,', (dialer) => dialer.open()],
  ])('after the implicit end%s is lost with a warning that says how to answer later', async (_which, call) => {
    const streams: Stream[] = [];
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      streams.push(stream);
    });
    call(dialer);
    await time.advance();
    await expect(streams[0]?.send(1)).rejects.toMatchObject({ code: 'PROTOCOL' });
    expect(logs.warnings).toEqual([
      'rxmux: stream 1: a value was sent after the end and is lost; to answer later than the handler settles, return a promise from it or use respond()',
    ]);
  });

  it.each<[string, (stream: Stream) => void, object]>([
    [
      'this side has reset',
      (stream) => {
        stream.reset(300, 'why');
      },
      { code: 'RESET', resetCode: 300 },
    ],
    [
      'this side has cancelled',
      (stream) => {
        stream.reset();
      },
      { code: 'CANCELLED' },
    ],
  ])('on a stream that %s rejects with that, without a warning', async (_what, before, error) => {
    const { stream } = opened(stays);
    before(stream);
    await expect(stream.send(1)).rejects.toMatchObject(error);
    expect(logs.warnings).toEqual([]);
  });

  it.each<[string, (stream: Stream) => unknown, object]>([
    ['ended', (stream) => stream.end(), { code: 'PROTOCOL' }],
    ['reset', (stream) => stream.reset(300, 'why'), { code: 'RESET', resetCode: 300 }],
    ['cancelled', (stream) => stream.reset(), { code: 'CANCELLED' }],
  ])('because the stream is %s while the value is encoded, rejects as one that comes after it', async (_what, before, error) => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    const toJSON = (): string => {
      before(stream);
      return 'late';
    };
    await expect(stream.send({ toJSON })).rejects.toMatchObject(error);
    expect(sent.filter(({ payload }) => payload !== undefined)).toEqual([]);
  });

  it('because a reply-headers interceptor has ended the peer, rejects as one that comes after it', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.interceptReplyHeaders(() => {
      void acceptor.close();
    });
    const outcomes: unknown[] = [];
    acceptor.onStream((_, stream) => stream.reply('late').catch((error: unknown) => outcomes.push(error)));
    void dialer.request().catch(() => undefined);
    await time.advance();
    expect(outcomes).toMatchObject([{ code: 'CANCELLED' }]);
  });

  it('is not the same as an input that gives nothing more, and completes: nothing is warned of', async () => {
    const { stream } = opened(stays);
    const input$ = new Subject<number>();
    const sent = stream.sendAll(input$);
    input$.next(1);
    void stream.end();
    input$.complete();
    await expect(sent).resolves.toBeUndefined();
    expect(logs.warnings).toEqual([]);
  });

  it('on a stream whose input has failed with what is no Error rejects with that, without a warning', async () => {
    const { stream } = opened(stays);
    const thrown: unknown = 'text';
    await stream.sendAll(throwError(() => thrown)).catch(() => undefined);
    await expect(stream.send(1)).rejects.toBe(thrown);
    expect(logs.warnings).toEqual([]);
  });

  it('on a stream that the remote has reset rejects with that reset', async () => {
    const { stream } = opened((_, remote) => {
      remote.reset(300, 'why');
    });
    await time.advance();
    await expect(stream.send(1)).rejects.toMatchObject({ code: 'RESET', resetCode: 300, reason: 'why' });
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['ABSENT', ABSENT],
    ['a value the codec cannot represent', 1n],
  ])('is not the same as %s, for which send throws at once', async (_what, value) => {
    const { stream } = opened((_, remote) => remote.sendAll(remote));
    const seen: unknown[] = [];
    stream.subscribe((echo) => seen.push(echo));
    expect(() => stream.send(value)).toThrow(TypeError);
    void stream.send('next');
    await time.advance();
    expect([seen, stream.phase]).toEqual([['next'], 'open']);
  });

  it('is not the same as trailers that fail: reply throws, nothing is sent, and the stream goes on', async () => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    stream.setTrailers(() => {
      throw new Error('no trailers');
    });
    expect(() => stream.reply(1)).toThrow('no trailers');
    stream.setTrailers(() => Promise.reject(new Error('nobody sees this')));
    expect(() => stream.reply(1)).toThrow(TypeError);
    expect([sent, stream.phase]).toEqual([[], 'open']);
    await stream.reply(2, { trailers: { ok: true } });
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true, payload: 2, trailers: { ok: true } }]);
  });

  it.each<[call: string, fails: (stream: Stream) => unknown]>([
    ['a reply with a value the codec cannot represent', (stream) => stream.reply(1n, { trailers: { of: 'the reply that failed' } })],
    [
      'a reply with headers that come too late',
      (stream) => stream.reply(1, { headers: { a: 1 }, trailers: { of: 'the reply that failed' } }),
    ],
    ['an end with trailers that fit no frame', (stream) => stream.end({ trailers: { much: 'x'.repeat(100_000) } })],
  ])('is not the same as %s, which leaves none of its trailers to the next end', async (_call, fails) => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    stream.setTrailers({ rows: 1 });
    expect(() => fails(stream)).toThrow();
    await stream.end();
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true, trailers: { rows: 1 } }]);
  });
});
