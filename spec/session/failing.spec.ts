import { describe, expect, it } from '@jest/globals';
import { ConnectionFault } from '../../src/wire/errors.js';
import { ResetCode } from '../../src/wire/codes.js';
import { collectLogs } from '../support/peer/logs.js';
import { Rig } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';

const MIB = 1024 * 1024;
const { NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, ENHANCE_YOUR_CALM } = ResetCode;

const logs = collectLogs();

const close = (rig: Rig, drainMs = 0) => {
  rig.connection.drain(drainMs, NO_ERROR, '');
};

describe('failed connections', () => {
  it('A failed Session drops its queued frames, sends a goaway with the reason, and closes', () => {
    const rig = new Rig();
    const stream = rig.remote(1);
    stream.live.handlerStarted();
    rig.transport.bufferedAmount = MIB;
    rig.send(stream, { payload: 'never' });
    rig.receive({ type: 'ping', nonce: 'never' });
    rig.transport.receive('{');
    const reason = expect.stringContaining('expected JSON');
    expect(rig.news).toEqual([{ type: 'goaway', code: PROTOCOL_ERROR, last_stream: 1, reason }]);
    expect(rig.transport.closes).toEqual([{ code: 1002, reason }]);
    rig.transport.drainTo(0);
    rig.send(stream, { payload: 'nor this' });
    expect(rig.news).toEqual([]);
    expect(stream.ends).toEqual([]);
    rig.transport.end({ code: 1002, reason: '', wasClean: true });
    expect(stream.ends).toMatchObject([{ how: 'lost', reason: { code: 1002 } }]);
    expect(rig.connection.outbound.bytes).toBe(0);
  });

  it('Session fails only once', () => {
    const rig = new Rig();
    rig.connection.fail(ConnectionFault.tooMuch('one'));
    rig.connection.fail(ConnectionFault.tooMuch('two'));
    expect(rig.news).toEqual([{ type: 'goaway', code: ENHANCE_YOUR_CALM, last_stream: 0, reason: 'one' }]);
    expect(rig.transport.closes).toEqual([{ code: 1008, reason: 'one' }]);
  });

  it('Session logs a fault of this side and closes with 1011', () => {
    const rig = new Rig();
    const error = new Error('a bug');
    rig.connection.fail(error);
    expect(rig.news).toEqual([{ type: 'goaway', code: INTERNAL_ERROR, last_stream: 0, reason: 'internal error' }]);
    expect(rig.transport.closes).toEqual([{ code: 1011, reason: 'internal error' }]);
    expect(logs.errors).toEqual(['rxmux: internal error, the connection is closed']);
  });

  it.each<[string, (rig: Rig) => void]>([
    ['at once', () => undefined],
    ['in a later turn', (rig) => (rig.transport.bufferedAmount = 1024 * 1024)],
  ])('Session closes with 1011 when a `leaving` callback throws, for a last frame that left %s', (_when, hold) => {
    const rig = new Rig();
    const stream = rig.open();
    hold(rig);
    stream.live.leaving = () => {
      throw new Error('a bug');
    };
    rig.send(stream, { payload: 1, end: true });
    rig.transport.drainTo(0);
    expect(rig.transport.closes).toEqual([{ code: 1011, reason: 'internal error' }]);
    expect(logs.errors).toEqual(['rxmux: internal error, the connection is closed']);
  });

  it('A failed Session ignores frames that still arrive', () => {
    const rig = new Rig();
    rig.connection.fail(ConnectionFault.tooMuch('enough'));
    rig.receive({ type: 'open', stream: 1 });
    expect([rig.remotes, rig.observed]).toMatchObject([[], [['tx', { type: 'goaway' }]]]);
  });

  it('A failure ends a drain in progress', () => {
    const rig = new Rig();
    rig.remote(1).live.handlerStarted();
    close(rig, 1_000);
    rig.transport.receive('{');
    close(rig);
    expect(rig.news.map(({ type, code, last_stream }) => [type, code, last_stream])).toEqual([
      ['goaway', NO_ERROR, 1],
      ['goaway', PROTOCOL_ERROR, 1],
    ]);
    expect(rig.transport.closes).toMatchObject([{ code: 1002 }]);
  });

  it('Session closes when it fails while the drain writes the last frames', () => {
    const rig = new Rig();
    rig.transport.bufferedAmount = MIB;
    rig.open({ payload: 'note', end: true }, true);
    close(rig);
    rig.transport.receive('{');
    rig.transport.drainTo(0);
    expect(rig.news.map(({ type }) => type)).toEqual(['goaway']);
    expect(rig.transport.closes).toMatchObject([{ code: 1002 }]);
  });

  it('Session closes when it fails while the drain resets a stream', () => {
    const rig = new Rig();
    const stream = rig.remote(1);
    stream.live.handlerStarted();
    stream.onGone = () => {
      rig.connection.fail(ConnectionFault.tooMuch('enough'));
    };
    close(rig);
    expect(rig.transport.closes).toEqual([{ code: 1008, reason: 'enough' }]);
  });

  it(
    'Session terminates a closing socket in time even if it fails meanwhile',
    inTime((time) => {
      const rig = new Rig();
      close(rig);
      time.advance(1_500);
      rig.connection.fail(ConnectionFault.tooMuch('enough'));
      time.advance(499);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe('closing made no progress');
      expect(time.isOver).toBe(true);
    }),
  );
});
