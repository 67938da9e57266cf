import { expect } from '@jest/globals';
import { ResetCode } from '../../src/index.js';
import { describeHostile, TOO_MUCH } from '../support/hostile/case.js';
import type { Step } from '../support/hostile/case.js';
import { SECRET } from '../support/hostile/peer.js';
import { counted, data, ends, firstCall, firstOpened, MINE, NONE, open, opens, reset, slice } from '../support/hostile/steps.js';
import type { Row } from '../support/hostile/steps.js';
import type { Envelope } from '../support/peer/frames.js';

const { PROTOCOL_ERROR, STREAM_CLOSED } = ResetCode;
const MY_END = { type: 'data', stream: 3, end: true };

/** What may come on a stream; on one that was never opened, or after its end, none of it fits. */
const ANY_DATA: readonly (readonly [what: string, fields: Envelope])[] = [
  ['a payload', {}],
  ['a payload of null', { payload: null }],
  ['an end', { ...NONE, end: true }],
  ['a payload and an end', { end: true }],
  ['headers', { ...NONE, headers: { h: SECRET } }],
  ['an end with trailers', { ...NONE, end: true, trailers: { t: SECRET } }],
  ['a first fragment', slice(SECRET, true)],
  ['a last fragment', slice(SECRET, false)],
  ['nothing', NONE],
];

describeHostile('data of an id that was never opened is answered with a reset', [
  ...counted(
    [5, 99, 4, 8].flatMap((stream) =>
      ANY_DATA.slice(stream === 99 || stream === 4 ? 0 : 8).map(([what, fields]): Row => ({
        name: `${what} on ${stream}`,
        send: [data(stream, fields)],
        resets: [[stream, PROTOCOL_ERROR]],
        counts: 'as junk',
      })),
    ),
  ),
  {
    name: 'each time, which is a provoked reset too',
    options: { limits: { provokedResets: { burst: 2, perSecond: 0 } } },
    send: [data(7), data(7), data(7), data(7)],
    expect: TOO_MUCH,
    resets: [7, 7, 7].map((stream) => [stream, PROTOCOL_ERROR] as const),
  },
]);

describeHostile('a reset is never answered', [
  ...counted([
    { name: 'of an id that was never opened', send: [reset(5)], counts: 'as junk' },
    { name: 'of an id of this side that was never opened', send: [reset(4)], counts: 'as junk' },
    { name: 'of no id', send: [{ type: 'reset', code: 8 }], counts: 'as junk' },
    { name: 'of 0', send: [reset(0)], counts: 'as junk' },
    { name: 'in fragments, of an id that was never opened', send: [{ ...reset(5), ...slice(SECRET, true) }], counts: 'as junk' },
    { name: 'a second time', send: [open(3), reset(3), reset(3)], got: [[SECRET, 'RESET']] },
    { name: 'after the remote’s end', send: [open(3, { end: true }), reset(3)], got: [[SECRET, 'end']] },
    { name: 'after both ends', send: [open(3, { end: true }), 0, ends, 0, reset(3)], got: [[SECRET, 'end']], sends: [MY_END] },
    { name: 'with a payload beside more', send: [open(3), { ...reset(3), payload: SECRET, more: true }], got: [[SECRET, 'RESET']] },
    { name: 'with nothing beside more', send: [open(3), { ...reset(3), more: true }], got: [[SECRET, 'RESET']] },
    { name: 'with an end', send: [open(3), { ...reset(3), end: true }], got: [[SECRET, 'RESET']] },
    { name: 'with an end on a fragment', send: [open(3), { ...reset(3), ...slice('1', true), end: true }], got: [[SECRET, 'RESET']] },
    { name: 'with a fragment that does not decode', send: [open(3), { ...reset(3), ...slice('{', false) }], got: [[SECRET, 'RESET']] },
    { name: 'on a stream of this side', send: [opens, reset(4)], sends: [MINE], gotBack: [['RESET']] },
    { name: 'in the middle of a payload', send: [open(3), data(3, slice('"a', true)), reset(3)], got: [[SECRET, 'RESET']] },
    { name: 'in the middle of an open', send: [open(3, slice('"a', true)), reset(3), open(3, slice('b"', false))] },
    {
      name: 'with REFUSED, though the handler has run',
      send: [open(3), reset(3, ResetCode.REFUSED)],
      got: [[SECRET, 'REFUSED']],
    },
  ]),
]);

