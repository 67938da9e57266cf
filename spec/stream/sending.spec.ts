import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { MEASURED_BYTES } from '../../src/connection/budget.js';
import { BULK_FRAME_BYTES, LONE_WINDOW_BYTES } from '../../src/connection/bulk-window.js';
import { BYTES_PER_PING } from '../../src/connection/inbound.js';
import { TURN_BYTES } from '../../src/connection/outbound.js';
import { Notifications, Waiting } from '../../src/peer/waiting.js';
import { Sending } from '../../src/stream/sending.js';
import type { Cut } from '../../src/stream/sending.js';
import { TABLE } from '../../src/stream/state.js';
import type { StateName, StreamInput, StreamPhase } from '../../src/stream/state.js';
import { StreamCore } from '../../src/stream/stream-core.js';
import type { Codec } from '../../src/wire/codec.js';
import { ResetCode } from '../../src/wire/codes.js';
import { slicerFor } from '../../src/wire/fragment.js';
import { ABSENT, completeFrame } from '../../src/wire/frame.js';
import type { Frame, FrameOf } from '../../src/wire/frame.js';
import { encodedLength } from '../../src/wire/length.js';
import type { Limits } from '../../src/wire/limits.js';
import { OutgoingFrame } from '../../src/wire/outgoing.js';
import { MIN_CHARGE_BYTES } from '../../src/wire/reassembly.js';
import { collectLogs } from '../support/peer/logs.js';
import { answer, countOf, pull, turns } from '../support/session/paced.js';
import { Holder, Rig, scriptedOwner } from '../support/session/rig.js';
import type { RigOptions } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';

const CODEC = new JsonCodec();
const CAP = 128;
const cut: Cut = (frame) => slicerFor(frame, CAP, CODEC);
const uncut: Cut = () => null;

describe('Sending', () => {
  it.each([
    ['a frame without a payload counts the least charge', {}, 64],
    ['a small payload counts the least charge', { payload: 'x' }, 64],
    ['a payload counts its bytes', { payload: 'x'.repeat(98) }, 100],
    ['a payload with characters of several bytes counts its bytes', { payload: 'é'.repeat(49) }, 100],
  ])('Sending counts what a frame holds in memory: %s', (_, fields: Partial<Frame>, bytes) => {
    const queue = new Sending();
    expect([queue.add(data(fields)), queue.bytes]).toEqual([bytes, bytes]);
    expect(queue.add(data(fields))).toBe(bytes);
    expect(queue.bytes).toBe(2 * bytes);
  });

  it('`take` returns whole frames in the order of `add`, and counts down to 0', () => {
    const frames = [1, 2, 3].map((payload) => data({ payload: String(payload).repeat(98) }));
    const queue = queueOf(frames);
    const bytes = frames.map((frame) => {
      expect(queue.front).toBe(frame);
      expect(queue.take(1, uncut)).toBe(frame);
      return queue.bytes;
    });
    expect(bytes).toEqual([200, 100, 0]);
    expect(queue.frames).toBe(0);
  });

  it('`take` returns the slices of a frame one after another, without another frame between them', () => {
    const queue = queueOf([data({ payload: 'a'.repeat(300) }), data({ payload: 'b' })]);
    const slices = takeAllOf(queue);
    const fragments = slices.slice(0, -1);
    expect(fragments.length).toBeGreaterThan(2);
    expect(fragments.map(({ fragment }) => fragment).join('')).toBe(`"${'a'.repeat(300)}"`);
    expect(fragments.map(({ more }) => more)).toEqual(fragments.map((_, at) => at < fragments.length - 1));
    expect(slices.at(-1)?.payload).toBe('b');
    expect(queue.bytes).toBe(0);
  });

  it('Sending counts down with each slice and never below 0', () => {
    const queue = queueOf([data({ payload: 'a'.repeat(300) })]);
    const counts = [queue.bytes];
    while (queue.frames > 0) {
      queue.take(1, cut);
      counts.push(queue.bytes);
    }
    expect(counts[0]).toBe(302);
    expect(counts.at(-1)).toBe(0);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect(Math.min(...counts)).toBe(0);
  });

  it.each<[string, unknown, Codec]>([
    ['plain text', 'a'.repeat(1_000), CODEC],
    ['text of two bytes a unit', 'é'.repeat(500), CODEC],
    ['text with escapes', '"'.repeat(300), CODEC],
    ['bytes', new Uint8Array(1_000), new MsgpackCodec()],
  ])('Sending counts a slice by its bytes: %s', (_what, payload, codec) => {
    const queue = queueOf([new OutgoingFrame({ type: 'data', stream: 1, payload }, codec.encodePayload(payload), codec)]);
    let slices = 0;
    for (let before = queue.bytes; queue.frames > 0; before = queue.bytes) {
      const { fragment, more } = queue.take(1, (frame) => slicerFor(frame, 256, codec));
      if (more === true) expect(before - queue.bytes).toBe(encodedLength(fragment ?? ''));
      slices++;
    }
    expect(slices).toBeGreaterThan(3);
  });

  it('Sending charges small slices 64 bytes each, until the charge of their frame is used up', () => {
    const frame = data({ payload: 'a'.repeat(150) });
    const queue = queueOf([frame]);
    const counts: number[] = [];
    while (queue.frames > 0) {
      expect(queue.take(1, (whole) => slicerFor(whole, 80, CODEC)).fragment?.slice(0)).not.toBe('');
      counts.push(queue.bytes);
    }
    expect(counts.slice(0, 4)).toEqual([152 - 64, 152 - 128, 0, 0]);
    expect(counts.at(-1)).toBe(0);
  });

  it('`isUnopened` is true only until the first slice of the open is taken', () => {
    const queue = queueOf([outgoing({ type: 'open', stream: 1, payload: 'a'.repeat(300) })]);
    expect(queue.isUnopened).toBe(true);
    queue.take(1, cut);
    expect(queue.isUnopened).toBe(false);
    expect(queueOf([data({ payload: 1 })]).isUnopened).toBe(false);
  });

  it('`drop` drops all frames, and the rest of the frame that is being sliced', () => {
    const queue = queueOf([data({ payload: 'a'.repeat(300) }), data({ payload: 2, end: true })]);
    expect(queue.isEnding).toBe(true);
    queue.take(1, cut);
    queue.drop();
    expect([queue.frames, queue.bytes, queue.isEnding, queue.isIdle]).toEqual([0, 0, false, true]);
    queue.add(data({ payload: 3 }));
    expect(queue.take(1, cut).payload).toBe(3);
  });

  it('`take` sets the id of the stream on each frame, and throws once no frame is queued', () => {
    const queue = queueOf([data({})]);
    expect(queue.take(7, cut).stream).toBe(7);
    expect(() => queue.take(7, cut)).toThrow(new TypeError('expected a frame to be queued, got a queue that is empty'));
  });

  it('Sending stays unchanged when its first frame cannot be sliced', () => {
    const frame = data({ payload: 'a'.repeat(300) });
    const queue = queueOf([frame]);
    const failing: Cut = () => {
      throw new TypeError('no');
    };
    expect(() => queue.take(1, failing)).toThrow(new TypeError('no'));
    expect([queue.front, queue.bytes]).toEqual([frame, 302]);
  });
});

