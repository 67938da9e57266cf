import { describe, expect, it } from '@jest/globals';
import type { Frame } from '../../src/wire/frame.js';
import type { Limits } from '../../src/wire/limits.js';
import { ResetCode } from '../../src/wire/reset-code.js';
import { Rig } from '../support/session-rig.js';
import { inTime } from '../support/session-time.js';

const { PROTOCOL_ERROR, FLOW_CONTROL, PAYLOAD_TOO_LARGE, REFUSED, ENHANCE_YOUR_CALM, CANCEL } = ResetCode;

/** A limit, what reaches it, and what one more is answered with. */
interface Row {
  readonly limit: keyof Limits;
  readonly limits: Partial<Limits>;
  readonly at: readonly Frame[];
  readonly over: Frame;
  readonly answer: Partial<Frame>;
  /** The close code, where the connection ends. */
  readonly close?: number;
}

const fragment = (text: string, more = true): Frame => ({ type: 'data', stream: 1, fragment: text, more });
const open = (stream: number): Frame => ({ type: 'open', stream });

const ROWS: readonly Row[] = [
  {
    limit: 'maxPayloadBytes',
    limits: { maxPayloadBytes: 6 },
    at: [open(1), fragment('"ab', true), fragment('cd"', true)],
    over: fragment(' ', false),
    answer: {
      type: 'reset',
      stream: 1,
      code: PAYLOAD_TOO_LARGE,
      reason: 'payload of at least 7 bytes is over the limit of 6 (maxPayloadBytes)',
    },
  },
  {
    limit: 'maxHeldBytes',
    limits: { maxHeldBytes: 200 },
    at: [open(1), open(3), fragment('x'.repeat(100)), { ...fragment('y'.repeat(100)), stream: 3 }],
    over: { ...fragment('z'), stream: 3 },
    answer: {
      type: 'reset',
      stream: 3,
      code: ENHANCE_YOUR_CALM,
      reason: '264 bytes held by this connection are over the limit of 200 (maxHeldBytes)',
    },
  },
  {
    limit: 'maxFragments',
    limits: { maxFragments: 3 },
    at: [open(1), fragment('"'), fragment('a'), fragment('b')],
    over: fragment('"', false),
    answer: { type: 'reset', stream: 1, code: PROTOCOL_ERROR, reason: 'payload of more than 3 fragments (maxFragments)' },
  },
  {
    limit: 'maxEmptyFragments',
    limits: { maxEmptyFragments: 2 },
    at: [open(1), open(3), fragment(''), { ...fragment(''), stream: 3 }],
    over: fragment(''),
    answer: { type: 'goaway', code: ENHANCE_YOUR_CALM, last_stream: 0, reason: 'more than 2 empty fragments (maxEmptyFragments)' },
    close: 1008,
  },
  {
    limit: 'maxStreams',
    limits: { maxStreams: 2 },
    at: [open(1), open(3)],
    over: open(5),
    answer: { type: 'reset', stream: 5, code: REFUSED, reason: 'more than 2 streams (maxStreams)' },
  },
  {
    limit: 'provokedResets',
    limits: { provokedResets: { burst: 2, perSecond: 1 } },
    at: [open(1), fragment('1', false), { type: 'data', stream: 1, more: true }, { type: 'data', stream: 9 }],
    over: { type: 'data', stream: 11 },
    answer: {
      type: 'goaway',
      code: ENHANCE_YOUR_CALM,
      last_stream: 0,
      reason: 'more than 2 at once and 1 per second provoked resets (provokedResets)',
    },
    close: 1008,
  },
  {
    limit: 'junk',
    limits: { junk: { burst: 3, perSecond: 2 } },
    at: [{ type: 'pong' }, { type: 'pong', nonce: 'x' }, { type: 'reset', stream: 9 }],
    over: { type: 'pong' },
    answer: {
      type: 'goaway',
      code: ENHANCE_YOUR_CALM,
      last_stream: 0,
      reason: 'more than 3 at once and 2 per second frames that make no sense (junk)',
    },
    close: 1008,
  },
  {
    limit: 'pings',
    limits: { pings: { burst: 2, perSecond: 1 } },
    at: [{ type: 'ping' }, { type: 'ping' }],
    over: { type: 'ping' },
    answer: { type: 'goaway', code: ENHANCE_YOUR_CALM, last_stream: 0, reason: 'more than 2 at once and 1 per second pings (pings)' },
    close: 1008,
  },
];