const theirEnd: Step = (remote) => {
  expect(firstOpened(remote).stream.phase).toBe('halfClosedRemote');
};

describeHostile('data after the remote’s end resets the stream with STREAM_CLOSED', [
  ...counted(
    ANY_DATA.flatMap(([what, fields]): readonly Row[] => [
      {
        name: `${what} after an open with an end`,
        send: [open(3, { end: true }), data(3, fields)],
        resets: [[3, STREAM_CLOSED]],
        got: [[SECRET, 'end']],
        counts: 'as a provoked reset',
      },
      {
        name: `${what} after data with an end, on a stream of this side`,
        send: [opens, data(4, { payload: 1 }), data(4, { ...NONE, end: true }), theirEnd, data(4, fields)],
        sends: [MINE],
        resets: [[4, STREAM_CLOSED]],
        gotBack: [[1, 'end']],
        counts: 'as a provoked reset',
      },
    ]),
  ),
  {
    name: 'and what was delivered stands, though it is read only then',
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

describeHostile('data that has no stream', [
  ...counted(
    ANY_DATA.flatMap(([what, fields]): readonly Row[] => [
      { name: `is dropped: ${what}`, send: [{ ...data(0, fields), stream: undefined }], counts: 'as junk' },
      { name: `is dropped: ${what}, of stream 0`, send: [data(0, fields)], counts: 'as junk' },
    ]),
  ),
]);

describeHostile('fields where they do not belong', [
  ...counted([
    { name: 'data of nothing is dropped', send: [open(3), data(3, NONE)], got: [[SECRET]], counts: 'as junk' },
    {
      name: 'data of nothing but trailers is dropped',
      send: [open(3), data(3, { ...NONE, trailers: { t: 1 } })],
      got: [[SECRET]],
      counts: 'as junk',
    },
    {
      name: 'data of nothing but a code, a reason, a nonce and a last_stream is dropped',
      send: [open(3), data(3, { ...NONE, code: 1, reason: 'r', nonce: 'n', last_stream: 2 })],
      got: [[SECRET]],
      counts: 'as junk',
    },
    {
      name: 'headers on a later frame are ignored, its payload is not',
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
      name: 'headers on a later frame are ignored, where the first had none',
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
      name: 'headers on a second answer are ignored',
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
      name: 'trailers without an end are ignored',
      send: [
        open(3, { trailers: { t: SECRET } }),
        data(3, { payload: 1, trailers: { t: SECRET } }),
        (remote) => {
          expect(firstCall(remote).stream.trailers).toBe(null);
        },
      ],
      got: [[SECRET, 1]],
    },
    { name: 'a ping without a nonce is answered without one', send: [{ type: 'ping' }], sends: [{ type: 'pong' }] },
    {
      name: 'a ping with all other fields is answered with nothing but its nonce',
      send: [
        { type: 'ping', nonce: 'n', stream: 1, payload: SECRET, headers: { h: SECRET }, end: true, code: 1, last_stream: 0, more: true },
      ],
      sends: [{ type: 'pong', nonce: 'n' }],
    },
    { name: 'a ping whose pong would not fit is not answered', send: [{ type: 'ping', nonce: 'x'.repeat(70_000) }], counts: 'as junk' },
    { name: 'a pong that nobody waits for is dropped', send: [{ type: 'pong', nonce: 'n' }], counts: 'as junk' },
    { name: 'a pong without a nonce is dropped', send: [{ type: 'pong' }], counts: 'as junk' },
    { name: 'a pong with a stream is dropped', send: [{ type: 'pong', nonce: 'n', stream: 1 }], counts: 'as junk' },
    { name: 'an unknown type is ignored', send: [{ type: 'later', stream: 99, payload: SECRET }] },
    {
      name: 'an unknown type in fragments is ignored',
      send: [
        { type: 'later', stream: 1, ...slice(SECRET, true) },
        { type: 'later', stream: 99, ...slice('', true) },
      ],
    },
  ]),
]);