function data(fields: Partial<Frame>): OutgoingFrame {
  return outgoing({ type: 'data', stream: 1, ...fields });
}

function outgoing(frame: Frame): OutgoingFrame {
  const { payload = ABSENT } = frame;
  return new OutgoingFrame(frame, payload === ABSENT ? null : CODEC.encodePayload(payload), CODEC);
}

function queueOf(frames: readonly OutgoingFrame[]): Sending {
  const queue = new Sending();
  for (const frame of frames) queue.add(frame);
  return queue;
}

function takeAllOf(queue: Sending): Frame[] {
  const slices: Frame[] = [];
  while (queue.frames > 0) slices.push(queue.take(1, cut));
  return slices;
}

// A dash marks an input that breaks the protocol.
const PICTURE = `
state                   phase             leave          sendOpen          recvOpen    recvData         seal                    sendEnd               recvEnd                 sendReset  recvReset  close
queued                  idle              leaving        -                 -           -                queuedSealed            -                     -                       withdrawn  withdrawn  withdrawn
queuedSealed            idle              leavingSealed  -                 -           -                -                       -                     -                       withdrawn  withdrawn  withdrawn
leaving                 idle              -              unanswered        -           -                leavingSealed           -                     -                       closed     closed     closed
leavingSealed           idle              -              unansweredSealed  -           -                -                       -                     -                       closed     closed     closed
arriving                idle              -              -                 open        -                arrivingSealed          -                     -                       closed     closed     closed
arrivingSealed          idle              -              -                 openSealed  -                -                       -                     -                       closed     closed     closed
unanswered              open              -              -                 -           open             unansweredSealed        -                     halfClosedRemote        closed     closed     closed
unansweredSealed        open              -              -                 -           openSealed       -                       halfClosedUnanswered  halfClosedRemoteSealed  closed     closed     closed
open                    open              -              -                 -           open             openSealed              -                     halfClosedRemote        closed     closed     closed
openSealed              open              -              -                 -           openSealed       -                       halfClosedLocal       halfClosedRemoteSealed  closed     closed     closed
halfClosedUnanswered    halfClosedLocal   -              -                 -           halfClosedLocal  -                       -                     closed                  closed     closed     closed
halfClosedLocal         halfClosedLocal   -              -                 -           halfClosedLocal  -                       -                     closed                  closed     closed     closed
halfClosedRemote        halfClosedRemote  -              -                 -           -                halfClosedRemoteSealed  -                     -                       closed     closed     closed
halfClosedRemoteSealed  halfClosedRemote  -              -                 -           -                -                       closed                -                       closed     closed     closed
withdrawn               closed            -              -                 -           -                -                       -                     -                       -          -          -
closed                  closed            -              -                 -           -                -                       -                     -                       -          -          -
`;

const [[, , ...INPUTS] = [], ...ROWS] = PICTURE.trim()
  .split('\n')
  .map((line) => line.trim().split(/ +/));

const CELLS = ROWS.flatMap(([state, phase, ...nexts]) =>
  INPUTS.map((input, at) => [state as StateName, input as StreamInput, nexts[at] as StateName | '-', phase as StreamPhase] as const),
);

