import { describe, expect, it } from '@jest/globals';
import { noop } from 'rxjs';
import type { StreamCore } from '../../../src/stream/stream-core.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { Rig } from '../../support/session/rig.js';

const FULL = 1024 * 1024;

describe('ControlReplies', () => {
  it.each([
    ['pings', 'ENHANCE_YOUR_CALM for unread pongs', (at: number) => ({ type: 'ping', nonce: `${at}` })],
    [
      'data of streams that were never opened',
      'ENHANCE_YOUR_CALM for unread resets',
      (at: number) => ({ type: 'data', stream: 101 + 2 * at, payload: 1 }),
    ],
    ['opens beyond maxStreams', 'ENHANCE_YOUR_CALM for unread refusals', (at: number) => ({ type: 'open', stream: 1 + 2 * at })],
  ])('Session ends the connection over maxControlFrames unread answers to %s: %s', (_, __, provoke) => {
    const rig = new Rig({ limits: { maxControlFrames: 3, maxStreams: 0 } });
    rig.transport.bufferedAmount = FULL;
    for (let at = 0; at < 3; at++) rig.receive(provoke(at));
    expect([rig.sent, rig.transport.closes]).toEqual([[], []]);
    rig.receive(provoke(3));
    expect(rig.sent).toEqual([
      { type: 'goaway', code: ResetCode.ENHANCE_YOUR_CALM, last_stream: 0, reason: 'more than 3 unread answers (maxControlFrames)' },
    ]);
    expect(rig.transport.closes).toEqual([{ code: 1008, reason: 'more than 3 unread answers (maxControlFrames)' }]);
    rig.transport.end();
  });

  it('Session ends the connection over 1 Mi characters of nonces in unread pongs', () => {
    const rig = new Rig();
    const nonce = 'n'.repeat(10_000);
    rig.transport.bufferedAmount = FULL;
    for (let at = 0; at < 104; at++) rig.receive({ type: 'ping', nonce });
    rig.receive({ type: 'ping', nonce: 'n'.repeat(8_576) });
    expect(rig.transport.closes).toEqual([]);
    rig.receive({ type: 'ping', nonce: 'n' });
    expect(rig.transport.closes).toEqual([{ code: 1008, reason: 'more than 1048576 characters of unread pongs' }]);
  });

  it('Session counts pongs, refusals and resets of unknown streams together', () => {
    const rig = new Rig({ limits: { maxControlFrames: 2, maxStreams: 0 } });
    rig.transport.bufferedAmount = FULL;
    rig.receive({ type: 'ping' }, { type: 'open', stream: 1 }, { type: 'data', stream: 99, payload: 1 });
    expect(rig.transport.closes.map(({ code }) => code)).toEqual([1008]);
    rig.transport.end();
  });

  it('Session counts only unwritten answers, so a remote that reads them may ask without limit', () => {
    const rig = new Rig({ limits: { maxControlFrames: 3 }, measured: false });
    for (let round = 0; round < 50; round++) {
      rig.transport.bufferedAmount = FULL;
      for (let at = 0; at < 3; at++) rig.receive({ type: 'ping', nonce: `${at}`.repeat(10_000) });
      rig.transport.drainTo(0);
      expect(rig.news).toHaveLength(3);
    }
    expect(rig.transport.closes).toEqual([]);
  });

  it.each<[string, (live: StreamCore, rig: Rig) => void]>([
    ['pings', (_, rig) => rig.connection.control.ping(noop, noop)],
    ['resets', (live) => live.reset('user', ResetCode.CANCEL, '')],
  ])('Session does not count control frames that this side sends unasked: %s', (_what, send) => {
    const rig = new Rig({ isDialer: true, limits: { maxControlFrames: 2 } });
    const streams = Array.from({ length: 10 }, () => rig.open());
    rig.forget();
    rig.transport.bufferedAmount = FULL;
    for (const { live } of streams) send(live, rig);
    rig.receive({ type: 'ping' }, { type: 'ping' });
    expect(rig.transport.closes).toEqual([]);
    rig.transport.drainTo(0);
    expect(rig.news).toHaveLength(12);
  });
});
