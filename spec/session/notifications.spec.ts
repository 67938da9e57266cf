import { describe, expect, it } from '@jest/globals';
import { ResetCode } from '../../src/wire/codes.js';
import { ConnectionFault } from '../../src/wire/errors.js';
import { Rig } from '../support/session/rig.js';

const FULL = 1024 * 1024;

/** An acceptor whose messages hold 300 bytes, with a notification of several messages that waits for room. */
function notifying() {
  const rig = new Rig({ maxFrameBytes: 300 });
  rig.transport.bufferedAmount = FULL;
  const notification = rig.open({ payload: 'x'.repeat(400), end: true }, true);
  return { rig, notification };
}

describe('Session', () => {
  it('`isNotifying` is true until a notification of several messages has left', () => {
    const { rig } = notifying();
    expect([rig.session.isNotifying, rig.notified]).toEqual([true, 0]);
    rig.transport.drainTo(0);
    expect([rig.session.isNotifying, rig.notified]).toEqual([false, 1]);
  });

  it('`isNotifying` is false for a notification of one message and for a call of several', () => {
    const rig = new Rig({ maxFrameBytes: 300 });
    rig.transport.bufferedAmount = FULL;
    rig.open({ payload: 'small', end: true }, true);
    rig.open({ payload: 'x'.repeat(400), end: true });
    expect(rig.session.isNotifying).toBe(false);
  });

  it('`isNotifying` is false once the remote resets the unsent notification', () => {
    const { rig, notification } = notifying();
    rig.transport.onSend = () => (rig.transport.bufferedAmount = FULL);
    rig.transport.drainTo(0);
    expect([rig.sent.length, rig.session.isNotifying]).toEqual([1, true]);
    rig.receive({ type: 'reset', stream: notification.live.id, code: ResetCode.CANCEL });
    expect([rig.session.isNotifying, rig.notified]).toEqual([false, 1]);
  });

  it('`takesNotifications` is true until the remote goes away or the connection fails', () => {
    const [going, failing] = [new Rig(), new Rig()];
    expect([going.session.takesNotifications, failing.session.takesNotifications]).toEqual([true, true]);
    going.receive({ type: 'goaway', code: ResetCode.NO_ERROR, last_stream: 0 });
    failing.session.fail(ConnectionFault.tooMuch('enough'));
    expect([going.session.takesNotifications, failing.session.takesNotifications]).toEqual([false, false]);
  });

  it('`takesNotifications` stays true during a drain', () => {
    const { rig } = notifying();
    rig.session.drain(1_000, ResetCode.NO_ERROR, '');
    expect([rig.session.acceptsStreams, rig.session.takesNotifications]).toEqual([false, true]);
  });
});

describe('Scheduler', () => {
  it('`batch` sends no frame before the last one is added', () => {
    const rig = new Rig();
    const stream = rig.local();
    const sent: number[] = [];
    rig.session.scheduler.batch(() => {
      rig.send(stream, { type: 'open' });
      rig.send(stream, { payload: 1 });
      sent.push(rig.sent.length);
    });
    expect([sent, rig.news.map(({ type }) => type)]).toEqual([[0], ['open', 'data']]);
  });

  it('Scheduler keeps sending after an observer has added a batch', () => {
    const rig = new Rig();
    const [stream, other] = [rig.local(), rig.open()];
    rig.onObserved = (_direction, { payload }) => {
      if (payload !== 'outer') return;
      rig.session.scheduler.batch(() => {
        rig.send(other, { payload: 'inner' });
      });
    };
    rig.send(stream, { type: 'open', payload: 'outer' });
    expect(rig.news.map(({ payload }) => payload)).toEqual([undefined, 'outer', 'inner']);
  });
});