/** The side that opens the stream, and the inputs that bring it to a state. */
const WAYS: Readonly<Record<StateName, readonly ['this side' | 'the remote', ...StreamInput[]]>> = {
  queued: ['this side'],
  queuedSealed: ['this side', 'seal'],
  leaving: ['this side', 'leave'],
  leavingSealed: ['this side', 'leave', 'seal'],
  arriving: ['the remote'],
  arrivingSealed: ['the remote', 'seal'],
  unanswered: ['this side', 'leave', 'sendOpen'],
  unansweredSealed: ['this side', 'leave', 'sendOpen', 'seal'],
  open: ['the remote', 'recvOpen'],
  openSealed: ['the remote', 'recvOpen', 'seal'],
  halfClosedUnanswered: ['this side', 'leave', 'sendOpen', 'seal', 'sendEnd'],
  halfClosedLocal: ['the remote', 'recvOpen', 'seal', 'sendEnd'],
  halfClosedRemote: ['the remote', 'recvOpen', 'recvEnd'],
  halfClosedRemoteSealed: ['the remote', 'recvOpen', 'recvEnd', 'seal'],
  withdrawn: ['this side', 'sendReset'],
  closed: ['the remote', 'sendReset'],
};

const UNSENT: readonly StateName[] = ['queued', 'queuedSealed', 'withdrawn'];
const HEADERS_DUE: readonly StateName[] = ['unanswered', 'unansweredSealed', 'halfClosedUnanswered'];
const SEALED: readonly StateName[] = [
  'queuedSealed',
  'leavingSealed',
  'arrivingSealed',
  'unansweredSealed',
  'openSealed',
  'halfClosedUnanswered',
  'halfClosedLocal',
  'halfClosedRemoteSealed',
  'withdrawn',
  'closed',
];

function stateIn(name: StateName): StreamCore {
  const [opener, ...inputs] = WAYS[name];
  const state = new StreamCore(scriptedOwner(), opener === 'this side', false, null, ABSENT);
  for (const input of inputs) expect(state.advance(input)).toBe(true);
  return state;
}

function isDue(name: StateName): boolean {
  const row = TABLE[name];
  return 'headersDue' in row && row.headersDue;
}

describe('TABLE', () => {
  it('`TABLE` has a cell for each of 16 states and 10 inputs', () => {
    expect(ROWS.map(([state]) => state)).toEqual(Object.keys(TABLE));
    expect(new Set(CELLS.map(([state, input]) => `${state} ${input}`)).size).toBe(160);
  });

  it.each(CELLS)('`TABLE` leads from %s by %s to %s', (state, input, next) => {
    const leads: Partial<Record<StreamInput, StateName>> = TABLE[state].leads;
    expect(leads[input]).toBe(next === '-' ? undefined : next);
  });
});

describe('the state of a stream', () => {
  it.each(Object.keys(WAYS) as StateName[])('A stream shows the facts of the state %s', (name) => {
    const { phase, hasClosed, sealed, unsent } = stateIn(name);
    expect(phase).toBe(TABLE[name].phase);
    expect(hasClosed).toBe(phase === 'closed');
    expect([sealed, unsent, isDue(name)]).toEqual([SEALED, UNSENT, HEADERS_DUE].map((names) => names.includes(name)));
  });

  it.each(CELLS)('A stream moves from %s by %s to %s, and stays unchanged for a dash', (name, input, next, phase) => {
    const state = stateIn(name);
    const isAllowed = next !== '-';
    expect(state.phase).toBe(phase);
    expect(state.accepts(input)).toBe(isAllowed);
    expect(state.advance(input)).toBe(isAllowed);
    const { sealed, unsent } = state;
    const after = isAllowed ? next : name;
    expect(state.phase).toBe(TABLE[after].phase);
    expect([sealed, unsent, isDue(after)]).toEqual([SEALED, UNSENT, HEADERS_DUE].map((names) => names.includes(after)));
  });
});

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

const CANCELLED = { how: 'reset', by: 'user', code: ResetCode.CANCEL, reason: 'enough', payload: null };
const OPEN = { type: 'open' };
const END = { type: 'data', end: true };
const send = (stream: Holder, ...frames: readonly { readonly type: string; readonly end?: boolean }[]) => {
  for (const frame of frames) stream.send(new OutgoingFrame(frame, null));
};

/** A stream of this side that waits for a socket, in a queue of `limit` bytes. */
function waiting(limit = Infinity) {
  const queue = new Waiting(limit);
  const stream = new Holder(scriptedOwner(), true);
  queue.enqueue(stream, null);
  return { queue, stream };
}

