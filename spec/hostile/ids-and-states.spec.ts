import { expect } from '@jest/globals';
import { ResetCode } from '../../src/index.js';
import { describeHostile, PROTOCOL } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { SECRET, TOP } from '../support/hostile/peer.js';
import {
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
import type { Envelope } from '../support/peer/frames.js';

const HIGHEST = Number.MAX_SAFE_INTEGER;

/** States of an id before it is opened again, each with what its handler received. */
const BEFORE: readonly (readonly [what: string, steps: readonly Step[], more?: Partial<HostileCase>])[] = [
  ['is live', [open(3)], { got: [[SECRET]] }],
  ['has ended on the remote’s side', [open(3, { end: true })], { got: [[SECRET, 'end']] }],
  ['has ended on this side', [open(3), ends], { got: [[SECRET]], sends: [{ type: 'data', stream: 3, end: true }] }],
  ['has ended on both sides', [open(3, { end: true }), ends], { got: [[SECRET, 'end']], sends: [{ type: 'data', stream: 3, end: true }] }],
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
