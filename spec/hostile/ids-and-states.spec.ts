import { describe, expect } from '@jest/globals';
import { ResetCode } from '../../src/index.js';
import { describeHostile, PROTOCOL, TOO_MUCH } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { SECRET, TOP } from '../support/hostile/peer.js';
import {
  counted,
  data,
  ends,
  firstCall,
  firstOpened,
  inKind,
  MINE,
  NONE,
  NOTHING_SPARE,
  open,
  opens,
  reset,
  resets,
  slice,
} from '../support/hostile/steps.js';
import type { Row } from '../support/hostile/steps.js';
import type { Envelope } from '../support/peer/frames.js';

describe('ids and states', () => {
  const HIGHEST = Number.MAX_SAFE_INTEGER;

  /** States of an id before it is opened again, each with what its handler received. */
  const BEFORE: readonly (readonly [what: string, steps: readonly Step[], more?: Partial<HostileCase>])[] = [
    ['is live', [open(3)], { got: [[SECRET]] }],
    ['has ended on the remote’s side', [open(3, { end: true })], { got: [[SECRET, 'end']] }],
    ['has ended on this side', [open(3), ends], { got: [[SECRET]], sends: [{ type: 'data', stream: 3, end: true }] }],
    [
      'has ended on both sides',
      [open(3, { end: true }), ends],
      { got: [[SECRET, 'end']], sends: [{ type: 'data', stream: 3, end: true }] },
    ],
    ['was reset by the remote', [open(3), reset(3)], { got: [[SECRET, 'RESET']] }],
    ['was reset by this side', [open(3), resets], { got: [[SECRET, 'CANCELLED']], resets: [[3, ResetCode.CANCEL]] }],
    ['was skipped', [open(5)], { got: [[SECRET]] }],
  ];

  const OWN: readonly (readonly [what: string, ...steps: Step[]])[] = [
    ['which is live', open(2)],
    ['which was never opened', open(4)],
    ['which is closed', opens, 0, reset(4), open(4)],
    ['which is far above the others', open(TOP + 1)],
    ['with an end', open(4, { end: true })],
    ['without a payload', open(4, NONE)],
    ['in fragments', open(4, slice('', true))],
    ['in a last fragment', open(4, slice('', false))],
  ];

  describeHostile('ids of opens', [
    ...BEFORE.map(([what, steps, more]): HostileCase => ({
      name: `The peer ends the connection at an open whose id ${what}, and calls no handler`,
      send: [...steps, 0, open(3)],
      expect: { ...PROTOCOL, because: 'above stream' },
      ...more,
    })),
    ...[{}, { end: true }, { ...NONE, headers: { h: 1 } }, { ...NONE, end: true }].map((more): HostileCase => ({
      name: `The peer ends the connection at a second open of a live stream, with ${JSON.stringify(more)}`,
      send: [open(1, more)],
      expect: { ...PROTOCOL, because: 'above stream' },
    })),
    ...OWN.map(([what, ...steps]): HostileCase => ({
      name: `The peer ends the connection at an open of its own id, ${what}`,
      send: steps,
      expect: { ...PROTOCOL, because: 'belongs to this side' },
      ...(steps.includes(opens) ? { sends: [MINE], gotBack: [['RESET']] } : {}),
    })),
    {
      name: 'An open closes the ids that it skips',
      send: [open(9), 0, data(3), reset(5), data(7, { end: true })],
      expect: 'lives',
      got: [[SECRET]],
    },
    { name: 'The peer accepts an open of the highest id', send: [open(TOP)], expect: 'lives', got: [[SECRET]] },
    { name: 'The peer accepts an open of id 2^53 - 1', role: 'acceptor', send: [open(HIGHEST)], expect: 'lives', got: [[SECRET]] },
    {
      name: 'The peer ends the connection at an open below the highest id',
      send: [open(TOP), open(TOP - 2)],
      expect: PROTOCOL,
      got: [[SECRET]],
    },
    {
      name: 'The peer ends the connection at the first of several falling ids',
      send: [open(9), open(7), open(5), open(3)],
      expect: PROTOCOL,
      got: [[SECRET]],
    },
  ]);

  const isEnded: Step = (remote) => {
    expect(firstCall(remote).stream.cause).toEqual({ how: 'ended' });
  };

  describeHostile('opens', [
    { name: 'A handler receives null for an open without a payload', send: [open(3, NONE)], expect: 'lives', got: [[null]] },
    {
      name: 'A handler receives null for an open with an end alone',
      send: [open(3, { ...NONE, end: true })],
      expect: 'lives',
      got: [[null, 'end']],
    },
    {
      name: 'A handler receives null for an open with the payload null',
      send: [open(3, { payload: null, end: true })],
      expect: 'lives',
      got: [[null, 'end']],
    },
    {
      name: 'An answered open with an end is closed on both sides',
      send: [open(3, { end: true }), 0, ends, 0, isEnded],
      expect: 'lives',
      got: [[SECRET, 'end']],
      sends: [{ type: 'data', stream: 3, end: true }],
    },
    {
      name: 'The peer ignores the fields of other frames on an open',
      send: [open(3, { code: 8, reason: SECRET, nonce: SECRET, last_stream: 0 })],
      expect: 'lives',
      got: [[SECRET]],
    },
  ]);

  /** Late frames of a closed stream, which the peer drops without a report. */
  const LATE: readonly (readonly [what: string, frame: Envelope])[] = [
    ['data', data(3)],
    ['an end', data(3, { ...NONE, end: true })],
    ['a fragment', data(3, slice(SECRET, true))],
    ['headers', data(3, { ...NONE, headers: { h: SECRET } })],
    ['data without content', data(3, NONE)],
    ['a reset', reset(3)],
    ['a reset in fragments', { type: 'reset', stream: 3, code: 16, fragment: SECRET, more: true }],
    ['a slice of its open', open(3, slice(SECRET, true))],
    ['a last slice of its open', open(3, slice(SECRET, false))],
  ];

  describeHostile('late frames', [
    ...BEFORE.filter(([what]) => /both|reset|skipped/.test(what)).flatMap(([what, steps, more]) =>
      LATE.map(([late, frame]): HostileCase => ({
        name: `The peer drops ${late} of a stream that ${what}, without an answer`,
        options: NOTHING_SPARE,
        send: inKind([...steps, 0, frame]),
        expect: 'lives',
        ...more,
      })),
    ),
    ...LATE.filter(([late]) => !late.includes('open')).map(([late, frame]): HostileCase => ({
      name: `The peer drops ${late} of a stream that it has opened and reset, without an answer`,
      options: NOTHING_SPARE,
      send: inKind([
        opens,
        (remote) => {
          firstOpened(remote).stream.reset(ResetCode.CANCEL);
        },
        { ...frame, stream: 4 },
      ]),
      expect: 'lives',
      sends: [MINE],
      resets: [[4, ResetCode.CANCEL]],
      gotBack: [['CANCELLED']],
    })),
    {
      name: 'The peer drops a thousand values that were in flight when it reset their stream',
      options: NOTHING_SPARE,
      send: [open(3), 0, resets, ...Array.from({ length: 1_000 }, () => data(3)), data(3, { end: true })],
      expect: 'lives',
      got: [[SECRET, 'CANCELLED']],
      resets: [[3, ResetCode.CANCEL]],
    },
  ]);
});

