import { ResetCode } from '../../src/index.js';
import { bytes } from '../support/codec/values.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { cut, packed } from '../support/hostile/messages.js';
import { SECRET } from '../support/hostile/peer.js';
import { counted, data, holdsNothing, MINE, NONE, open, opens, reset, slice } from '../support/hostile/steps.js';
import type { Row } from '../support/hostile/steps.js';
import type { Envelope } from '../support/peer/frames.js';

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