describe('a stream without a socket', () => {
  it('A stream without a socket queues its frames up to its end', () => {
    const { queue, stream } = waiting();
    send(stream, OPEN, END, { type: 'data' });
    expect([stream.sending?.frames, queue.bytes]).toEqual([2, 128]);
    expect(stream).toMatchObject({ id: null, phase: 'idle', sealed: true, unsent: true });
  });

  it('A stream without a socket ends once with a reset, and its waiting tasks run after its user knows', () => {
    const { queue, stream } = waiting(1);
    send(stream, OPEN);
    const told: string[] = [];
    stream.onGone = () => told.push('gone');
    stream.whenRoom(() => told.push('woken'));
    stream.reset('user', ResetCode.CANCEL, 'enough');
    stream.reset('user', ResetCode.CANCEL, 'once more');
    stream.fail({ how: 'ended' });
    expect([stream.ends, told]).toEqual([[CANCELLED], ['gone', 'woken']]);
    expect(stream).toMatchObject({ phase: 'closed', sealed: true, unsent: true });
    expect([queue.size, queue.bytes]).toEqual([0, 0]);
  });

  it('A stream ends before it is queued, and drops its frames', () => {
    const stream = new Holder(scriptedOwner(), true);
    send(stream, OPEN);
    stream.reset('user', ResetCode.CANCEL, 'enough');
    expect(stream.ends).toEqual([CANCELLED]);
  });

  it('A stream without a socket receives no frames', () => {
    const { stream } = waiting();
    const reset = { ...completeFrame({ type: 'reset' }), type: 'reset' } as FrameOf<'reset'>;
    expect(() => stream.next(reset)).toThrow('expected a stream that a socket has accepted, got one that waits');
  });

  it('A connection accepts a waiting stream, which takes an id and sends what it has queued', () => {
    const { queue, stream } = waiting();
    send(stream, OPEN, END);
    const rig = new Rig();
    queue.flushTo(rig.connection, new Notifications());
    expect([stream.id, stream.sealed, queue.bytes]).toEqual([2, true, 0]);
    expect(rig.news).toEqual([
      { type: 'open', stream: 2 },
      { type: 'data', stream: 2, end: true },
    ]);
  });

  it('A waiting stream without the end goes on at the connection that accepts it', () => {
    const { queue, stream } = waiting();
    send(stream, OPEN);
    const rig = new Rig();
    queue.flushTo(rig.connection, new Notifications());
    rig.send(stream, { payload: 1 });
    expect(rig.news.map(({ type }) => type)).toEqual(['open', 'data']);
  });

  it('A stream that has sent nothing yet runs its tasks at the connection that accepts it', () => {
    const { queue, stream } = waiting();
    let ran = 0;
    stream.whenDemand(() => ran++);
    const rig = new Rig();
    queue.flushTo(rig.connection, new Notifications());
    expect([stream.id, ran, rig.news]).toEqual([2, 1, []]);
  });

  it('A stream that leaves a full queue makes room for the tasks of the others', () => {
    const { queue, stream } = waiting(64);
    send(stream, OPEN);
    const other = new Holder(scriptedOwner(), true);
    queue.requeue(other);
    let isWoken = false;
    other.whenRoom(() => (isWoken = true));
    expect([other.hasRoom, isWoken]).toEqual([false, false]);
    stream.reset('user', ResetCode.CANCEL, '');
    expect([other.hasRoom, isWoken]).toEqual([true, true]);
  });

  it('A handler of a stream of this side takes no place, and its id is not announced', () => {
    const rig = new Rig();
    const stream = rig.open();
    stream.live.handlerStarted();
    stream.live.handlerSettled();
    rig.connection.drain(0, ResetCode.NO_ERROR, '');
    expect([rig.connection.places, rig.news.find(({ type }) => type === 'goaway')]).toMatchObject([0, { last_stream: 0 }]);
  });
});

const KIB = 1024;
const MIB = 1024 * KIB;
/** A payload of six slices under JSON. */
const BIG = 'x'.repeat(6 * 65_000);

/** A rig with three open streams, 2, 4 and 6, whose socket is full. */
function full(options: RigOptions = {}): readonly [Rig, Holder, Holder, Holder] {
  const rig = new Rig(options);
  const streams = [rig.open(), rig.open(), rig.open()] as const;
  rig.forget();
  rig.transport.bufferedAmount = MIB;
  return [rig, ...streams];
}

const streamsOf = (rig: Rig) => rig.news.map(({ stream, type }) => stream ?? type);

describe('frames', () => {
  it('A frame leaves at once, without being queued, while the socket has room', () => {
    const rig = new Rig();
    rig.transport.bufferedAmount = MIB - 1;
    const stream = rig.open({ payload: 'a' });
    rig.send(stream, { payload: 'b' });
    expect(streamsOf(rig)).toEqual([2, 2]);
    expect(rig.connection.outbound.bytes).toBe(0);
  });

  it('Session cuts and encodes a slice only when its turn comes', () => {
    const [rig, stream] = full();
    rig.send(stream, { payload: BIG });
    const cut = () => rig.observed.filter(([, { fragment }]) => fragment !== undefined).length;
    expect(cut()).toBe(0);
    rig.transport.onSend = () => {
      rig.transport.bufferedAmount = MIB;
    };
    rig.transport.drainTo(0);
    expect(cut()).toBe(1);
  });
});

