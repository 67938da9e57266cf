import { describe, expect, it } from '@jest/globals';
import { DEFAULT_KEEPALIVE } from '../../src/connection/watchdog.js';
import { ConnectionFault } from '../../src/wire/errors.js';
import { ResetCode } from '../../src/wire/codes.js';
import { Rig } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';

const MIB = 1024 * 1024;
const { NO_ERROR, APPLICATION_ERROR, CANCEL, INTERNAL_ERROR } = ResetCode;

/** Activities during which the socket ends. `rig` has stream 2, open on both sides, and stream 1 of the remote. */
const MIDDLES: readonly (readonly [what: string, begin: (rig: Rig) => void])[] = [
  ['nothing', () => undefined],
  ['an incoming payload', (rig) => rig.receive({ type: 'data', stream: 1, fragment: '"a', more: true })],
  ['an incoming open', (rig) => rig.receive({ type: 'open', stream: 3, fragment: '"a', more: true })],
  ['an incoming reset', (rig) => rig.receive({ type: 'reset', stream: 1, fragment: '"a', more: true })],
  ['an unread payload', (rig) => rig.held(1).live.keep(MIB)],
  [
    'an outgoing transfer',
    (rig) => {
      rig.transport.stuck = true;
      rig.send(rig.held(1), { payload: 'x'.repeat(3 * MIB) });
    },
  ],
  [
    'an outgoing transfer between two turns',
    (rig) => {
      rig.send(rig.held(1), { payload: 'x'.repeat(MIB) });
      rig.held(1).live.whenRoom(() => undefined);
    },
  ],
  [
    'queued opens, resets, pongs and answers',
    (rig) => {
      rig.transport.bufferedAmount = MIB;
      rig.open({ payload: 'a' });
      rig.open({ payload: 'b', end: true }, true);
      rig.open({ payload: 'c' }).live.reset('user', APPLICATION_ERROR, '');
      rig.held(1).live.reset('user', CANCEL, '');
      rig.receive({ type: 'ping' }, { type: 'data', stream: 99 });
    },
  ],
  [
    'a ping',
    (rig) =>
      rig.connection.control.ping(
        () => undefined,
        () => undefined,
      ),
  ],
  ['the wait after a goaway', (rig) => rig.receive({ type: 'goaway', last_stream: 2 })],
  ['the second after a goaway with an error', (rig) => rig.receive({ type: 'goaway', code: INTERNAL_ERROR, last_stream: 2 })],
  [
    'a drain',
    (rig) => {
      rig.connection.drain(60_000, NO_ERROR, '');
    },
  ],
  [
    'a drain that writes the last frames',
    (rig) => {
      rig.transport.bufferedAmount = MIB;
      rig.send(rig.held(1), { payload: 'a' });
      rig.connection.drain(0, NO_ERROR, '');
    },
  ],
  ['the closing handshake', (rig) => rig.connection.drain(0, NO_ERROR, '')],
  ['a failure', (rig) => rig.transport.receive('{')],
];

describe('ends of sockets', () => {
  it.each(MIDDLES)(
    'Session releases everything and reports the end once when the socket ends during %s',
    inTime<[string, (rig: Rig) => void]>((time, _what, begin) => {
      const rig = new Rig({ keepalive: DEFAULT_KEEPALIVE });
      const holders = [rig.open(), rig.remote(1)];
      begin(rig);
      time.advance(10);
      const unread = rig.held(1).live.phase === 'closed' ? 0 : rig.connection.budget.held.used;
      rig.transport.end({ code: 1001, reason: 'gone', wasClean: true });
      rig.transport.end();
      for (const { ends } of holders) expect(ends).toHaveLength(1);
      expect(rig.endings).toMatchObject([{ close: { code: 1001, reason: 'gone', wasClean: true } }]);
      expect(rig.reasons).toEqual([{ code: 1001, reason: 'gone', wasClean: true, willRetry: false }]);
      if (unread >= MIB) rig.held(1).live.read(unread);
      expect(rig.isEmpty).toBe(true);
      expect(time.isOver).toBe(true);
      const sent = rig.transport.sent.length;
      rig.transport.drainTo(0);
      rig.transport.nextTurn();
      rig.connection.probe();
      rig.connection.fail(ConnectionFault.tooMuch('late'));
      rig.connection.drain(60_000, NO_ERROR, '');
      rig.connection.control.ping(
        () => undefined,
        () => undefined,
      );
      expect(rig.transport.sent).toHaveLength(sent);
      expect(time.isOver).toBe(true);
    }),
  );

  it('Session reports the end to its owner, then fails its streams, then emits the close reason', () => {
    const rig = new Rig();
    const order: string[] = [];
    const stream = rig.open();
    stream.onGone = () => order.push(`gone, ${rig.endings.length} endings, ${rig.reasons.length} reasons`);
    rig.transport.end({ code: 1012, reason: '', wasClean: true });
    expect(order).toEqual(['gone, 1 endings, 0 reasons']);
    expect(stream.ends).toEqual([{ how: 'lost', reason: { code: 1012, reason: '', wasClean: true, willRetry: false } }]);
  });

  it('Session reports a socket that ends without a close code as 1006', () => {
    const rig = new Rig();
    rig.transport.end(null);
    expect(rig.reasons).toEqual([{ code: 1006, reason: '', wasClean: false, willRetry: false }]);
  });

  it('Session reports an end before `start` when it starts', () => {
    const rig = new Rig({ started: false });
    rig.transport.end();
    expect(rig.reasons).toEqual([]);
    rig.connection.start();
    expect(rig.reasons).toEqual([{ code: 1006, reason: '', wasClean: false, willRetry: false }]);
  });

  it('Session wakes tasks that wait for room after it has reported the end of their stream', () => {
    const rig = new Rig();
    const stream = rig.open();
    const told: string[] = [];
    rig.transport.bufferedAmount = MIB;
    rig.send(stream, { payload: 'x'.repeat(MIB) });
    stream.live.whenRoom(() => told.push('woken'));
    stream.onGone = () => told.push('gone');
    rig.connection.fail(ConnectionFault.tooMuch('enough'));
    expect(told).toEqual([]);
    rig.transport.end();
    expect(told).toEqual(['gone', 'woken']);
  });
});
