import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { DEFAULT_KEEPALIVE } from '../../src/connection/watchdog.js';
import type { Frame } from '../../src/wire/frame.js';
import { ResetCode } from '../../src/wire/codes.js';
import { collectLogs } from '../support/peer/logs.js';
import { Rig } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';

const FULL = 1024 * 1024;

const logs = collectLogs();

/** One step: a frame or message of the remote, a wait, or an act of this side. */
type Step =
  Frame | string | { readonly waitMs: number } | { readonly local: 'open' | 'answer' | 'end' | 'reset' | 'drain' | 'fill' | 'empty' };

const id = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom(null, 0, Number.MAX_SAFE_INTEGER) },
);

const frame: fc.Arbitrary<Frame> = fc
  .record(
    {
      type: fc.constantFrom('open', 'open', 'data', 'data', 'data', 'reset', 'ping', 'pong', 'goaway', 'later'),
      stream: id,
      content: fc.constantFrom(
        {},
        {},
        { payload: null },
        { payload: 'x' },
        { fragment: '' },
        { fragment: '"' },
        { fragment: 'x'.repeat(50) },
      ),
      more: fc.boolean(),
      end: fc.boolean(),
      headers: fc.constantFrom({ h: 1 }, null),
      trailers: fc.constantFrom({ t: 1 }, null),
      code: fc.constantFrom(0, 1, 8, 16, 300, null),
      last_stream: id,
      nonce: fc.constantFrom('n', null),
    },
    { requiredKeys: ['type', 'content'] },
  )
  .map(({ content, ...rest }) => ({ ...rest, ...content }));

/** Frames that follow the rules closely enough to keep the connection for a while. */
const tame = frame.map((each) => (each.type === 'open' && each.fragment !== '"' ? { ...each, stream: null } : each));

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: tame },
    { weight: 1, arbitrary: frame },
    { weight: 1, arbitrary: fc.constantFrom('', '{', '[]', '{"type":1}') },
    { weight: 3, arbitrary: fc.record({ waitMs: fc.nat(31_000) }) },
    { weight: 6, arbitrary: fc.record({ local: fc.constantFrom('open', 'answer', 'end', 'reset', 'drain', 'fill', 'empty') }) },
  ),
  { maxLength: 60 },
);

/** The close codes of this test: an orderly close, or a violation by the remote. */
const CLOSES = new Set([1000, 1002, 1008, 1009]);

describe('hostile remotes', () => {
  it('A hostile remote reaches handlers only by valid opens, causes no internal error, and leaves nothing behind', () => {
    fc.assert(
      fc.property(steps, (script) => {
        inTime((time) => {
          const few = { burst: 5, perSecond: 1 };
          const limits = { maxPayloadBytes: 120, maxHeldBytes: 400, maxFragments: 4, maxEmptyFragments: 2, maxStreams: 3 };
          const rates = { resets: few, provokedResets: few, junk: few, pings: few, maxControlFrames: 4 };
          const rig = new Rig({ keepalive: DEFAULT_KEEPALIVE, limits: { ...limits, ...rates } });
          rig.onOpened = ({ live }) => {
            live.handlerStarted();
          };
          let lastId = -1;
          const holders = () => [...rig.remotes, ...locals];
          const locals: ReturnType<Rig['open']>[] = [];
          for (const step of script) {
            if (rig.transport.closed !== null) break;
            if (typeof step === 'string') rig.transport.receive(step);
            else if ('waitMs' in step) time.advance(step.waitMs);
            else if ('type' in step) rig.receive(step.type === 'open' && step.stream === null ? { ...step, stream: (lastId += 2) } : step);
            else if (step.local === 'fill') rig.transport.bufferedAmount = FULL;
            else if (step.local === 'empty') rig.transport.drainTo(0);
            else if (step.local === 'drain') rig.connection.drain(1_000, ResetCode.NO_ERROR, '');
            else if (step.local === 'open') locals.push(...(rig.connection.acceptsStreams ? [rig.open({ payload: 'mine' })] : []));
            else {
              const holder = holders().find(({ live }) => !live.sealed);
              if (holder === undefined) continue;
              if (step.local === 'reset') holder.live.reset('user', ResetCode.CANCEL, '');
              else rig.send(holder, { payload: 'mine', end: step.local === 'end' });
            }
            expect(rig.connection.budget.held.used).toBeLessThanOrEqual(limits.maxHeldBytes);
            expect(rig.connection.places).toBeLessThanOrEqual(limits.maxStreams);
          }
          const ids = rig.remotes.map(({ live }) => live.id);
          expect(ids.every((each, at) => each % 2 === 1 && !ids.slice(0, at).includes(each))).toBe(true);
          for (const { code } of rig.transport.closes) expect(CLOSES).toContain(code);
          for (const { type, code } of rig.sent) if (type === 'reset') expect(code).not.toBe(ResetCode.INTERNAL_ERROR);
          expect(logs.errors).toEqual([]);
          rig.transport.end();
          for (const { live } of rig.remotes) live.handlerSettled();
          for (const { ends } of holders()) expect(ends).toHaveLength(1);
          expect([rig.isEmpty, time.isOver]).toEqual([true, true]);
        })();
      }),
      { numRuns: 250 },
    );
  });
});
