import { DEFAULT_LIMITS, ResetCode } from '../../src/index.js';
import type { Codec } from '../../src/index.js';
import { bytes } from '../support/codec/values.js';
import { describeHostile } from '../support/hostile/case.js';
import type { Step } from '../support/hostile/case.js';
import { times } from '../support/hostile/floods.js';
import { cut, slices } from '../support/hostile/messages.js';
import { SECRET } from '../support/hostile/peer.js';
import { data, framed, holds, holdsNothing, limited, NONE, open, reset } from '../support/hostile/steps.js';
import type { Envelope } from '../support/peer/frames.js';

const { DEADLINE_EXCEEDED, ENHANCE_YOUR_CALM, REFUSED } = ResetCode;
const { maxHeldBytes, reassemblyTimeoutMs, maxStreams } = DEFAULT_LIMITS;

const MIB = 1024 * 1024;
const PIECE = 512 * 1024;
/** The charge for the payload of the innocent stream. */
const BEGUN = 64;

/** Fragments of 512 KiB without a last one, `perStream` on each stream. */
const unfinished = ({ binary }: Codec, count: number, perStream: number): Envelope[] => {
  const fragment = binary ? new ArrayBuffer(PIECE) : 'x'.repeat(PIECE);
  return times(count, (nth) => open(3 + 2 * Math.floor(nth / perStream), { ...NONE, fragment, more: true }));
};

describeHostile('unfinished payloads', [
  {
    name: `The peer holds at most ${maxHeldBytes / MIB} MiB of unfinished payloads, and resets only the stream that exceeds it`,
    role: 'acceptor',
    ...limited({ maxHeldBytes: maxHeldBytes + BEGUN }),
    send: (codec) => [...unfinished(codec, maxHeldBytes / PIECE + 2, maxHeldBytes / PIECE / 8), holds(maxHeldBytes - PIECE)],
    expect: 'lives',
    resets: [[19, ENHANCE_YOUR_CALM]],
  },
  {
    name: 'The peer resets each stream whose unfinished payload finds no room',
    ...limited({ maxHeldBytes: 64 * 32 + BEGUN }),
    send: (codec) => [
      ...times(37, (nth) => open(3 + 2 * nth, { ...NONE, fragment: codec.binary ? bytes(0x91) : '[', more: true })),
      holds(64 * 32),
    ],
    expect: 'lives',
    resets: times(5, (nth) => [3 + 2 * (32 + nth), ENHANCE_YOUR_CALM] as const),
  },
  {
    name: `The peer resets unfinished payloads on ${maxStreams - 1} streams after ${reassemblyTimeoutMs} ms`,
    send: (codec) => [...loris(codec), reassemblyTimeoutMs - 1, holds(64 * (maxStreams - 1)), 1, holdsNothing],
    expect: 'lives',
    resets: times(maxStreams - 1, (nth) => [3 + 2 * nth, DEADLINE_EXCEEDED] as const),
  },
  {
    name: 'A few other bytes hardly extend the time of an unfinished payload',
    send: (codec) => [
      ...loris(codec).slice(0, 10),
      reassemblyTimeoutMs - 1,
      { type: 'later' },
      1,
      holds(640),
      { type: 'later' },
      100,
      holdsNothing,
    ],
    expect: 'lives',
    resets: times(10, (nth) => [3 + 2 * nth, DEADLINE_EXCEEDED] as const),
  },
  {
    name: 'The peer keeps unfinished payloads while 1 KiB of other bytes arrives each second',
    send: (codec) => [
      ...loris(codec).slice(0, 10),
      ...times(100, () => [1_000, { type: 'later', unknown: 'x'.repeat(1_024) }] as const).flat(),
      reassemblyTimeoutMs - 1,
      holds(640),
      1,
      holdsNothing,
    ],
    expect: 'lives',
    resets: times(10, (nth) => [3 + 2 * nth, DEADLINE_EXCEEDED] as const),
  },
  {
    name: 'The peer joins a payload whose fragments arrive just in time',
    send: (codec) =>
      framed(slices(codec, 'slowly but surely', 10), (fields) => open(3, fields)).flatMap((frame) => [frame, reassemblyTimeoutMs - 1]),
    expect: 'lives',
    got: [['slowly but surely']],
  },
  {
    name: 'An unfinished open occupies a place until the peer resets it',
    ...limited({ maxStreams: 3 }),
    send: (codec) => [...loris(codec).slice(0, 3), reassemblyTimeoutMs, holdsNothing, open(9)],
    expect: 'lives',
    resets: [
      [7, ResetCode.REFUSED],
      [3, DEADLINE_EXCEEDED],
      [5, DEADLINE_EXCEEDED],
    ],
    got: [[SECRET]],
  },
]);

/** One fragment on each stream for which there is a place. */
function loris(codec: Codec): Envelope[] {
  const [fragment] = cut(codec.encodePayload('never'), 2);
  return times(maxStreams - 1, (nth) => open(3 + 2 * nth, { ...NONE, fragment, more: true }));
}

const closes: Step = (remote) => {
  void remote.peer.close({ drainMs: 60_000 });
};

describeHostile('unfinished opens and goaway', [
  {
    name: 'The peer refuses an unfinished open above its last_stream and drops the late slices',
    send: (codec) => {
      const [first, last] = framed(slices(codec, SECRET, 2), (fields) => open(3, fields));
      return [first ?? '', 0, closes, 0, holdsNothing, last ?? ''];
    },
    expect: 'leaves',
    sends: [{ type: 'goaway', code: 0, last_stream: 1 }],
    resets: [[3, REFUSED]],
  },
  {
    name: 'The peer joins an unfinished open below its last_stream and calls the handler',
    send: (codec) => {
      const [first, last] = framed(slices(codec, SECRET, 2), (fields) => open(3, fields));
      return [first ?? '', open(5, { payload: 'whole' }), 0, closes, 0, open(7), last ?? '', data(3, { payload: 'more' }), holdsNothing];
    },
    expect: 'leaves',
    sends: [{ type: 'goaway', code: 0, last_stream: 5 }],
    resets: [[7, REFUSED]],
    got: [['whole'], [SECRET, 'more']],
  },
  {
    name: 'The remote may reset an unfinished open below the last_stream',
    send: (codec) => {
      const [first, last] = framed(slices(codec, SECRET, 2), (fields) => open(3, fields));
      return [first ?? '', open(5, { payload: 'whole' }), 0, closes, reset(3), holdsNothing, last ?? ''];
    },
    expect: 'leaves',
    sends: [{ type: 'goaway', code: 0, last_stream: 5 }],
    got: [['whole']],
  },
]);
