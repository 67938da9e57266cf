import { describe, expect, it } from '@jest/globals';
import { Subject, throwError } from 'rxjs';
import type { Peer } from '../../../src/peer/peer.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { ABSENT } from '../../../src/wire/frame.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { opened, stays } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();

const logs = collectLogs();

describe('Late value', () => {
  it.each<[string, (stream: Stream) => Promise<void>]>([
    ['send', (stream) => stream.send(1)],
    ['reply', (stream) => stream.reply(1)],
    ['end', (stream) => stream.end()],
  ])('A late %s rejects with a state error, which may stay unhandled, and warns once', async (_call, late) => {
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
    [' that has stopped an upload', (dialer) => dialer.open()],
  ])('A value after an implicit end%s is lost with a warning that says how to answer later', async (_which, call) => {
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
  ])('A value on a stream that %s rejects with the cause, without a warning', async (_what, before, error) => {
    const { stream } = opened(stays);
    before(stream);
    await expect(stream.send(1)).rejects.toMatchObject(error);
    expect(logs.warnings).toEqual([]);
  });

  it.each<[string, (stream: Stream) => unknown, object]>([
    ['ended', (stream) => stream.end(), { code: 'PROTOCOL' }],
    ['reset', (stream) => stream.reset(300, 'why'), { code: 'RESET', resetCode: 300 }],
    ['cancelled', (stream) => stream.reset(), { code: 'CANCELLED' }],
  ])('A value whose stream is %s while it is encoded rejects like a later value', async (_what, before, error) => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    const toJSON = (): string => {
      before(stream);
      return 'late';
    };
    await expect(stream.send({ toJSON })).rejects.toMatchObject(error);
    expect(sent.filter(({ payload }) => payload !== undefined)).toEqual([]);
  });

  it('A value rejects like a later value when a reply-headers interceptor has closed the peer', async () => {
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

  it('An input that emits no value after the end of its stream completes without a warning', async () => {
    const { stream } = opened(stays);
    const input$ = new Subject<number>();
    const sent = stream.sendAll(input$);
    input$.next(1);
    void stream.end();
    input$.complete();
    await expect(sent).resolves.toBeUndefined();
    expect(logs.warnings).toEqual([]);
  });

  it('A value on a stream whose input failed with a text rejects with that text, without a warning', async () => {
    const { stream } = opened(stays);
    const thrown: unknown = 'text';
    await stream.sendAll(throwError(() => thrown)).catch(() => undefined);
    await expect(stream.send(1)).rejects.toBe(thrown);
    expect(logs.warnings).toEqual([]);
  });

  it('A value on a stream that the remote has reset rejects with the reset', async () => {
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
  ])('`send` throws at once for %s, and the stream stays open', async (_what, value) => {
    const { stream } = opened((_, remote) => remote.sendAll(remote));
    const seen: unknown[] = [];
    stream.subscribe((echo) => seen.push(echo));
    expect(() => stream.send(value)).toThrow(TypeError);
    void stream.send('next');
    await time.advance();
    expect([seen, stream.phase]).toEqual([['next'], 'open']);
  });

  it('`reply` throws when its trailers fail, sends nothing, and leaves the stream open', async () => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    stream.setTrailers(() => {
      throw new Error('no trailers');
    });
    expect(() => stream.reply(1)).toThrow('no trailers');
    stream.setTrailers(() => Promise.reject(new Error('the caller does not see this')));
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
  ])('No trailers of %s stay for the next end', async (_call, fails) => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    stream.setTrailers({ rows: 1 });
    expect(() => fails(stream)).toThrow();
    await stream.end();
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true, trailers: { rows: 1 } }]);
  });
});