describe('room', () => {
  it('`whenRoom` runs a task at once while the stream has less than 256 KiB queued', () => {
    const [rig, stream] = full();
    rig.send(stream, { payload: 'x'.repeat(256 * KIB - 3) });
    expect(stream.live.hasRoom).toBe(true);
    let woken = 0;
    stream.live.whenRoom(() => woken++);
    expect(woken).toBe(1);
  });

  it('`whenRoom` waits while the stream has 256 KiB queued', () => {
    const [rig, stream, other] = full();
    rig.send(stream, { payload: 'x'.repeat(256 * KIB - 2) });
    expect([stream.live.hasRoom, other.live.hasRoom]).toEqual([false, true]);
    const woken: string[] = [];
    stream.live.whenRoom(() => woken.push(`first at ${rig.transport.sent.length}`));
    stream.live.whenRoom(() => woken.push(`second at ${rig.transport.sent.length}`));
    expect(woken).toEqual([]);
    rig.transport.drainTo(0);
    expect(woken).toEqual(['first at 4', 'second at 4']);
  });

  it('No stream has room while all streams together have sendHighWaterBytes queued', () => {
    const [rig, one, two, three] = full({ limits: { sendHighWaterBytes: 1_000 } });
    rig.send(one, { payload: 'x'.repeat(497) });
    rig.send(two, { payload: 'x'.repeat(498) });
    expect(three.live.hasRoom).toBe(true);
    rig.send(two, { payload: 1 });
    expect(three.live.hasRoom).toBe(false);
    const woken: string[] = [];
    three.live.whenRoom(() => woken.push('three'));
    two.live.whenRoom(() => woken.push('two'));
    one.live.reset('user', ResetCode.CANCEL, '');
    expect(woken).toEqual(['three', 'two']);
  });

  it('`whenRoom` runs the next waiting task only if the previous one has left room', () => {
    const [rig, one, two, three] = full({ limits: { sendHighWaterBytes: 1_000 } });
    rig.send(one, { payload: 'x'.repeat(998) });
    const woken: string[] = [];
    two.live.whenRoom(() => {
      woken.push('two');
      rig.send(two, { payload: 'x'.repeat(998) });
    });
    three.live.whenRoom(() => woken.push('three'));
    one.live.reset('user', ResetCode.CANCEL, '');
    expect(woken).toEqual(['two']);
    rig.transport.drainTo(0);
    expect(woken).toEqual(['two', 'three']);
  });

  it('`whenRoom` runs its tasks after its stream has ended, and later tasks at once', () => {
    const [rig, stream] = full();
    rig.send(stream, { payload: BIG });
    const told: string[] = [];
    stream.live.whenRoom(() => told.push('woken'));
    stream.onGone = () => told.push('gone');
    rig.receive({ type: 'reset', stream: 2, code: ResetCode.CANCEL });
    expect(told).toEqual(['gone', 'woken']);
    expect(stream.live.hasRoom).toBe(true);
    stream.live.whenRoom(() => told.push('at once'));
    expect(told).toEqual(['gone', 'woken', 'at once']);
  });

  it('A closed stream has room however much the other streams have queued', () => {
    const [rig, stream, other] = full({ limits: { sendHighWaterBytes: 100 } });
    rig.send(other, { payload: 'x'.repeat(100) });
    rig.receive({ type: 'reset', stream: 2, code: ResetCode.CANCEL });
    let woken = 0;
    stream.live.whenRoom(() => woken++);
    expect([stream.live.hasRoom, other.live.hasRoom, woken]).toEqual([true, false, 1]);
  });

  it('`overflowsWith` is true while maxUnsentBytes are queued', () => {
    const [rig, stream] = full({ limits: { maxUnsentBytes: 1_000 } });
    rig.send(stream, { payload: 'x'.repeat(1_000 - 64 - 2) });
    expect(stream.live.overflowsWith(1)).toBe(false);
    rig.send(stream, { payload: 1 });
    expect(stream.live.overflowsWith(1)).toBe(true);
    rig.transport.drainTo(0);
    expect(stream.live.overflowsWith(1)).toBe(false);
  });

  it('`overflowsWith` spares small values of a stream with an empty queue, up to sendHighWaterBytes more', () => {
    const [rig, stream, other] = full({ limits: { maxUnsentBytes: 1_000, sendHighWaterBytes: 500 } });
    rig.send(stream, { payload: 'x'.repeat(998) });
    expect([16 * 1024, 16 * 1024 + 1].map((bytes) => other.live.overflowsWith(bytes))).toEqual([false, true]);
    rig.send(stream, { payload: 'x'.repeat(498) });
    expect(other.live.overflowsWith(1)).toBe(true);
  });

  it('`keep` counts no bytes for a stream without a consumer, since no reader would release them', () => {
    const rig = new Rig();
    const stream = rig.remote(1, { end: true });
    rig.send(stream, { end: true });
    expect([stream.cause, stream.live.keep(1_000), rig.connection.budget.held.used]).toEqual([{ how: 'ended' }, true, 0]);
    stream.live.read(1_000);
    expect(rig.connection.budget.held.used).toBe(0);
  });
});

