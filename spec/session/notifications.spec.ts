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

describe('Connection', () => {
  it('`isNotifying` is true until a notification of several messages has left', () => {
    const { rig } = notifying();
    expect([rig.connection.outbound.isNotifying, rig.notified]).toEqual([true, 0]);
    rig.transport.drainTo(0);
    expect([rig.connection.outbound.isNotifying, rig.notified]).toEqual([false, 1]);
  });

  it('`isNotifying` is false for a notification of one message and for a call of several', () => {
    const rig = new Rig({ maxFrameBytes: 300 });
    rig.transport.bufferedAmount = FULL;
    rig.open({ payload: 'small', end: true }, true);
    rig.open({ payload: 'x'.repeat(400), end: true });
    expect(rig.connection.outbound.isNotifying).toBe(false);
  });

  it('`isNotifying` is false once the remote resets the unsent notification', () => {
    const { rig, notification } = notifying();
    rig.transport.onSend = () => (rig.transport.bufferedAmount = FULL);
    rig.transport.drainTo(0);
    expect([rig.sent.length, rig.connection.outbound.isNotifying]).toEqual([1, true]);
    rig.receive({ type: 'reset', stream: notification.live.id, code: ResetCode.CANCEL });
    expect([rig.connection.outbound.isNotifying, rig.notified]).toEqual([false, 1]);
  });

  it('`takesNotifications` is true until the remote goes away or the connection fails', () => {
    const [going, failing] = [new Rig(), new Rig()];
    expect([going.connection.takesNotifications, failing.connection.takesNotifications]).toEqual([true, true]);
    going.receive({ type: 'goaway', code: ResetCode.NO_ERROR, last_stream: 0 });
    failing.connection.fail(ConnectionFault.tooMuch('enough'));
    expect([going.connection.takesNotifications, failing.connection.takesNotifications]).toEqual([false, false]);
  });

  it('`takesNotifications` stays true during a drain', () => {
    const { rig } = notifying();
    rig.connection.drain(1_000, ResetCode.NO_ERROR, '');
    expect([rig.connection.acceptsStreams, rig.connection.takesNotifications]).toEqual([false, true]);
  });
});