describe('a limit', () => {
  it.each(ROWS)('lets everything up to $limit through, and answers what is over it', ({ limits, at, over, answer, close }) => {
    const rig = new Rig({ limits });
    rig.receive(...at);
    expect(rig.news.filter(({ reason }) => reason === answer.reason)).toEqual([]);
    expect(rig.transport.closes).toEqual([]);
    rig.receive(over);
    expect(rig.news).toContainEqual(answer);
    expect(rig.transport.closes).toEqual(close === undefined ? [] : [{ code: close, reason: answer.reason }]);
  });

  it('of one message is 1 MiB, in bytes and not in characters', () => {
    const rig = new Rig();
    const message = (bytes: number) => `{"type":"pong","nonce":"${'é'.repeat((bytes - 26) / 2)}"}`;
    rig.transport.receive(message(1_048_576));
    expect(rig.transport.closes).toEqual([]);
    rig.transport.receive(message(1_048_578));
    const reason = 'message of 1048578 bytes is over the limit of 1048576 (maxMessageBytes)';
    expect(rig.news).toEqual([{ type: 'goaway', code: ENHANCE_YOUR_CALM, last_stream: 0, reason }]);
    expect(rig.transport.closes).toEqual([{ code: 1009, reason }]);
  });

  it('of unread payloads is one of each stream: over maxUnreadBytes it is reset', () => {
    const rig = new Rig({ limits: { maxUnreadBytes: 100 } });
    const [one, other] = [rig.remote(1), rig.remote(3)];
    expect([one.live.keep(60), other.live.keep(60), one.live.keep(40)]).toEqual([true, true, true]);
    expect(one.live.keep(1)).toBe(false);
    const reason = '101 unread bytes are over the limit of 100 (maxUnreadBytes)';
    expect(rig.news).toEqual([{ type: 'reset', stream: 1, code: FLOW_CONTROL, reason }]);
    expect(one.ends).toEqual([{ how: 'reset', by: 'library', code: FLOW_CONTROL, reason, payload: null }]);
    expect(other.ends).toEqual([]);
  });

  it('of held bytes counts unread payloads too', () => {
    const rig = new Rig({ limits: { maxHeldBytes: 100 } });
    const [one, two] = [rig.remote(1), rig.remote(3)];
    expect([one.live.keep(60), two.live.keep(40)]).toEqual([true, true]);
    expect(two.live.keep(1)).toBe(false);
    const reason = '101 bytes held by this connection are over the limit of 100 (maxHeldBytes)';
    expect(rig.news).toEqual([{ type: 'reset', stream: 3, code: ENHANCE_YOUR_CALM, reason }]);
    one.live.read(60);
    two.live.read(40);
    expect(rig.session.intake.held.used).toBe(0);
  });

  it.each<[string, (rig: Rig) => void]>([
    [
      'a stream of this side that has ended',
      (rig) => {
        const stream = rig.open({ end: true });
        stream.onReceive = () => stream.live.keep(100);
        rig.receive({ type: 'data', stream: 2, payload: 'unread', end: true });
        stream.live.read(100);
      },
    ],
    [
      'a stream of the remote that has ended, and whose handler has settled',
      (rig) => {
        const stream = rig.remote(1);
        stream.live.run();
        stream.live.keep(100);
        rig.receive({ type: 'reset', stream: 1, code: CANCEL });
        expect(rig.session.intake.held.used).toBe(100);
        stream.live.settle();
        expect(rig.session.intake.held.used).toBe(0);
        stream.live.read(100);
      },
    ],
    [
      'a stream of the remote that has ended behind its handler',
      (rig) => {
        const stream = rig.remote(1);
        stream.live.run();
        stream.live.keep(100);
        stream.live.settle();
        expect(rig.session.intake.held.used).toBe(100);
        rig.send(stream, { end: true });
        rig.receive({ type: 'data', stream: 1, end: true });
      },
    ],
  ])('of held bytes is not used up by what nobody will ever read: %s', (_what, act) => {
    const rig = new Rig({ limits: { maxHeldBytes: 100 } });
    act(rig);
    expect(rig.session.intake.held.used).toBe(0);
    expect(rig.remote(3).live.keep(100)).toBe(true);
  });

  it('that the last payload of a stream is over is told its reader, who would miss it else', () => {
    const rig = new Rig({ limits: { maxUnreadBytes: 100 } });
    const stream = rig.open({ end: true });
    stream.onReceive = () => stream.live.keep(101);
    rig.receive({ type: 'data', stream: 2, payload: 'much', end: true });
    expect(stream.ends).toMatchObject([{ how: 'reset', by: 'library', code: FLOW_CONTROL }]);
    expect(rig.news).toMatchObject([{ type: 'open' }]);
  });

  it('of pings earns one more with every 256 KiB received, up to the burst', () => {
    const rig = new Rig({ limits: { pings: { burst: 2, perSecond: 0 } } });
    const ping = () => {
      rig.receive({ type: 'ping' });
      return rig.transport.closes.length === 0;
    };
    const bulk = (bytes: number) => {
      rig.transport.receive(`{"type":"later","x":"${'x'.repeat(bytes - 23)}"}`);
    };
    expect([ping(), ping()]).toEqual([true, true]);
    bulk(256 * 1024 - 2 * 15 - 1);
    bulk(23 + 1);
    expect(ping()).toBe(true);
    for (let n = 0; n < 4; n++) bulk(1024 * 1024);
    expect([ping(), ping(), ping()]).toEqual([true, true, false]);
  });

  it(
    'of a rate is open again a second later',
    inTime((time) => {
      const rig = new Rig({ limits: { pings: { burst: 1, perSecond: 2 } } });
      for (const wait of [500, 500, 499]) {
        rig.receive({ type: 'ping' });
        expect(rig.transport.closes).toEqual([]);
        time.advance(wait);
      }
      rig.receive({ type: 'ping' });
      expect(rig.transport.closes).toMatchObject([{ code: 1008 }]);
    }),
  );
});