describe('pulling streams', () => {
  const KIB = 1024;
  const FULL = 1024 * KIB;
  const ROOM = 256 * KIB;
  /** A payload that fills the share of one turn of the event loop, in a single message. */
  const SHARE = 'x'.repeat(TURN_BYTES);
  const WIDE = { maxFrameBytes: 256 * KIB };

  /** A rig with `count` open streams, and a list for the names of the tasks that ran. */
  function pulled(count: number, options = WIDE): readonly [rig: Rig, streams: readonly Holder[], ran: string[]] {
    const rig = new Rig({ ...options, measured: false });
    const streams = Array.from({ length: count }, () => rig.open());
    rig.forget();
    return [rig, streams, []];
  }

  it('`whenDemand` runs its task at once while the socket and the turn have room', () => {
    const [rig, [stream], ran] = pulled(1);
    expect(stream?.live.hasDemand).toBe(true);
    stream?.live.whenDemand(() => ran.push('task'));
    expect([ran, rig.transport.turnsDue, rig.transport.awaitedBytes]).toEqual([['task'], 0, null]);
  });

  it('`whenDemand` waits for the next turn once the share of this turn is used up', () => {
    const [rig, [stream, other], ran] = pulled(2);
    if (other !== undefined) rig.send(other, { payload: SHARE });
    expect(stream?.live.hasDemand).toBe(false);
    stream?.live.whenDemand(() => ran.push('task'));
    expect([ran, rig.transport.turnsDue]).toEqual([[], 1]);
    rig.transport.nextTurn();
    expect([ran, stream?.live.hasDemand, rig.transport.turnsDue]).toEqual([['task'], true, 0]);
  });

  it.each([
    ['one byte less than a share', -1, true],
    ['exactly a share', 0, false],
  ])('`hasDemand` counts the charges of the open and of the message besides the payload: %s', (_what, more, idle) => {
    const [rig, [stream]] = pulled(1);
    if (stream !== undefined) rig.send(stream, { payload: 'x'.repeat(TURN_BYTES - 2 * MIN_CHARGE_BYTES - '""'.length + more) });
    expect(stream?.live.hasDemand).toBe(idle);
  });

  it('`whenDemand` waits until the socket has room again', () => {
    const [rig, [stream], ran] = pulled(1);
    rig.transport.bufferedAmount = FULL;
    expect(stream?.live.hasDemand).toBe(false);
    stream?.live.whenDemand(() => ran.push('task'));
    expect([ran, rig.transport.turnsDue, rig.transport.awaitedBytes]).toEqual([[], 0, ROOM]);
    rig.transport.drainTo(ROOM);
    expect(ran).toEqual(['task']);
  });

  it('`whenDemand` never runs its task on a socket that the remote has begun to close', () => {
    const [rig, [stream], ran] = pulled(1);
    rig.transport.closing = true;
    expect(stream?.live.hasDemand).toBe(false);
    stream?.live.whenDemand(() => ran.push('task'));
    for (let turn = 0; turn < 3; turn++) rig.transport.nextTurn();
    expect([ran, rig.transport.turnsDue, rig.news]).toEqual([[], 0, []]);
  });

  it('`whenDemand` waits behind the queued frames', () => {
    const [rig, [stream, other], ran] = pulled(2);
    rig.transport.bufferedAmount = FULL;
    if (other !== undefined) rig.send(other, { payload: 'before' });
    stream?.live.whenDemand(() => ran.push(`behind ${rig.news.length}`));
    rig.transport.drainTo(0);
    expect(ran).toEqual(['behind 1']);
  });

  it('`whenDemand` waits until the frame that is leaving has left', () => {
    const [rig, [stream, other], ran] = pulled(2);
    rig.onObserved = () => {
      rig.onObserved = () => undefined;
      ran.push(`idle: ${String(stream?.live.hasDemand)}`);
      stream?.live.whenDemand(() => ran.push(`behind ${rig.news.length}`));
    };
    if (other !== undefined) rig.send(other, { payload: 'leaving' });
    expect(ran).toEqual(['idle: false', 'behind 1']);
  });

  it('Pulling streams take turns, one share of a turn each', () => {
    const [rig, streams, ran] = pulled(3);
    rig.transport.bufferedAmount = FULL;
    for (const stream of streams) {
      const step = (): void => {
        ran.push(String(stream.live.id));
        rig.send(stream, { payload: SHARE });
        if (ran.length < 5) stream.live.whenDemand(step);
      };
      stream.live.whenDemand(step);
    }
    rig.transport.drainTo(0);
    const after = [ran.length];
    while (rig.transport.turnsDue > 0) {
      rig.transport.nextTurn();
      after.push(ran.length);
    }
    expect(ran).toEqual(['2', '4', '6', '2', '4', '6', '2']);
    expect(after).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('The scheduler asks at most 16 streams in a row that do not answer at once, and the others in later turns', () => {
    const [rig, streams, ran] = pulled(40);
    rig.transport.bufferedAmount = FULL;
    for (const stream of streams) stream.live.whenDemand(() => ran.push('asked'));
    rig.transport.drainTo(0);
    const after = [ran.length];
    while (rig.transport.turnsDue > 0) {
      rig.transport.nextTurn();
      after.push(ran.length);
    }
    expect(after).toEqual([16, 32, 40]);
  });

  it('A stream that answers within the turn has demand again, while others wait to be asked', () => {
    const [rig, streams] = pulled(17);
    const [stream] = streams;
    rig.transport.bufferedAmount = FULL;
    for (const { live } of streams) live.whenDemand(() => undefined);
    rig.transport.drainTo(0);
    expect(rig.transport.turnsDue).toBe(1);
    expect(stream?.live.hasDemand).toBe(true);
    if (stream !== undefined) rig.send(stream, { payload: 'answer' });
    expect(rig.news).toHaveLength(1);
    expect(stream?.live.hasDemand).toBe(true);
  });

  it('An answer leaves at once where only pulled streams wait for the next turn', () => {
    const [rig, [stream, other, third], ran] = pulled(3);
    if (other !== undefined) rig.send(other, { payload: SHARE });
    stream?.live.whenDemand(() => ran.push('next turn'));
    rig.forget();
    if (third !== undefined) rig.send(third, { payload: 'answer' });
    expect([rig.news.length, ran, rig.transport.turnsDue]).toEqual([1, [], 1]);
    rig.transport.nextTurn();
    expect([ran, rig.transport.turnsDue]).toEqual([['next turn'], 0]);
  });

  it('A pulling stream sends one value after each slice of a transfer', () => {
    const [rig, [stream, other]] = pulled(2, { maxFrameBytes: 256 });
    rig.transport.bufferedAmount = FULL;
    if (other !== undefined) rig.send(other, { payload: 'x'.repeat(1_200) });
    let asked = 0;
    const step = (): void => {
      expect(stream?.live.hasDemand).toBe(true);
      if (stream !== undefined) rig.send(stream, { payload: asked++ });
      expect(stream?.live.hasDemand).toBe(false);
      if (asked < 4) stream?.live.whenDemand(step);
    };
    stream?.live.whenDemand(step);
    expect(asked).toBe(0);
    rig.transport.drainTo(0);
    const order = rig.news.map((frame) => frame['stream']);
    expect(order).toEqual([4, 4, 2, 4, 2, 4, 2, 4, 2, 4]);
  });

  it.each([
    ['alone', 1],
    ['beside others', 3],
  ])('A pulling stream has no demand while its previous frame is still being sliced: %s', (_, count) => {
    const [rig, streams] = pulled(count, { maxFrameBytes: 256 });
    rig.transport.bufferedAmount = FULL;
    let queuedAtMost = 0;
    const asked = streams.map((stream) => {
      let times = 0;
      const step = (): void => {
        rig.send(stream, { payload: 'x'.repeat(600) });
        queuedAtMost = Math.max(queuedAtMost, stream.live.sending?.bytes ?? 0);
        if (++times < 4) stream.live.whenDemand(step);
      };
      stream.live.whenDemand(step);
      return () => times;
    });
    rig.transport.drainTo(0);
    rig.settle();
    expect(asked.map((times) => times())).toEqual(Array.from({ length: count }, () => 4));
    expect(queuedAtMost).toBeLessThanOrEqual(602);
  });

  it('A pulling stream that sends nothing in its turn has no demand afterwards', () => {
    const [rig, [stream, other]] = pulled(2, { maxFrameBytes: 256 });
    rig.transport.bufferedAmount = FULL;
    if (other !== undefined) rig.send(other, { payload: 'x'.repeat(1_200) });
    const idle: unknown[] = [];
    stream?.live.whenDemand(() => idle.push(stream.live.hasDemand));
    rig.onObserved = () => idle.push(stream?.live.hasDemand);
    rig.transport.drainTo(0);
    expect(idle).toEqual([false, true, ...rig.news.slice(1).map(() => false)]);
  });

  it('`whenDemand` does not run a task within another task of its stream', () => {
    const [, [stream], ran] = pulled(1);
    stream?.live.whenDemand(() => {
      stream.live.whenDemand(() => ran.push('second'));
      ran.push('first');
    });
    expect(ran).toEqual(['first', 'second']);
  });

  it('`whenDemand` runs its task when the stream has ended, and later tasks at once', () => {
    const [rig, [stream], ran] = pulled(1);
    rig.transport.bufferedAmount = FULL;
    stream?.live.whenDemand(() => ran.push('waited'));
    stream?.live.reset('user', ResetCode.CANCEL, '');
    stream?.live.whenDemand(() => ran.push('closed'));
    expect([ran, stream?.live.hasDemand]).toEqual([['waited', 'closed'], true]);
  });

  it('`whenDemand` never runs its task on a failed connection, and waits for no turn', () => {
    const [rig, [stream], ran] = pulled(1);
    rig.receive({ type: 'open', stream: 0 });
    stream?.live.whenDemand(() => ran.push('task'));
    expect([ran, rig.transport.turnsDue, rig.transport.awaitedBytes]).toEqual([[], 0, null]);
  });
});

const SMALL = 'x'.repeat(1_000);
const MANY = (2 * LONE_WINDOW_BYTES) / SMALL.length;

/** Just no bulk. A ping follows two of them while other pings have no answer. */
const HALF = 'x'.repeat(BULK_FRAME_BYTES - '""'.length - 1);

/** Values that a source pushes, more of them than what one turn sends. */
function push(rig: Rig, stream: Holder): void {
  for (let n = 0; n < MANY; n++) rig.send(stream, { payload: SMALL });
}

/** A stream beside one whose values wait. */
function besideMany() {
  const rig = new Rig();
  const [many, other] = [rig.open(), rig.open()];
  pull(rig, many, SMALL);
  turns(rig, 50);
  rig.forget();
  return { rig, other };
}

const bytesOf = (rig: Rig, stream: Holder): number => countOf(rig.sent, stream) * SMALL.length;

describe('many small values of one source', () => {
  it.each<[string, (rig: Rig, stream: Holder) => void]>([
    ['pulled', (rig, stream) => pull(rig, stream, SMALL)],
    ['pushed', push],
  ])('Values that are %s wait once 1.5 MiB are unanswered, and continue with the pong', (_how, begin) => {
    inTime(() => {
      const rig = new Rig();
      const stream = rig.open();
      begin(rig, stream);
      turns(rig, 50);
      expect(bytesOf(rig, stream)).toBeGreaterThan(LONE_WINDOW_BYTES - BYTES_PER_PING);
      expect(bytesOf(rig, stream)).toBeLessThan(LONE_WINDOW_BYTES + 2 * BYTES_PER_PING);
      const before = countOf(rig.sent, stream);
      turns(rig, 50);
      expect(countOf(rig.sent, stream)).toBe(before);
      answer(rig);
      turns(rig, 50);
      expect(countOf(rig.sent, stream)).toBeGreaterThan(before);
    })();
  });

  it(
    'Two streams of pulled values share the window',
    inTime(() => {
      const rig = new Rig();
      const streams = [rig.open(), rig.open()];
      for (const stream of streams) pull(rig, stream, SMALL);
      turns(rig, 100);
      const bytes = streams.map((stream) => bytesOf(rig, stream));
      expect(Math.min(...bytes)).toBeGreaterThan(BYTES_PER_PING);
      expect(bytes.reduce((sum, each) => sum + each)).toBeLessThan(LONE_WINDOW_BYTES + 3 * BYTES_PER_PING);
    }),
  );

  it(
    'A stream that sends now and then leaves at once while such values wait, also right ahead of a ping',
    inTime(() => {
      const { rig, other } = besideMany();
      for (let sent = 1; sent <= 100; sent++) {
        rig.send(other, { payload: SMALL });
        turns(rig, 1);
        expect(countOf(rig.sent, other)).toBe(sent + 1);
      }
      expect(rig.news.some(({ type }) => type === 'ping')).toBe(true);
      expect(rig.connection.outbound.window?.holds(other)).toBe(false);
    }),
  );

  it.each([
    ['a value that others follow', false, true],
    ['the last value of its stream', true, false],
  ])('Right ahead of a ping leaves %s: the stream waits then', (_what, end, waits) => {
    inTime(() => {
      const { rig, other } = besideMany();
      expect(other.live.hasDemand).toBe(true);
      rig.send(other, { payload: HALF });
      expect(rig.news.at(-1)?.type).toBe('data');
      rig.send(other, { payload: HALF, end });
      expect(rig.news.at(-1)?.type).toBe('ping');
      expect(rig.connection.outbound.window?.holds(other)).toBe(waits);
    })();
  });
});

describe('unsent streams', () => {
  const MIB = 1024 * 1024;
  const { NO_ERROR, REFUSED, APPLICATION_ERROR } = ResetCode;
  const REFUSAL = { how: 'reset', by: 'library', code: REFUSED, reason: 'the remote is going away', payload: null };

  const logs = collectLogs();

  /** A rig whose socket is full, with one stream whose open has left and one whose open waits. */
  function waiting(): { rig: Rig; left: Holder; stream: Holder } {
    const rig = new Rig();
    const left = rig.open();
    rig.transport.bufferedAmount = MIB;
    const stream = rig.open({ payload: 'a', headers: { h: 1 } });
    rig.send(stream, { payload: 'x'.repeat(300_000) });
    rig.send(stream, { end: true });
    rig.forget();
    return { rig, left, stream };
  }

  const goaway = (rig: Rig) => {
    rig.receive({ type: 'goaway', code: NO_ERROR });
  };

  it.each([
    ['a goaway', goaway],
    ['the loss of the socket', (rig: Rig) => rig.transport.end()],
    [
      'a socket that the remote closes and that has room again',
      (rig: Rig) => {
        rig.transport.closing = true;
        rig.transport.drainTo(0);
        rig.transport.end();
      },
    ],
    [
      'a failed connection',
      (rig: Rig) => {
        rig.transport.receive('{');
        rig.transport.end();
      },
    ],
  ])('An unsent stream waits for the next socket with all its frames and tasks after %s', (_what, leave) => {
    const { rig, stream } = waiting();
    const woken: string[] = [];
    const { id } = stream.live;
    stream.live.whenDemand(() => woken.push('woken'));
    rig.expectsSocket = true;
    leave(rig);
    expect([rig.waiting.size, stream.id, stream.ends, woken]).toEqual([1, null, [], []]);
    expect(rig.connection.outbound.bytes).toBe(0);
    rig.transport.drainTo(0);
    expect(rig.news.filter(({ stream: sent }) => sent === id)).toEqual([]);
    const next = new Rig();
    rig.waiting.flushTo(next.connection, new Notifications());
    next.settle();
    const sent = next.news.filter(({ type }) => type !== 'ping');
    expect(sent.map(({ type, stream: own, headers, end }) => [type, own, headers, end])).toEqual([
      ['open', 2, { h: 1 }, undefined],
      ...sent.slice(1, -1).map(() => ['data', 2, undefined, undefined]),
      ['data', 2, undefined, true],
    ]);
    expect([
      sent[0]?.payload,
      sent
        .slice(1, -1)
        .map(({ fragment }) => String(fragment))
        .join('').length,
    ]).toEqual(['a', 300_002]);
    expect(woken).toEqual(['woken']);
  });

  it('A goaway refuses an unsent stream that does not wait for another socket, and wakes its waiting tasks', () => {
    const { rig, stream } = waiting();
    const told: string[] = [];
    stream.onGone = () => told.push('gone');
    stream.live.whenRoom(() => told.push('woken'));
    goaway(rig);
    expect(stream.ends).toEqual([REFUSAL]);
    expect(told).toEqual(['gone', 'woken']);
    expect(stream.live.unsent).toBe(true);
    expect(logs.errors).toEqual([]);
  });

  it('A stream on which nothing was sent waits without frames', () => {
    const rig = new Rig();
    const stream = rig.local();
    rig.expectsSocket = true;
    goaway(rig);
    expect([rig.waiting.size, rig.waiting.bytes, stream.sending]).toEqual([1, 0, null]);
  });

  it('A goaway drops an unsent stream that the application has reset', () => {
    const { rig, stream } = waiting();
    stream.live.reset('user', APPLICATION_ERROR, '');
    goaway(rig);
    rig.transport.drainTo(0);
    expect(rig.news.filter(({ stream: id }) => id === stream.live.id)).toEqual([]);
  });

  it.each([null, { why: 'left' }])('A reset with payload %j drops an unsent stream, and only the later open leaves', (payload) => {
    const { rig, stream } = waiting();
    const later = rig.open({ payload: 'later' });
    stream.live.reset('user', ResetCode.CANCEL, '', { payload, encodedPayload: payload === null ? null : JSON.stringify(payload) });
    rig.transport.drainTo(0);
    expect(rig.news.map(({ type, stream: id }) => [type, id])).toEqual([['open', later.live.id]]);
  });

  it('A stream whose open has left waits for no other socket', () => {
    const { rig, left, stream } = waiting();
    rig.expectsSocket = true;
    rig.transport.end();
    expect([left.ends, stream.ends, rig.waiting.size]).toMatchObject([[{ how: 'lost' }], [], 1]);
    expect(left.live.unsent).toBe(false);
  });
});
