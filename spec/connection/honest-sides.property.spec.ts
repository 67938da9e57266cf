import { describe, expect, it, jest } from '@jest/globals';
import { noop } from 'rxjs';
import fc from '../support/fast-check.js';
import { logger } from '../../src/logger.js';
import type { Frame } from '../../src/wire/frame.js';
import { encodedLength } from '../../src/wire/length.js';
import { ResetCode } from '../../src/wire/codes.js';
import { BreakableCodec, WRITING } from '../support/codec/breakable.js';
import { collectLogs } from '../support/peer/logs.js';
import { Rig } from '../support/session/rig.js';
import type { Holder } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';

const CAP = 256;
const FULL = 1024 * 1024;
const CODES = [ResetCode.CANCEL, ResetCode.APPLICATION_ERROR, ResetCode.NO_ERROR, 300, null];

collectLogs();

/** One step of one side. `choice` picks a stream, a code or a duration. */
interface Step {
  readonly side: 0 | 1;
  readonly act: 'open' | 'notify' | 'send' | 'end' | 'reset' | 'ping' | 'deliver' | 'fill' | 'empty' | 'turn' | 'break' | 'drain';
  readonly choice: number;
  readonly size: number;
  /** Whether it happens in the observer of the next frame that this side sends. */
  readonly inside: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  side: fc.constantFrom(0, 1),
  act: fc.oneof(
    {
      weight: 20,
      arbitrary: fc.constantFrom<Step['act'][]>('open', 'send', 'send', 'end', 'reset', 'deliver', 'deliver', 'fill', 'empty'),
    },
    { weight: 5, arbitrary: fc.constantFrom<Step['act'][]>('notify', 'ping', 'turn', 'break') },
    { weight: 1, arbitrary: fc.constant<Step['act']>('drain') },
  ),
  choice: fc.nat(1_000),
  size: fc.oneof(fc.nat(20), fc.nat(2_000)),
  inside: fc.boolean(),
});

/** One side: its rig, its streams, and the number of messages that it has received. */
class Side {
  readonly breakable = new BreakableCodec('json', WRITING);
  readonly rig: Rig;
  readonly locals: Holder[] = [];
  /** Payloads accepted for each stream, in order. */
  readonly accepted = new Map<number, unknown[]>();
  /** Notifications, which expect no answer. */
  readonly forgotten = new Set<number>();
  got = 0;
  #inside: Step[] = [];

  constructor(isDialer: boolean) {
    this.rig = new Rig({ isDialer, codec: this.breakable.codec, maxFrameBytes: CAP });
    this.rig.onOpened = ({ live }) => {
      live.handlerStarted();
    };
    this.rig.onObserved = (direction) => {
      if (direction === 'tx') for (const each of this.#inside.splice(0)) this.act(each);
    };
  }

  get holders(): readonly Holder[] {
    return [...this.locals, ...this.rig.remotes];
  }

  perform(each: Step): void {
    if (each.inside && each.act !== 'deliver') this.#inside.push(each);
    else this.act(each);
  }

  act({ act, choice, size }: Step): void {
    const { rig } = this;
    const holder = this.holders[choice % Math.max(1, this.holders.length)];
    const payload = `${choice}`.padEnd(size, '"');
    if (act === 'open' || act === 'notify') this.#open(payload, act === 'notify', choice % 2 === 0);
    else if (act === 'ping') rig.connection.control.ping(noop, noop);
    else if (act === 'fill') rig.transport.bufferedAmount = FULL;
    else if (act === 'empty') rig.transport.drainTo(0);
    else if (act === 'turn') rig.transport.nextTurn();
    else if (act === 'break') this.breakable.breaksAt = WRITING;
    else if (act === 'drain') rig.connection.drain(choice, ResetCode.NO_ERROR, '');
    else if (holder === undefined || holder.live.sealed) return;
    else if (act === 'send') this.#send(holder, { payload });
    else if (act === 'end') this.#send(holder, choice % 2 === 0 ? { end: true } : { payload, end: true });
    else holder.live.reset('user', CODES[choice % CODES.length] ?? null, payload);
  }

  #open(payload: unknown, forgotten: boolean, end: boolean): void {
    if (!this.rig.connection.acceptsStreams) return;
    const holder = this.rig.local(forgotten);
    this.locals.push(holder);
    if (forgotten) this.forgotten.add(holder.live.id);
    this.#send(holder, { type: 'open', payload, end: forgotten || end });
  }

  #send(holder: Holder, frame: Partial<Frame>): void {
    const accepted = this.accepted.get(holder.live.id) ?? [];
    this.accepted.set(holder.live.id, accepted);
    if (frame.payload !== undefined) accepted.push(frame.payload);
    this.rig.send(holder, frame);
  }
}

function deliver(from: Side, to: Side, count: number): void {
  for (const message of from.rig.transport.sent.slice(to.got, to.got + count)) {
    to.got++;
    to.rig.transport.receive(message);
  }
}

function play(steps: readonly Step[]): [Side, Side] {
  const sides: [Side, Side] = [new Side(true), new Side(false)];
  for (const each of steps) {
    const side = sides[each.side];
    if (each.act === 'deliver') deliver(sides[1 - each.side] as Side, side, each.choice % 10);
    else side.perform(each);
  }
  for (let moved = true; moved;) {
    moved = false;
    for (const [at, side] of sides.entries()) {
      const other = sides[1 - at] as Side;
      side.rig.transport.drainTo(0);
      side.rig.settle();
      const due = other.rig.transport.sent.length - side.got;
      if (due > 0) moved = true;
      deliver(other, side, due);
    }
  }
  return sides;
}

describe('honest sides', () => {
  it('Two honest sides make no protocol error, lose no frame and end each stream once, whatever their users and codecs do', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        inTime(() => {
          const ignored: string[] = [];
          jest.spyOn(logger, 'debug').mockImplementation((line) => ignored.push(line));
          const sides = play(steps);
          // An open may cross a goaway. No other frame of an honest side is dropped.
          expect(ignored.filter((line) => !line.includes('an open of stream'))).toEqual([]);
          for (const [at, side] of sides.entries()) {
            const other = sides[1 - at] as Side;
            expect(side.rig.transport.sent.every((message) => encodedLength(message) <= CAP)).toBe(true);
            for (const { code } of side.rig.sent) expect([ResetCode.PROTOCOL_ERROR, ResetCode.STREAM_CLOSED]).not.toContain(code);
            for (const { code } of side.rig.transport.closes) expect(code).toBe(1000);
            for (const { live, open, payloads } of side.holders) {
              const got = [...(open === null ? [] : [open.payload]), ...payloads];
              const sent = other.accepted.get(live.id) ?? [];
              expect(got).toEqual(sent.slice(0, got.length));
            }
            for (const { live, ends, payloads } of side.locals) {
              const twin = other.rig.remotes.find((remote) => remote.live.id === live.id);
              if (ends[0]?.how === 'ended' && twin?.ends[0]?.how === 'ended') {
                if (!side.forgotten.has(live.id)) expect(payloads).toEqual(other.accepted.get(live.id) ?? []);
                expect([twin.open?.payload, ...twin.payloads]).toEqual(side.accepted.get(live.id));
              }
            }
          }
          for (const { rig, holders } of sides) {
            rig.transport.end();
            for (const { live } of rig.remotes) live.handlerSettled();
            for (const { ends } of holders) expect(ends).toHaveLength(1);
            expect(rig.isEmpty).toBe(true);
          }
        })();
      }),
      { numRuns: 150 },
    );
  });
});
