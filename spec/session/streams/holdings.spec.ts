import { describe, expect, it } from '@jest/globals';
import { MEASURED_BYTES } from '../../../src/connection/budget.js';
import { ResetCode } from '../../../src/wire/codes.js';
import type { Limits } from '../../../src/wire/limits.js';
import { Rig } from '../../support/session/rig.js';
import type { Holder } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

const FULL = 1024 * 1024;

type Step = 'handlerStarted' | 'handlerSettled' | 'end' | 'reset' | 'write';

/** A stream of the remote whose sides end with the step `end`. Resets wait for the step `write`. */
function holding(limits: Partial<Limits> = {}) {
  const rig = new Rig({ limits });
  const stream = rig.remote(1, { end: true });
  const steps: Readonly<Record<Step, () => void>> = {
    handlerStarted: () => stream.live.handlerStarted(),
    handlerSettled: () => stream.live.handlerSettled(),
    end: () => rig.send(stream, { end: true }),
    reset: () => {
      rig.transport.bufferedAmount = FULL;
      stream.live.reset('user', ResetCode.CANCEL, '');
    },
    write: () => rig.transport.drainTo(0),
  };
  return { rig, stream, step: (name: Step) => steps[name]() };
}

const usedBy = ({ connection }: Rig): number => connection.budget.held.used;

describe('the place of a stream', () => {
  it.each<[string, readonly Step[], readonly number[]]>([
    ['until the stream closes, without a handler', ['end'], [0]],
    ['until the stream closes, after its handler has settled', ['handlerStarted', 'handlerSettled', 'end'], [1, 1, 0]],
    ['until the handler has settled, after the stream has closed', ['handlerStarted', 'end', 'handlerSettled'], [1, 1, 0]],
    ['until the reset is written', ['reset', 'write'], [1, 0]],
    ['until the reset is written, after the handler has settled', ['handlerStarted', 'reset', 'handlerSettled', 'write'], [1, 1, 1, 0]],
    ['until the handler has settled, after the reset is written', ['handlerStarted', 'reset', 'write', 'handlerSettled'], [1, 1, 1, 0]],
    ['until the stream closes, even if a handler starts later', ['end', 'handlerStarted', 'handlerSettled'], [0, 0, 0]],
    ['until the stream closes, and is freed only once', ['end', 'end', 'handlerSettled', 'write'], [0, 0, 0, 0]],
  ])('A stream keeps its place %s', (_what, steps, places) => {
    const { rig, step } = holding();
    const seen = steps.map((name) => {
      step(name);
      return rig.connection.places;
    });
    expect(seen).toEqual(places);
  });
});

describe('the unread bytes of a stream', () => {
  it('A stream counts a payload until it is read, and is reset for a payload over the limit', () => {
    const { rig, stream } = holding({ maxHeldBytes: 200 });
    expect([stream.keep(60), stream.keep(60)]).toEqual([true, true]);
    stream.read(60);
    expect([usedBy(rig), stream.keep(200), usedBy(rig)]).toEqual([60, false, 0]);
    expect(stream.ends).toMatchObject([{ by: 'library', reason: expect.stringContaining('maxHeldBytes') }]);
  });

  it('A stream releases its bytes at its end, and counts no later payload', () => {
    const { rig, stream, step } = holding();
    stream.keep(60);
    step('end');
    expect([usedBy(rig), stream.keep(1_000), usedBy(rig)]).toEqual([0, true, 0]);
    stream.handOver();
    stream.read(1_000);
    expect(usedBy(rig)).toBe(0);
  });

  it('A stream counts handed-over payloads until they are read', () => {
    const { rig, stream, step } = holding();
    stream.keep(60);
    stream.handOver();
    step('end');
    expect(usedBy(rig)).toBe(60);
    stream.read(60);
    expect(usedBy(rig)).toBe(0);
  });

  it('A stream that has ended counts nothing', () => {
    const { rig, stream, step } = holding();
    step('end');
    expect([stream.keep(1_000), usedBy(rig)]).toEqual([true, 0]);
  });
});

describe('ended streams', () => {
  it('A stream ends whose unread payloads were handed over while there were none', () => {
    const { rig, stream, step } = holding();
    stream.handOver();
    step('end');
    expect([stream.ends, usedBy(rig)]).toEqual([[{ how: 'ended' }], 0]);
  });

  it.each([
    ['a reader remains', true, 100],
    ['no reader remains', false, 0],
  ])('An ended stream keeps its unread bytes counted only if a reader remains: %s', (_what, isRead, held) => {
    const { rig, stream, step } = holding();
    step('handlerStarted');
    stream.keep(100);
    stream.onGone = () => {
      if (isRead) stream.handOver();
      step('handlerSettled');
    };
    step('end');
    expect([stream.live.phase, usedBy(rig)]).toEqual(['closed', held]);
    stream.read(100);
    expect(usedBy(rig)).toBe(0);
  });
});

describe('payloads that wait for a reader', () => {
  /** The remote has sent four payloads on stream 1, and a ping behind each. */
  function unread(): { rig: Rig; stream: Holder } {
    const rig = new Rig({ limits: { pauseBytes: MEASURED_BYTES } });
    const stream = rig.remote(1);
    stream.reader = null;
    for (const nonce of ['1', '2', '3', '4'])
      rig.receive({ type: 'data', stream: 1, payload: 'x'.repeat(MEASURED_BYTES) }, { type: 'ping', nonce });
    rig.forget();
    return { rig, stream };
  }

  it.each([
    ['three of four, and grants none: a ping counts its envelope too', 1, 0],
    ['two of four, and grants one', 2, 1],
    ['none of four, and grants all', 4, 4],
  ])('A reader keeps %s', (_what, taken, pongs) => {
    inTime(() => {
      const { rig, stream } = unread();
      const before = usedBy(rig);
      const iterator = stream.facade[Symbol.asyncIterator]();
      for (let pull = 0; pull < taken; pull++) void iterator.next();
      expect(rig.news.filter(({ type }) => type === 'pong')).toHaveLength(pongs);
      expect(usedBy(rig) / before).toBeCloseTo((4 - taken) / 4);
      stream.live.reset('user', ResetCode.CANCEL, '');
    })();
  });

  it('A reader that ends the stream leaves nothing counted', () => {
    const { rig, stream } = unread();
    stream.facade.subscribe({ next: () => stream.live.reset('user', ResetCode.CANCEL, ''), error: () => undefined });
    expect(usedBy(rig)).toBe(0);
  });
});
