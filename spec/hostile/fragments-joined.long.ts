import { expect } from '@jest/globals';
import { JsonCodec, ResetCode } from '../../src/index.js';
import type { Codec } from '../../src/index.js';
import { bytes } from '../support/codec/values.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { slices } from '../support/hostile/messages.js';
import { SECRET } from '../support/hostile/peer.js';
import { data, firstCall, firstOpened, holdsNothing, MINE, NONE, open, opens, reset, slice } from '../support/hostile/steps.js';
import type { Envelope } from '../support/peer/frames.js';

/** The slices of a payload in sequence, as the codec of the case cuts them. */
const pieces =
  (
    payload: unknown,
    count: number,
    before: readonly Step[],
    frame: (fields: Envelope) => Envelope,
    last: Envelope = {},
  ): HostileCase['send'] =>
  (codec) => [
    ...before,
    ...slices(codec, payload, count).map((fragment, nth) =>
      frame({ ...NONE, fragment, more: nth < count - 1, ...(nth === count - 1 ? last : {}) }),
    ),
    holdsNothing,
  ];

const PAYLOAD = { text: `${SECRET} é € 😀 "quoted"\n`, list: [1, null, { deep: true }] };

describeHostile('joined fragments', [
  ...[1, 2, 7, 60].map((count): HostileCase => ({
    name: `The peer joins ${count} fragments of an open`,
    send: pieces(PAYLOAD, count, [], (fields) => open(3, fields), { end: true }),
    expect: 'lives',
    got: [[PAYLOAD, 'end']],
  })),
  ...[1, 2, 7, 60].map((count): HostileCase => ({
    name: `The peer joins ${count} fragments of data that are cut within characters`,
    send: pieces(PAYLOAD, count, [open(3)], (fields) => data(3, fields)),
    expect: 'lives',
    got: [[SECRET, PAYLOAD]],
  })),
  {
    name: 'The peer joins the fragments of an answer',
    send: pieces(PAYLOAD, 5, [opens], (fields) => data(4, fields), { end: true }),
    expect: 'lives',
    sends: [MINE],
    gotBack: [[PAYLOAD, 'end']],
  },
  {
    name: 'The peer joins fragments with an empty last one',
    send: (codec) => [
      open(3, { ...NONE, fragment: codec.encodePayload(7), more: true }),
      open(3, { ...NONE, fragment: codec.binary ? bytes() : '' }),
    ],
    expect: 'lives',
    got: [[7]],
  },
  {
    name: 'The peer joins fragments with whole frames of other streams between them',
    send: (codec) => {
      const [first, last] = slices(codec, 'whole', 2);
      const between = [open(5, { payload: 'other' }), data(5, { payload: 'more' }), reset(5)];
      return [open(3, { ...NONE, fragment: first, more: true }), ...between, open(3, { ...NONE, fragment: last }), holdsNothing];
    },
    expect: 'lives',
    got: [['other', 'more', 'RESET'], ['whole']],
  },
  {
    name: 'The peer joins the halves of a surrogate pair',
    codec: 'json',
    send: [open(3, slice('"\ud83d', true)), open(3, slice('\ude00"', false))],
    expect: 'lives',
    got: [['😀']],
  },
  {
    name: 'The peer takes the headers of the first fragment and ignores the others',
    send: (codec) => [
      ...slices(codec, 1_000, 3).map((fragment, nth) => open(3, { ...NONE, fragment, more: nth < 2, headers: { nth } })),
      (remote) => {
        expect(firstCall(remote).stream.headers).toEqual({ nth: 0 });
      },
    ],
    expect: 'lives',
    got: [[1_000]],
  },
  {
    name: 'The peer ignores headers that begin on a later fragment',
    send: (codec) => [
      ...slices(codec, 'text', 3).map((fragment, nth) =>
        open(3, { ...NONE, fragment, more: nth < 2, headers: nth === 0 ? null : { nth } }),
      ),
      (remote) => {
        expect(firstCall(remote).stream.headers).toEqual({});
      },
    ],
    expect: 'lives',
    got: [['text']],
  },
  {
    name: 'A fragmented reset takes effect with its last fragment',
    send: (codec) => [
      opens,
      ...slices(codec, { name: 'Error', message: 'm' }, 3).flatMap((fragment, nth): Step[] => [
        ({ opened: [mine] }) => {
          expect(mine?.ends).toEqual([]);
        },
        { ...reset(4, ResetCode.APPLICATION_ERROR), fragment, more: nth < 2 },
      ]),
      (remote) => {
        expect(firstOpened(remote).stream.cause).toMatchObject({ payload: { name: 'Error', message: 'm' } });
      },
      holdsNothing,
    ],
    expect: 'lives',
    sends: [MINE],
    gotBack: [['REMOTE']],
  },
  {
    name: 'A fragmented reset amid data drops the fragments of the data',
    send: (codec) => [
      open(3),
      data(3, { ...NONE, fragment: codec.binary ? bytes(0x92) : '[', more: true }),
      ...slices(codec, 'why', 2).map((fragment, nth) => ({ ...reset(3, 300), fragment, more: nth < 1 })),
      (remote) => {
        expect(firstCall(remote).stream.cause).toMatchObject({ code: 300, payload: 'why' });
      },
      holdsNothing,
    ],
    expect: 'lives',
    got: [[SECRET, 'RESET']],
  },
  {
    name: 'The peer joins fragments with data without content between them',
    send: (codec) => {
      const [first, last] = slices(codec, 'whole', 2);
      return [open(3), data(3, { ...NONE, fragment: first, more: true }), data(3, NONE), data(3, { ...NONE, fragment: last })];
    },
    expect: 'lives',
    got: [[SECRET, 'whole']],
  },
]);

