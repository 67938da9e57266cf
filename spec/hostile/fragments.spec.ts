import { describe, expect } from '@jest/globals';
import { DEFAULT_LIMITS, ResetCode } from '../../src/index.js';
import type { Codec } from '../../src/index.js';
import { bytes } from '../support/codec/values.js';
import { describeHostile, PROTOCOL } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { times } from '../support/hostile/floods.js';
import { cut, packed, slices } from '../support/hostile/messages.js';
import { SECRET } from '../support/hostile/peer.js';
import type { HostilePeer } from '../support/hostile/peer.js';
import {
  counted,
  data,
  firstCall,
  firstOpened,
  framed,
  holds,
  holdsNothing,
  limited,
  MINE,
  NONE,
  NOTHING_SPARE,
  open,
  opens,
  reset,
  slice,
} from '../support/hostile/steps.js';
import type { Row } from '../support/hostile/steps.js';
import type { Envelope } from '../support/peer/frames.js';

describe('fragments', () => {
  const { PROTOCOL_ERROR } = ResetCode;

  /** A place for fragments: the open of a stream, its data, or data of a stream of this side. */
  interface Place {
    readonly where: string;
    readonly before: readonly Step[];
    readonly stream: number;
    readonly frame: (fields: Envelope) => Envelope;
    readonly outcome: Pick<HostileCase, 'got' | 'gotBack' | 'sends'>;
  }

  const PLACES: readonly Place[] = [
    { where: 'an open', before: [], stream: 3, frame: (fields) => open(3, fields), outcome: {} },
    { where: 'data', before: [open(3)], stream: 3, frame: (fields) => data(3, fields), outcome: { got: [[SECRET, 'RESET']] } },
    {
      where: 'data of a stream of this side',
      before: [opens],
      stream: 4,
      frame: (fields) => data(4, fields),
      outcome: { sends: [MINE], gotBack: [['RESET']] },
    },
  ];

  /** One row for each place. A reader receives `RESET` when this side resets because of a violation. */
  const atEachPlace = (what: string, frames: (place: Place) => readonly Envelope[]): Row[] =>
    PLACES.map((place) => ({
      name: `The peer resets a stream for ${what}: ${place.where}`,
      send: [...place.before, ...frames(place), holdsNothing],
      resets: [[place.stream, PROTOCOL_ERROR]],
      counts: 'as a provoked reset',
      ...place.outcome,
    }));

  /** Frames that may not come between two fragments. */
  const BETWEEN: readonly (readonly [what: string, fields: Envelope])[] = [
    ['a whole payload', {}],
    ['a payload of null', { payload: null }],
    ['a whole payload with an end', { end: true }],
    ['an end alone', { ...NONE, end: true }],
    ['an end with trailers', { ...NONE, end: true, trailers: { t: SECRET } }],
    ['headers alone', { ...NONE, headers: { h: SECRET } }],
    ['a fragment with `more` and an end', { ...slice(SECRET, true), end: true }],
    ['a fragment with `more` and trailers', { ...slice(SECRET, true), trailers: { t: SECRET } }],
    ['`more` beside a payload', { more: true }],
    ['`more` alone', { ...NONE, more: true }],
    ['`more` beside an end alone', { ...NONE, more: true, end: true }],
  ];

  describeHostile('frames between fragments', [
    ...counted(
      BETWEEN.flatMap(([what, fields]) =>
        // An open without a fragment, whose id does not rise, ends the connection.
        atEachPlace(`${what} between two fragments`, ({ frame, stream }) => [
          frame(slice('"a', true)),
          'fragment' in fields ? frame(fields) : data(stream, fields),
        ]),
      ),
    ),
    ...counted([
      ...atEachPlace('a fragment of another frame between two fragments', ({ frame, stream }) => [
        frame(slice('"a', true)),
        stream === 3 && frame({})['type'] === 'open' ? data(3, slice('b"', false)) : data(stream, { ...slice('b"', true), end: true }),
      ]),
      {
        name: 'The peer resets a stream for a last fragment of data after a fragment of a reset',
        send: [open(3), { ...reset(3), ...slice('"a', true) }, data(3, slice('b"', false)), holdsNothing],
        resets: [[3, PROTOCOL_ERROR]],
        got: [[SECRET, 'RESET']],
        counts: 'as a provoked reset',
      },
      {
        name: 'The peer resets a stream for whole data after a fragment of a reset',
        send: [open(3), { ...reset(3), ...slice('"a', true) }, data(3), holdsNothing],
        resets: [[3, PROTOCOL_ERROR]],
        got: [[SECRET, 'RESET']],
        counts: 'as a provoked reset',
      },
    ]),
  ]);

  describeHostile('first fragments', [
    ...counted(BETWEEN.slice(6).flatMap(([what, fields]) => atEachPlace(`${what} as the first fragment`, ({ frame }) => [frame(fields)]))),
    ...counted([
      {
        name: 'The peer resets a stream for a fragment of its complete open',
        send: [open(3), open(3, slice(SECRET, true)), holdsNothing],
        resets: [[3, PROTOCOL_ERROR]],
        got: [[SECRET, 'RESET']],
        counts: 'as a provoked reset',
      },
      {
        name: 'The peer resets a stream for a last fragment of its complete open',
        send: [open(3), open(3, slice(SECRET, false)), holdsNothing],
        resets: [[3, PROTOCOL_ERROR]],
        got: [[SECRET, 'RESET']],
        counts: 'as a provoked reset',
      },
      {
        name: 'The peer resets a stream for a fragment of its complete open with an end',
        send: [open(3, { end: true }), open(3, slice(SECRET, true)), holdsNothing],
        resets: [[3, PROTOCOL_ERROR]],
        got: [[SECRET, 'end']],
        counts: 'as a provoked reset',
      },
      {
        name: 'The peer resets a stream for a fragment of its complete open amid data',
        send: [open(3), data(3, slice('"a', true)), open(3, slice('b"', false)), holdsNothing],
        resets: [[3, PROTOCOL_ERROR]],
        got: [[SECRET, 'RESET']],
        counts: 'as a provoked reset',
      },
    ]),
  ]);

  type Fragment = string | ArrayBuffer;

  /** Undecodable payloads, each in the pieces in which it arrives. */
  const JUNK: readonly (readonly [what: string, codec: 'json' | 'msgpack', pieces: readonly Fragment[]])[] = [
    ['an empty payload', 'json', ['', '']],
    ['half a map', 'json', ['{']],
    ['truncated text', 'json', ['{"a":', '1']],
    ['two values', 'json', ['1 ', '2']],
    ['a word', 'json', ['can', 'ary']],
    ['a byte-order mark before a value', 'json', ['\ufeff', '1']],
    ['half an escape', 'json', ['"\\u00', '"']],
    ['257 levels', 'json', cut('['.repeat(257) + ']'.repeat(257), 5)],
    ['60 000 brackets', 'json', cut('['.repeat(60_000), 5)],
    ['an empty payload', 'msgpack', [bytes(), bytes()]],
    ['truncated bytes', 'msgpack', [bytes(0x92), bytes(0x01)]],
    ['two values', 'msgpack', [bytes(0x01), bytes(0x02)]],
    ['the byte that msgpack never uses', 'msgpack', [bytes(0x91), bytes(0xc1)]],
    ['an unknown extension', 'msgpack', [bytes(0xd4), bytes(0x05, 0x00)]],
    ['a key __proto__', 'msgpack', cut(bytes(0x81, packed('__proto__'), 0x80), 3)],
    ['a key that is a list', 'msgpack', [bytes(0x81, 0x90), bytes(0x01)]],
    ['96 levels', 'msgpack', cut(bytes(...Array<number>(95).fill(0x91), 0x90), 4)],
    [
      '20 nested lists that declare 30 000 000 items each',
      'msgpack',
      cut(bytes(...Array.from({ length: 20 }, () => [0xdd, 0x01, 0xc9, 0xc3, 0x80]).flat()), 7),
    ],
    ['text after bytes', 'msgpack', [bytes(0x92, 0x01), 'a']],
    ['bytes after text', 'msgpack', ['a', bytes(0x92, 0x01)]],
    ['bytes after no text', 'msgpack', ['', bytes(0x01)]],
    ['text', 'msgpack', ['a']],
    ['text alone', 'msgpack', ['a', 'b']],
  ];

  const asItIs = (steps: readonly Step[]): readonly Step[] => steps;

  describeHostile('undecodable fragments', [
    ...JUNK.flatMap(([what, codec, pieces]) => {
      const rows = atEachPlace(`${what} in ${pieces.length} fragments`, ({ frame }) =>
        pieces.map((fragment, nth) => frame({ ...NONE, fragment, more: nth < pieces.length - 1 })),
      );
      return counted(
        rows.map((row) => ({ ...row, codec })),
        asItIs,
      );
    }),
  ]);
});

