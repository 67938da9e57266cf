import { describe, expect, it } from '@jest/globals';
import type { CloseOptions, CloseReason } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';
import { pair } from '../support/peer/pairs.js';
import { stays } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { CountedCode, PLACES } from '../support/peer/user-code.js';
import type { UserPlace } from '../support/peer/user-code.js';

const time = virtualPeerTime();

const logs = collectLogs();

const CLEAN: CloseReason = { code: 1000, reason: '', wasClean: true, willRetry: false };

describe('close()', () => {
  it('`close` returns the promise of `closed`', async () => {
    const { dialer } = pair();
    expect(dialer.close()).toBe(dialer.closed);
    await time.advance();
    expect(await dialer.closed).toEqual(CLEAN);
  });

  it('`close` delivers everything accepted before it', async () => {
    const got: unknown[] = [];
    const { dialer } = pair((payload) => got.push(payload));
    dialer.notify('x');
    void dialer.close();
    await time.advance();
    expect(got).toEqual(['x']);
  });

  it('`close` writes everything queued first, even when the socket is full', async () => {
    const got: unknown[] = [];
    const { dialer, link } = pair((payload) => got.push((payload as string).length));
    link.stall('acceptor');
    for (let n = 0; n < 4; n++) dialer.notify('x'.repeat(900_000));
    void dialer.close();
    await time.advance(500);
    link.resume('acceptor');
    await time.advance(1_000);
    expect(got).toEqual([900_000, 900_000, 900_000, 900_000]);
    expect(await dialer.closed).toEqual(CLEAN);
  });

  it('`close` refuses new streams: calls of this side fail, and the remote gets REFUSED', async () => {
    const { dialer, acceptor } = pair();
    dialer.onStream(stays);
    const live = dialer.open('live');
    await time.advance();
    void dialer.close({ drainMs: 1_000 });
    expect(await settled(dialer.request('new'))).toEqual({
      error: expect.objectContaining({ code: 'REFUSED', resetCode: null, retriable: true, streamId: null }),
    });
    // The goaway has not reached the remote yet.
    const push = settled(acceptor.request('push'));
    await time.advance();
    expect(await push).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: true }) });
    expect([live.phase, acceptor.status]).toEqual(['open', { state: 'draining', by: 'remote' }]);
  });

  it.each<[string, object, string]>([
    ['code', { code: '8' }, "close: expected an integer for a code, got '8'"],
    ['reason', { reason: new Error('why') }, 'close: expected a string for a reason, got object'],
  ])('`close` refuses a %s of the wrong type and closes nothing', async (_what, options, message) => {
    const { dialer } = createPair();
    await time.advance();
    expect(() => dialer.close(options)).toThrow(new TypeError(message));
    expect(dialer.status.state).toBe('open');
  });

  it('`close` waits up to `drainMs` for live streams, and stops waiting when the last one ends', async () => {
    const { dialer, streams } = pair();
    const stream = dialer.open('p', { end: true });
    stream.subscribe();
    await time.advance();
    void dialer.close({ drainMs: 10_000 });
    await time.advance(5_000);
    expect(dialer.status.state).toBe('draining');
    void streams[0]?.reply('in time');
    await time.advance();
    expect([stream.cause, dialer.status.state]).toEqual([{ how: 'ended' }, 'closed']);
    expect(time.isOver()).toBe(true);
  });

  it('`close` resets the streams left after `drainMs` with CANCEL, and their consumers see CancelledError', async () => {
    const { dialer, sent } = pair();
    const errors: unknown[] = [];
    dialer.open('p').subscribe({ error: (error: unknown) => errors.push(error) });
    await time.advance();
    void dialer.close({ drainMs: 1_000 });
    await time.advance(999);
    expect(errors).toEqual([]);
    await time.advance(1);
    expect(errors).toEqual([expect.objectContaining({ code: 'CANCELLED', streamId: 1, retriable: false })]);
    expect(sent.slice(1)).toEqual([
      { type: 'goaway', code: 0, last_stream: 0 },
      { type: 'reset', stream: 1, code: 8, reason: 'the connection is closing' },
    ]);
    await time.advance();
    expect(await dialer.closed).toEqual(CLEAN);
  });

  it('The goaway of `close` names the highest stream whose handler was invoked, or 0', async () => {
    const { dialer, acceptor } = pair();
    const sent = framesOf(acceptor);
    dialer.open('one');
    dialer.open('two');
    await time.advance();
    void acceptor.close({ drainMs: 100 });
    expect(sent).toEqual([{ type: 'goaway', code: 0, last_stream: 3 }]);
    const other = pair();
    const none = framesOf(other.acceptor);
    void other.acceptor.close();
    expect(none).toEqual([{ type: 'goaway', code: 0, last_stream: 0 }]);
  });

  it('A second `close` sends no second goaway', async () => {
    const { dialer, sent } = pair();
    dialer.open('p');
    await time.advance();
    void dialer.close({ drainMs: 1_000 });
    void dialer.close({ drainMs: 1_000 });
    await time.advance(2_000);
    void dialer.close();
    expect(sent.filter((frame) => frame['type'] === 'goaway')).toHaveLength(1);
    expect(dialer.status.state).toBe('closed');
  });

  it.each<[unknown, string]>([
    [null, 'close: expected { drainMs, code, reason }, got null'],
    [5, 'close: expected { drainMs, code, reason }, got 5'],
    [{ drainMs: -1 }, 'drainMs: expected a number of at least 0, got -1'],
  ])('`close` refuses %p as options, and the peer stays open', (options, message) => {
    const { dialer } = pair();
    expect(() => dialer.close(options as CloseOptions)).toThrow(new TypeError(message));
    expect(dialer.status.state).toBe('open');
  });

  it.each<[string, number, number, number]>([
    ['shortens', 10_000, 500, 500],
    ['does not lengthen', 500, 10_000, 500],
  ])('A second `close` %s the drain', async (_what, first, second, ms) => {
    const { dialer } = pair();
    dialer.open('p').subscribe({ error: () => undefined });
    await time.advance();
    void dialer.close({ drainMs: first });
    void dialer.close({ drainMs: second });
    await time.advance(ms - 1);
    expect(dialer.status.state).toBe('draining');
    await time.advance(1);
    expect(dialer.status.state).toBe('closed');
  });

  it('`close` with `drainMs` Infinity waits until a second call', async () => {
    const { dialer } = pair();
    dialer.open('p').subscribe({ error: () => undefined });
    await time.advance();
    void dialer.close({ drainMs: Infinity });
    await time.advance(86_400_000);
    expect(dialer.status.state).toBe('draining');
    void dialer.close();
    await time.advance();
    expect(dialer.status.state).toBe('closed');
  });

  it.each([-1, NaN, '1' as unknown as number])('`close` throws a TypeError for `drainMs` %p and closes nothing', async (drainMs) => {
    const { dialer, sent } = pair();
    expect(() => dialer.close({ drainMs })).toThrow(TypeError);
    await time.advance();
    expect([sent, dialer.status.state]).toEqual([[], 'open']);
  });

  it('`close` terminates a socket that moves no bytes for 2 s', async () => {
    const { dialer, link } = pair();
    await time.advance();
    link.stall('acceptor');
    void dialer.close();
    await time.advance(1_900);
    expect(dialer.status.state).toBe('draining');
    await time.advance(200);
    expect(await dialer.closed).toMatchObject({ code: 1006, wasClean: false });
    expect(time.isOver()).toBe(true);
  });

  it('A stream rejects a `send` after `close` as cancelled', async () => {
    const { dialer } = pair();
    const stream = dialer.open('p');
    stream.subscribe({ error: () => undefined });
    await time.advance();
    void dialer.close();
    await expect(stream.send('late')).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(logs.warnings).toEqual([]);
  });

  it.each(<const>[
    ['this side', 'dialer', 'CANCELLED', 'stream 3: the peer is closing'],
    ['the remote', 'acceptor', 'PROTOCOL', 'stream 3: expected nothing to be sent after the end'],
  ])('A stream rejects a `send` after its end and says why, while %s drains', async (_who, side, code, message) => {
    const { dialer, acceptor } = pair();
    dialer.open('live');
    const stream = dialer.open('p', { end: true });
    await time.advance();
    void { dialer, acceptor }[side].close({ drainMs: 1_000 });
    await time.advance();
    expect([dialer.status.state, acceptor.status.state]).toEqual(['draining', 'draining']);
    await expect(stream.send('late')).rejects.toMatchObject({ code, message, ...(code === 'CANCELLED' ? { streamId: 3 } : {}) });
  });

  it('Both sides end cleanly when both call `close` at once', async () => {
    const { dialer, acceptor } = pair();
    await time.advance();
    void dialer.close();
    void acceptor.close();
    await time.advance(5_000);
    expect([await dialer.closed, await acceptor.closed]).toEqual([CLEAN, CLEAN]);
    expect(time.isOver()).toBe(true);
  });

  /** Both sides call each other. The code in the given place closes the acceptor. */
  async function closeFromWithin({ hang }: UserPlace) {
    const { dialer, acceptor, link } = createPair();
    for (const peer of [dialer, acceptor]) peer.onStream((_, stream) => stream.reply());
    const code = new CountedCode(() => void acceptor.close());
    hang(acceptor, code.run);
    await time.advance();
    void settled(acceptor.request('push'));
    const stream = dialer.open('p', { headers: { a: 1 } });
    stream.subscribe({ error: () => undefined });
    void stream.reply(1);
    await time.advance(3_000);
    return { peers: [dialer, acceptor], code, link };
  }

  it.each(PLACES.filter(({ atEnd }) => atEnd !== true))('Code in $place may call `close`', async (place) => {
    const { peers, code } = await closeFromWithin(place);
    expect(code.runs).toBeGreaterThan(0);
    expect(peers.map(({ status }) => status)).toEqual(peers.map(() => ({ state: 'closed', reason: CLEAN, error: null })));
    expect(time.isOver()).toBe(true);
  });

  it.each(PLACES.filter(({ atEnd }) => atEnd === true))('Code in $place may call `close` when the connection is lost', async (place) => {
    const { peers, code, link } = await closeFromWithin(place);
    expect(code.runs).toBe(0);
    link.cut();
    await time.advance();
    expect([code.runs, peers.map(({ status }) => status.state)]).toEqual([1, ['closed', 'closed']]);
    expect(time.isOver()).toBe(true);
  });
});