/** Every order of three fragments on each of three streams, as a list of senders. */
function interleavings(left: readonly number[] = [3, 3, 3]): (readonly number[])[] {
  if (left.every((count) => count === 0)) return [[]];
  return left.flatMap((count, who) =>
    count === 0 ? [] : interleavings(left.map((each, at) => each - (at === who ? 1 : 0))).map((rest) => [who, ...rest]),
  );
}

const ORDERS = interleavings();

/** The frames of three senders in one order, and the senders in the order in which they finish. `nth` is a sender's place by its first fragment. */
function inOrder(codec: Codec, order: readonly number[], round: number, frame: (who: number, nth: number, fields: Envelope) => Envelope) {
  const names: number[] = [];
  const left = [0, 1, 2].map((who) => slices(codec, `${round}-${who}`, 3));
  const sent: Envelope[] = [];
  const done: { readonly who: number; readonly nth: number }[] = [];
  for (const who of order) {
    if (!names.includes(who)) names.push(who);
    const nth = names.indexOf(who);
    const fragment = left[who]?.shift();
    const more = left[who]?.length !== 0;
    sent.push(frame(who, nth, { ...NONE, fragment, more, end: !more }));
    if (!more) done.push({ who, nth });
  }
  return { sent, done };
}

describeHostile('interleaved fragments', [
  {
    name: `The peer joins three opens in each of ${ORDERS.length} orders of their fragments`,
    options: { onStream: (payload, stream) => stream.reply(payload) },
    send: (codec) =>
      ORDERS.flatMap((order, round): Step[] => [
        ...inOrder(codec, order, round, (_who, nth, fields) => open(3 + 6 * round + 2 * nth, fields)).sent,
        // A turn passes, in which handlers settle and free their places.
        ...(round % 100 === 0 ? [0] : []),
      ]),
    expect: 'lives',
    handlerCalls: 3 * ORDERS.length,
    sends: ORDERS.flatMap((order, round) =>
      inOrder(new JsonCodec(), order, round, () => ({})).done.map(({ who, nth }) => ({
        type: 'data',
        stream: 3 + 6 * round + 2 * nth,
        end: true,
        payload: `${round}-${who}`,
      })),
    ),
  },
  {
    name: `The peer joins two values and an answer in each of ${ORDERS.length} orders of their fragments`,
    send: (codec) => [
      opens,
      open(3),
      open(5),
      ...ORDERS.flatMap(
        (order, round) =>
          inOrder(codec, order, round, (who, _nth, fields) => data(who + 3, { ...fields, stream: [3, 5, 4][who], end: false })).sent,
      ),
    ],
    expect: 'lives',
    sends: [MINE],
    got: [0, 1].map((who) => [SECRET, ...ORDERS.map((_order, round) => `${round}-${who}`)]),
    gotBack: [ORDERS.map((_order, round) => `${round}-2`)],
  },
  {
    name: 'The peer joins the fragments of two streams when it resets a third one',
    send: (codec) => {
      const [one, two, three] = [0, 1, 2].map((who) => slices(codec, `whole ${who}`, 2));
      return [
        ...[one, two, three].map((each, nth) => open(3 + 2 * nth, { ...NONE, fragment: each?.[0], more: true })),
        data(5),
        ...[one, two, three].map((each, nth) => open(3 + 2 * nth, { ...NONE, fragment: each?.[1] })),
        holdsNothing,
      ];
    },
    expect: 'lives',
    resets: [[5, ResetCode.PROTOCOL_ERROR]],
    got: [['whole 0'], ['whole 2']],
  },
]);