describe('ids and states table', () => {
  const { PROTOCOL_ERROR, STREAM_CLOSED } = ResetCode;
  const MY_END = { type: 'data', stream: 3, end: true };

  /** Contents of data frames. None of them fits a stream that was never opened or has ended. */
  const ANY_DATA: readonly (readonly [what: string, fields: Envelope])[] = [
    ['a payload', {}],
    ['a payload of null', { payload: null }],
    ['an end', { ...NONE, end: true }],
    ['a payload and an end', { end: true }],
    ['headers', { ...NONE, headers: { h: SECRET } }],
    ['an end with trailers', { ...NONE, end: true, trailers: { t: SECRET } }],
    ['a first fragment', slice(SECRET, true)],
    ['a last fragment', slice(SECRET, false)],
    ['a frame without content', NONE],
  ];

  describeHostile('data of a never opened id', [
    ...counted(
      [5, 99, 4, 8].flatMap((stream) =>
        ANY_DATA.slice(stream === 99 || stream === 4 ? 0 : 8).map(([what, fields]): Row => ({
          name: `The peer answers ${what} on the never opened id ${stream} with a reset`,
          send: [data(stream, fields)],
          resets: [[stream, PROTOCOL_ERROR]],
          counts: 'as junk',
        })),
      ),
    ),
    {
      name: 'The peer counts each reset of a never opened id as provoked',
      options: { limits: { provokedResets: { burst: 2, perSecond: 0 } } },
      send: [data(7), data(7), data(7), data(7)],
      expect: TOO_MUCH,
      resets: [7, 7, 7].map((stream) => [stream, PROTOCOL_ERROR] as const),
    },
  ]);

  describeHostile('resets', [
    ...counted([
      { name: 'The peer does not answer a reset of a never opened id', send: [reset(5)], counts: 'as junk' },
      { name: 'The peer does not answer a reset of its own id that was never opened', send: [reset(4)], counts: 'as junk' },
      { name: 'The peer does not answer a reset without an id', send: [{ type: 'reset', code: 8 }], counts: 'as junk' },
      { name: 'The peer does not answer a reset of id 0', send: [reset(0)], counts: 'as junk' },
      {
        name: 'The peer does not answer a fragmented reset of a never opened id',
        send: [{ ...reset(5), ...slice(SECRET, true) }],
        counts: 'as junk',
      },
      { name: 'The peer does not answer a second reset', send: [open(3), reset(3), reset(3)], got: [[SECRET, 'RESET']] },
      { name: 'The peer does not answer a reset after the remote’s end', send: [open(3, { end: true }), reset(3)], got: [[SECRET, 'end']] },
      {
        name: 'The peer does not answer a reset after both ends',
        send: [open(3, { end: true }), 0, ends, 0, reset(3)],
        got: [[SECRET, 'end']],
        sends: [MY_END],
      },
      {
        name: 'The peer does not answer a reset with a payload and `more`',
        send: [open(3), { ...reset(3), payload: SECRET, more: true }],
        got: [[SECRET, 'RESET']],
      },
      {
        name: 'The peer does not answer a reset with `more` alone',
        send: [open(3), { ...reset(3), more: true }],
        got: [[SECRET, 'RESET']],
      },
      { name: 'The peer does not answer a reset with an end', send: [open(3), { ...reset(3), end: true }], got: [[SECRET, 'RESET']] },
      {
        name: 'The peer does not answer a reset with an end on a fragment',
        send: [open(3), { ...reset(3), ...slice('1', true), end: true }],
        got: [[SECRET, 'RESET']],
      },
      {
        name: 'The peer does not answer a reset with a fragment that does not decode',
        send: [open(3), { ...reset(3), ...slice('{', false) }],
        got: [[SECRET, 'RESET']],
      },
      { name: 'The peer does not answer a reset of its own stream', send: [opens, reset(4)], sends: [MINE], gotBack: [['RESET']] },
      {
        name: 'The peer does not answer a reset amid a fragmented payload',
        send: [open(3), data(3, slice('"a', true)), reset(3)],
        got: [[SECRET, 'RESET']],
      },
      {
        name: 'The peer does not answer a reset amid a fragmented open',
        send: [open(3, slice('"a', true)), reset(3), open(3, slice('b"', false))],
      },
      {
        name: 'The peer does not answer a reset with REFUSED after its handler has run',
        send: [open(3), reset(3, ResetCode.REFUSED)],
        got: [[SECRET, 'REFUSED']],
      },
    ]),
  ]);

  const theirEnd: Step = (remote) => {
    expect(firstOpened(remote).stream.phase).toBe('halfClosedRemote');
  };

  describeHostile('data after the end', [
    ...counted(
      ANY_DATA.flatMap(([what, fields]): readonly Row[] => [
        {
          name: `The peer resets a stream with STREAM_CLOSED for ${what} after an open with an end`,
          send: [open(3, { end: true }), data(3, fields)],
          resets: [[3, STREAM_CLOSED]],
          got: [[SECRET, 'end']],
          counts: 'as a provoked reset',
        },
        {
          name: `The peer resets its own stream with STREAM_CLOSED for ${what} after data with an end`,
          send: [opens, data(4, { payload: 1 }), data(4, { ...NONE, end: true }), theirEnd, data(4, fields)],
          sends: [MINE],
          resets: [[4, STREAM_CLOSED]],
          gotBack: [[1, 'end']],
          counts: 'as a provoked reset',
        },
      ]),
    ),
    {
      name: 'The values before a violation can still be read after it',
      options: { reads: false },
      send: [
        open(3),
        data(3, { payload: 1 }),
        data(3, { payload: 2, end: true }),
        data(3, { payload: 3 }),
        async (remote) => {
          const read: unknown[] = [];
          const failed = await Promise.resolve(firstCall(remote).stream.forEach((value) => read.push(value))).then(
            () => 'completes',
            () => 'fails',
          );
          expect([read, failed]).toEqual([[1, 2], 'completes']);
        },
      ],
      expect: 'lives',
      resets: [[3, STREAM_CLOSED]],
      handlerCalls: 1,
    },
  ]);

  describeHostile('data without a stream', [
    ...counted(
      ANY_DATA.flatMap(([what, fields]): readonly Row[] => [
        { name: `The peer drops ${what} without a stream id`, send: [{ ...data(0, fields), stream: undefined }], counts: 'as junk' },
        { name: `The peer drops ${what} of stream 0`, send: [data(0, fields)], counts: 'as junk' },
      ]),
    ),
  ]);

  describeHostile('misplaced fields', [
    ...counted([
      { name: 'The peer drops data without content', send: [open(3), data(3, NONE)], got: [[SECRET]], counts: 'as junk' },
      {
        name: 'The peer drops data with trailers alone',
        send: [open(3), data(3, { ...NONE, trailers: { t: 1 } })],
        got: [[SECRET]],
        counts: 'as junk',
      },
      {
        name: 'The peer drops data with fields of other frames alone',
        send: [open(3), data(3, { ...NONE, code: 1, reason: 'r', nonce: 'n', last_stream: 2 })],
        got: [[SECRET]],
        counts: 'as junk',
      },
      {
        name: 'The peer ignores the headers of a later frame, but not its payload',
        send: [
          open(3, { headers: { h: 'first' } }),
          data(3, { payload: 1, headers: { h: 'late', more: 1 } }),
          data(3, { ...NONE, headers: { h: 'later' } }),
          (remote) => {
            expect(firstCall(remote).stream.headers).toEqual({ h: 'first' });
          },
        ],
        got: [[SECRET, 1]],
      },
      {
        name: 'The peer ignores the headers of a later frame even if the first had none',
        send: [
          open(3),
          data(3, { payload: 1, headers: { h: 'late' } }),
          (remote) => {
            expect(firstCall(remote).stream.headers).toEqual({});
          },
        ],
        got: [[SECRET, 1]],
      },
      {
        name: 'The peer ignores the headers of a second answer',
        send: [
          opens,
          data(4, { payload: 1, headers: { h: 'first' } }),
          data(4, { payload: 2, headers: { h: 'late' } }),
          (remote) => {
            expect(firstOpened(remote).stream.replyHeaders).toEqual({ h: 'first' });
          },
        ],
        sends: [MINE],
        gotBack: [[1, 2]],
      },
      {
        name: 'The peer ignores trailers without an end',
        send: [
          open(3, { trailers: { t: SECRET } }),
          data(3, { payload: 1, trailers: { t: SECRET } }),
          (remote) => {
            expect(firstCall(remote).stream.trailers).toBe(null);
          },
        ],
        got: [[SECRET, 1]],
      },
      { name: 'The peer answers a ping without a nonce by a pong without one', send: [{ type: 'ping' }], sends: [{ type: 'pong' }] },
      {
        name: 'The peer answers a ping with all other fields by its nonce alone',
        send: [
          { type: 'ping', nonce: 'n', stream: 1, payload: SECRET, headers: { h: SECRET }, end: true, code: 1, last_stream: 0, more: true },
        ],
        sends: [{ type: 'pong', nonce: 'n' }],
      },
      {
        name: 'The peer does not answer a ping whose pong would not fit a message',
        send: [{ type: 'ping', nonce: 'x'.repeat(70_000) }],
        counts: 'as junk',
      },
      { name: 'The peer drops a pong that answers no ping', send: [{ type: 'pong', nonce: 'n' }], counts: 'as junk' },
      { name: 'The peer drops a pong without a nonce', send: [{ type: 'pong' }], counts: 'as junk' },
      { name: 'The peer drops a pong with a stream', send: [{ type: 'pong', nonce: 'n', stream: 1 }], counts: 'as junk' },
      { name: 'The peer ignores a frame of an unknown type', send: [{ type: 'later', stream: 99, payload: SECRET }] },
      {
        name: 'The peer ignores fragments of an unknown type',
        send: [
          { type: 'later', stream: 1, ...slice(SECRET, true) },
          { type: 'later', stream: 99, ...slice('', true) },
        ],
      },
    ]),
  ]);
});
