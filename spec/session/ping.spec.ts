import { describe, expect, it, jest } from '@jest/globals';
import { Rig } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';

describe('pings', () => {
  it(
    'Session reports the round trip of a ping in ms',
    inTime((time) => {
      const rig = new Rig();
      const trips: number[] = [];
      const lost: unknown[] = [];
      time.advance(10);
      rig.connection.control.ping(trips.push.bind(trips), lost.push.bind(lost));
      const [ping] = rig.news;
      time.advance(42);
      rig.receive({ type: 'pong', nonce: ping?.nonce });
      rig.transport.end();
      expect([trips, lost]).toEqual([[42], []]);
    }),
  );

  it('Session numbers its pings with their nonces, and uses no random number', () => {
    const random = jest.spyOn(Math, 'random');
    const rig = new Rig();
    for (let n = 0; n < 37; n++) rig.connection.control.ping(() => undefined);
    expect(rig.news.map(({ nonce }) => nonce)).toEqual(Array.from({ length: 37 }, (_, n) => (n + 1).toString(36)));
    expect(random).not.toHaveBeenCalled();
    random.mockRestore();
  });

  it('Session reports the close reason to an unanswered ping, and to a ping after the end', () => {
    const rig = new Rig();
    const lost: unknown[] = [];
    const ping = () => {
      rig.connection.control.ping(
        () => undefined,
        (reason) => lost.push(reason),
      );
    };
    ping();
    rig.transport.end();
    ping();
    expect(lost).toMatchObject([{ code: 1006 }, { code: 1006 }]);
  });

  it('Session answers a ping ahead of data, with its nonce if it has one', () => {
    const rig = new Rig();
    const stream = rig.open();
    rig.transport.bufferedAmount = 1024 * 1024;
    rig.send(stream, { payload: 'data' });
    rig.receive({ type: 'ping', nonce: 'é"\n' }, { type: 'ping' });
    rig.transport.drainTo(0);
    expect(rig.news.slice(1)).toEqual([{ type: 'pong', nonce: 'é"\n' }, { type: 'pong' }, { type: 'data', stream: 2, payload: 'data' }]);
  });

  it.each([
    ['fits', 'n'.repeat(27), true],
    ['is one byte too long', 'n'.repeat(28), false],
    ['is too long because of an escape', '"'.padEnd(27, 'n'), false],
  ])('Session answers a ping only if its pong fits a message: the pong %s', (_what, nonce, answered) => {
    const rig = new Rig({ maxFrameBytes: 53, limits: { junk: { burst: 1, perSecond: 0 } } });
    rig.receive({ type: 'ping', nonce });
    expect(rig.news.filter(({ type }) => type === 'pong')).toEqual(answered ? [{ type: 'pong', nonce }] : []);
    expect(rig.transport.closes).toEqual([]);
    rig.receive({ type: 'pong' });
    expect(rig.transport.closes).toHaveLength(answered ? 0 : 1);
  });
});