describe('fragments cut', () => {
  const PIECES = 5;
  const PAYLOAD = `${SECRET} in ${PIECES} pieces`;

  /** A place where a fragmented payload arrives, and what its reader has received before. */
  interface Place {
    readonly where: string;
    readonly before: readonly Step[];
    readonly stream: number;
    readonly frame: (fields: Envelope) => Envelope;
    readonly sends: readonly Envelope[];
    /** Values that the handler or the reader of the peer's stream has received. `null` if no handler has been called. */
    readonly told: readonly unknown[] | null;
    readonly resets: ((remote: HostilePeer) => void) | null;
  }

  const PLACES: readonly Place[] = [
    { where: 'an open', before: [], stream: 3, frame: (fields) => open(3, fields), sends: [], told: null, resets: null },
    {
      where: 'data',
      before: [open(3)],
      stream: 3,
      frame: (fields) => data(3, fields),
      sends: [],
      told: [SECRET],
      resets: (remote) => {
        firstCall(remote).stream.reset(ResetCode.CANCEL);
      },
    },
    {
      where: 'an answer',
      before: [opens],
      stream: 4,
      frame: (fields) => data(4, fields),
      sends: [MINE],
      told: [],
      resets: (remote) => {
        firstOpened(remote).stream.reset(ResetCode.CANCEL);
      },
    },
  ];

  const cutOff: Step = (remote) => {
    remote.endSocket(1006);
  };
  const closedCleanly: Step = (remote) => {
    remote.endSocket(1000);
  };
  const holdsSome: Step = ({ session }) => {
    expect(session.budget.held.used).toBeGreaterThan(0);
  };

  /** An event that cuts a payload off, and its outcome. */
  interface Break {
    readonly by: string;
    readonly steps: (place: Place) => readonly Step[];
    readonly expect: HostileCase['expect'];
    /** The error that the reader receives. */
    readonly told: string | null;
    readonly resets?: ResetCode;
    /** Whether the other fragments still arrive, without a stream to receive them. */
    readonly goesOn?: boolean;
  }

  const BREAKS: readonly Break[] = [
    { by: 'the loss of the socket', steps: () => [cutOff], expect: 'lost', told: 'CONNECTION_LOST' },
    { by: 'a clean close of the socket', steps: () => [closedCleanly], expect: 'lost', told: 'CONNECTION_LOST' },
    { by: 'an undecodable message', steps: () => [{ type: 1 }], expect: PROTOCOL, told: null },
    {
      by: 'a goaway with an error',
      steps: () => [{ type: 'goaway', code: ResetCode.INTERNAL_ERROR, last_stream: 4 }, 1_000],
      expect: { goaway: null, close: 1000 },
      told: null,
    },
    { by: 'a reset', steps: ({ stream }) => [reset(stream)], expect: 'lives', told: 'RESET', goesOn: true },
    {
      by: 'a reset of this side',
      steps: ({ resets }) => (resets === null ? [] : [resets]),
      expect: 'lives',
      told: 'CANCELLED',
      resets: ResetCode.CANCEL,
      goesOn: true,
    },
    {
      by: 'silence',
      steps: () => [DEFAULT_LIMITS.reassemblyTimeoutMs - 1, holdsSome, 1],
      expect: 'lives',
      told: 'RESET',
      resets: ResetCode.DEADLINE_EXCEEDED,
      goesOn: true,
    },
  ];

  function brokenOff(place: Place, { by, steps, resets, told, goesOn, ...outcome }: Break, after: number): HostileCase {
    const trail = place.told === null ? [] : [[...place.told, ...(told === null ? [] : [told])]];
    return {
      name: `The peer drops ${place.where} that is cut off after ${after} of ${PIECES} fragments by ${by}`,
      options: NOTHING_SPARE,
      send: (codec) => {
        const frames = framed(slices(codec, PAYLOAD, PIECES), place.frame);
        const rest = goesOn === true ? frames.slice(after) : [];
        return [...place.before, ...frames.slice(0, after), holdsSome, ...steps(place), ...(told === null ? [] : [holdsNothing]), ...rest];
      },
      ...outcome,
      sends: place.sends,
      resets: resets === undefined ? [] : [[place.stream, resets]],
      ...(place.stream === 4 ? { gotBack: trail } : { got: trail }),
    };
  }

  const CUTS = Array.from({ length: PIECES - 1 }, (_, nth) => nth + 1);

  for (const each of BREAKS) {
    const places = PLACES.filter(({ resets }) => each.by !== 'a reset of this side' || resets !== null);
    describeHostile(
      `payloads cut off by ${each.by}`,
      places.flatMap((place) => CUTS.map((after) => brokenOff(place, each, after))),
    );
  }
});

describe('fragments unfinished', () => {
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
});
