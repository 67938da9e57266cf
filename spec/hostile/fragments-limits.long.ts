import { expect } from '@jest/globals';
import { DEFAULT_LIMITS, ResetCode } from '../../src/index.js';
import type { Codec } from '../../src/index.js';
import type { Message } from '../../src/wire/codec.js';
import { splitFrame } from '../../src/wire/fragment.js';
import { encodedLength } from '../../src/wire/length.js';
import { toMapping } from '../../src/wire/mapping.js';
import { bytes } from '../support/codec/values.js';
import { describeHostile, TOO_MUCH } from '../support/hostile/case.js';
import type { HostileCase } from '../support/hostile/case.js';
import { times } from '../support/hostile/floods.js';
import { slices } from '../support/hostile/messages.js';
import { SECRET } from '../support/hostile/peer.js';
import { data, framed, holds, holdsNothing, limited, MINE, NONE, open, opens, reset } from '../support/hostile/steps.js';
import type { Envelope } from '../support/peer/frames.js';

const { ENHANCE_YOUR_CALM, PAYLOAD_TOO_LARGE, PROTOCOL_ERROR } = ResetCode;
const { maxEmptyFragments, maxFragments, maxPayloadBytes } = DEFAULT_LIMITS;

const empty = ({ binary }: Codec): Message => (binary ? bytes() : '');

/** Empty fragments with `more`, spread over `streams` in turn. */
const emptyOnes = (codec: Codec, count: number, streams: number): Envelope[] =>
  times(count, (nth) => open(3 + 2 * (nth % streams), { ...NONE, fragment: empty(codec), more: true }));

describeHostile('empty fragments', [
  ...[1, 7, maxEmptyFragments].flatMap((streams): HostileCase[] => [
    {
      name: `The peer accepts ${maxEmptyFragments} empty fragments on ${streams} streams`,
      send: (codec) => emptyOnes(codec, maxEmptyFragments, streams),
      expect: 'lives',
    },
    {
      name: `The peer ends the connection at ${maxEmptyFragments + 1} empty fragments on ${streams} streams`,
      send: (codec) => emptyOnes(codec, maxEmptyFragments + 1, streams),
      expect: { ...TOO_MUCH, because: 'maxEmptyFragments' },
    },
  ]),
  {
    name: 'The peer counts empty fragments over the whole connection, however their payloads end',
    send: (codec) => [
      ...times(maxEmptyFragments, (nth): Envelope[] => [
        open(3 + 2 * nth, { ...NONE, fragment: empty(codec), more: true }),
        nth % 2 === 0 ? reset(3 + 2 * nth) : open(3 + 2 * nth, { ...NONE, fragment: codec.encodePayload(nth) }),
      ]).flat(),
      data(1, { ...NONE, fragment: empty(codec), more: true }),
    ],
    expect: TOO_MUCH,
    got: times(maxEmptyFragments / 2, (nth) => [2 * nth + 1]),
  },
  {
    name: 'The peer does not count an empty fragment that is the last of its payload',
    send: (codec) => [
      open(3),
      ...times(2 * maxEmptyFragments, () => [
        data(3, { ...NONE, fragment: codec.encodePayload(1), more: true }),
        data(3, { ...NONE, fragment: empty(codec) }),
      ]).flat(),
    ],
    expect: 'lives',
    got: [[SECRET, ...times(2 * maxEmptyFragments, () => 1)]],
  },
  {
    name: 'The peer counts the empty fragments of a reset',
    send: (codec) => [opens, ...times(maxEmptyFragments + 1, () => ({ ...reset(4), fragment: empty(codec), more: true }))],
    expect: TOO_MUCH,
    sends: [MINE],
  },
  {
    name: 'The peer does not count the empty fragments of unknown types and of closed streams',
    send: (codec) => [
      open(3),
      reset(3),
      ...times(2 * maxEmptyFragments, () => ({ type: 'later', stream: 1, fragment: empty(codec), more: true })),
      ...times(2 * maxEmptyFragments, () => data(3, { ...NONE, fragment: empty(codec), more: true })),
    ],
    expect: 'lives',
    got: [[SECRET, 'RESET']],
  },
]);

/** A text whose encoding has exactly `size` bytes: as many of `unit` as fit, and then single bytes. */
function textOf(codec: Codec, size: number, unit = 'x'): string {
  const room = 2 * size - encodedLength(codec.encodePayload('x'.repeat(size)));
  const width = encodedLength(unit);
  return unit.repeat(Math.floor(room / width)) + 'x'.repeat(room % width);
}

/** An encoding of `count` bytes as `count` slices. */
const unitSlices = (codec: Codec, count: number): Message[] => slices(codec, textOf(codec, count), count);

