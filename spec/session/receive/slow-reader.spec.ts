import { describe, expect, it } from '@jest/globals';
import { MEASURED_BYTES } from '../../../src/connection/budget.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { Rig, typesOf } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

const MIB = 1024 * 1024;
const BULK = 'x'.repeat(MEASURED_BYTES);

/** A session whose stream 1 has as many unread bytes as `pauseBytes`. */
function lagging(rig = new Rig()) {
  const slow = rig.remote(1);
  const other = rig.remote(3);
  for (const { live } of [slow, other]) live.markTaken();
  slow.live.keep(MIB);
  /** The remote sends bulk on stream 1, and a ping behind it. */
  const bulk = (nonce: string): void => {
    rig.receive({ type: 'data', stream: 1, payload: BULK }, { type: 'ping', nonce });
  };
  return { rig, slow, other, bulk };
}

describe('a session with a slow reader', () => {
  it(
    'Session holds back the pong of bulk while a reader lags, and reads on for the other streams',
    inTime(() => {
      const { rig, slow, other, bulk } = lagging();
      bulk('bulk');
      rig.receive({ type: 'data', stream: 3, payload: 'small' }, { type: 'ping', nonce: 'keepalive' });
      expect([rig.transport.paused, other.payloads]).toEqual([false, ['small']]);
      expect(rig.news).toEqual([{ type: 'pong', nonce: 'keepalive' }]);
      slow.live.read(1);
      expect(rig.news).toEqual([{ type: 'pong', nonce: 'bulk' }]);
    }),
  );

  it(
    'Session sends a ping each second while it holds back pongs',
    inTime((time) => {
      const { rig, bulk } = lagging();
      bulk('bulk');
      time.advance(2_000);
      expect(typesOf(rig)).toEqual(['ping', 'ping']);
    }),
  );

  it(
    'Session answers the held pings when the slow stream is reset',
    inTime(() => {
      const { rig, slow, bulk } = lagging();
      bulk('bulk');
      slow.live.reset('user', ResetCode.CANCEL, '');
      expect(typesOf(rig).sort()).toEqual(['pong', 'reset']);
    }),
  );

  it(
    'Session answers the held pings when it drains',
    inTime(() => {
      const { rig, bulk } = lagging();
      bulk('bulk');
      rig.connection.drain(1_000, ResetCode.NO_ERROR, '');
      expect(typesOf(rig)).toEqual(['pong', 'goaway']);
    }),
  );

  it(
    'Session counts no silence of a fragmented payload while it holds back pongs',
    inTime((time) => {
      const { rig, other, bulk } = lagging(new Rig({ limits: { reassemblyTimeoutMs: 1_000 } }));
      rig.receive({ type: 'data', stream: 3, fragment: '"', more: true });
      bulk('bulk');
      time.advance(4_000);
      expect(other.ends).toEqual([]);
      time.advance(2_000);
      expect(other.ends).toMatchObject([{ code: ResetCode.DEADLINE_EXCEEDED }]);
    }),
  );

  it(
    'Session ends the connection, and the read does not throw, when too many held pings get their pongs at once',
    inTime(() => {
      const { rig, slow, bulk } = lagging(new Rig({ limits: { maxControlFrames: 1 } }));
      for (const nonce of ['a', 'b']) bulk(nonce);
      rig.transport.bufferedAmount = MIB;
      slow.live.read(1);
      expect(rig.transport.closes).toEqual([{ code: 1008, reason: 'more than 1 unread answers (maxControlFrames)' }]);
    }),
  );
});