describeHostile('many fragments', [
  {
    name: `The peer joins ${maxFragments} fragments`,
    send: (codec) => framed(unitSlices(codec, maxFragments), (fields) => open(3, fields)),
    expect: 'lives',
    handlerCalls: 1,
  },
  ...(['an open', 'data', 'an answer'] as const).map((where): HostileCase => ({
    name: `The peer resets a stream for ${maxFragments + 1} fragments of ${where}`,
    send: (codec) => [
      ...(where === 'an open' ? [] : where === 'data' ? [open(3)] : [opens]),
      ...framed(unitSlices(codec, maxFragments + 1), (fields) =>
        where === 'an open' ? open(3, fields) : data(where === 'data' ? 3 : 4, fields),
      ),
      holdsNothing,
    ],
    expect: 'lives',
    resets: [[where === 'an answer' ? 4 : 3, PROTOCOL_ERROR]],
    ...(where === 'data' ? { got: [[SECRET, 'RESET']] } : {}),
    ...(where === 'an answer' ? { sends: [MINE], gotBack: [['RESET']] } : {}),
  })),
  {
    name: 'A reset of too many fragments ends its stream without a payload',
    ...limited({ maxFragments: 10 }),
    send: (codec) => [
      opens,
      ...framed(unitSlices(codec, 11), (fields) => ({ ...reset(4, 300), ...fields })),
      ({ opened: [mine] }) => {
        expect(mine?.stream.cause).toMatchObject({ by: 'remote', code: 300, payload: null });
      },
      holdsNothing,
    ],
    expect: 'lives',
    sends: [MINE],
    gotBack: [['RESET']],
  },
  {
    name: 'Each fragment takes at least 64 bytes of maxHeldBytes',
    ...limited({ maxHeldBytes: 12 * 64 }),
    send: (codec) => [
      ...framed(unitSlices(codec, 20).slice(0, 9), (fields) => open(3, fields), true),
      holds(9 * 64),
      ...framed(unitSlices(codec, 20).slice(0, 3), (fields) => open(5, fields), true),
      holds(9 * 64),
      ...framed(unitSlices(codec, 20).slice(9), (fields) => open(3, fields)).slice(0, 1),
      holds(10 * 64),
    ],
    expect: 'lives',
    resets: [[5, ENHANCE_YOUR_CALM]],
  },
]);

/** A payload of exactly `size` bytes, cut between characters as an honest sender does. */
const honest = (codec: Codec, size: number, unit: string): Envelope[] =>
  [...splitFrame({ type: 'open', stream: 3, payload: textOf(codec, size, unit) }, SMALL_LIMIT / 10, codec)].map(toMapping);

const SMALL_LIMIT = 70_000;

const CHARACTERS: readonly (readonly [size: string, unit: string])[] = [
  ['of one byte each', 'x'],
  ['of three bytes each', '€'],
  ['of four bytes each', '😀'],
];

describeHostile('fragmented payloads', [
  ...CHARACTERS.flatMap(([what, unit]): HostileCase[] => [
    {
      name: `The peer joins a payload of maxPayloadBytes in characters ${what}`,
      ...limited({ maxPayloadBytes: SMALL_LIMIT }),
      send: (codec) => honest(codec, SMALL_LIMIT, unit),
      expect: 'lives',
      handlerCalls: 1,
    },
    {
      name: `The peer resets a stream for a payload of one byte more in characters ${what}`,
      ...limited({ maxPayloadBytes: SMALL_LIMIT }),
      send: (codec) => [...honest(codec, SMALL_LIMIT + 1, unit), holdsNothing],
      expect: 'lives',
      resets: [[3, PAYLOAD_TOO_LARGE]],
    },
  ]),
  {
    name: `The peer joins a payload of ${maxPayloadBytes} bytes`,
    role: 'acceptor',
    send: (codec) => framed(slices(codec, textOf(codec, maxPayloadBytes), 32), (fields) => open(3, fields)),
    expect: 'lives',
    handlerCalls: 1,
  },
  {
    name: `The peer resets a stream for a payload of ${maxPayloadBytes + 1} bytes, and drops its later fragments`,
    role: 'dialer',
    send: (codec) => [
      ...framed(slices(codec, textOf(codec, maxPayloadBytes + 1), 32), (fields) => open(3, fields)),
      holdsNothing,
      ...framed(slices(codec, textOf(codec, SMALL_LIMIT), 32), (fields) => open(3, fields)),
      holdsNothing,
    ],
    expect: 'lives',
    resets: [[3, PAYLOAD_TOO_LARGE]],
  },
  {
    name: 'The peer resets a stream for a payload over the limit in one fragment',
    ...limited({ maxPayloadBytes: 100 }),
    send: (codec) => [open(3, { ...NONE, fragment: codec.encodePayload('x'.repeat(200)) }), holdsNothing],
    expect: 'lives',
    resets: [[3, PAYLOAD_TOO_LARGE]],
  },
  {
    name: 'The peer resets no other stream for a payload over the limit',
    ...limited({ maxPayloadBytes: 100 }),
    send: (codec) => [
      ...framed(slices(codec, 'y'.repeat(50), 2).slice(0, 1), (fields) => open(3, fields), true),
      ...framed(slices(codec, 'x'.repeat(200), 4), (fields) => open(5, fields)),
      ...framed(slices(codec, 'y'.repeat(50), 2).slice(1), (fields) => open(3, fields)),
      holdsNothing,
    ],
    expect: 'lives',
    resets: [[5, PAYLOAD_TOO_LARGE]],
    got: [['y'.repeat(50)]],
  },
  {
    name: 'The reader of an answer over the limit fails',
    ...limited({ maxPayloadBytes: 100 }),
    send: (codec) => [opens, ...framed(slices(codec, 'x'.repeat(200), 4), (fields) => data(4, fields)), holdsNothing],
    expect: 'lives',
    sends: [MINE],
    resets: [[4, PAYLOAD_TOO_LARGE]],
    gotBack: [['RESET']],
  },
  {
    name: 'A reset with a payload over the limit ends its stream without a payload',
    ...limited({ maxPayloadBytes: 100 }),
    send: (codec) => [opens, ...framed(slices(codec, 'x'.repeat(200), 4), (fields) => ({ ...reset(4, 300), ...fields })), holdsNothing],
    expect: 'lives',
    sends: [MINE],
    gotBack: [['RESET']],
  },
]);
