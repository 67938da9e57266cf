import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Message } from '../../src/wire/codec.js';
import type { Frame } from '../../src/wire/frame.js';
import { ResetCode } from '../../src/wire/codes.js';
import { Rig } from '../support/session/rig.js';

const { PROTOCOL_ERROR, CANCEL } = ResetCode;
const CLOSED_BY_RESET: readonly Frame[] = [
  { type: 'open', stream: 1 },
  { type: 'reset', stream: 1, code: CANCEL },
];

/** Messages that end the connection, each with the WebSocket close code and the reason. */
const FATAL: readonly (readonly [
  what: string,
  dialer: boolean,
  before: readonly Frame[],
  message: Message,
  close: number,
  reason: string,
])[] = [
  ['a message that does not decode', false, [], '{', 1002, 'expected JSON'],
  [
    'an open of an odd id for a dialer',
    true,
    [],
    '{"type":"open","stream":1}',
    1002,
    'expected an open of an even id, got 1, which belongs to this side',
  ],
  [
    'an open of an even id for an acceptor',
    false,
    [],
    '{"type":"open","stream":2}',
    1002,
    'expected an open of an odd id, got 2, which belongs to this side',
  ],
  [
    'an open of a stream that is open',
    false,
    [{ type: 'open', stream: 1 }],
    '{"type":"open","stream":1}',
    1002,
    'expected an open above stream 1, got 1',
  ],
  [
    'an open of a stream that was closed',
    false,
    CLOSED_BY_RESET,
    '{"type":"open","stream":1}',
    1002,
    'expected an open above stream 1, got 1',
  ],
  [
    'an open below an earlier id',
    false,
    [{ type: 'open', stream: 5 }],
    '{"type":"open","stream":3}',
    1002,
    'expected an open above stream 5, got 3',
  ],
  [
    'a whole open in the middle of its own fragments',
    false,
    [{ type: 'open', stream: 1, fragment: '"', more: true }],
    '{"type":"open","stream":1}',
    1002,
    'expected an open above stream 1, got 1',
  ],
  ['an open without a stream id', false, [], '{"type":"open"}', 1002, 'expected a stream id on an open, got null'],
  ['an open of stream 0', false, [], '{"type":"open","stream":0}', 1002, 'expected a stream id on an open, got 0'],
  ['an id above 2^53 - 1', false, [], '{"type":"open","stream":9007199254740992}', 1002, 'stream'],
  ['a last_stream above 2^53 - 1', false, [], '{"type":"goaway","last_stream":9007199254740993}', 1002, 'last_stream'],
  [
    'a binary message under a text codec',
    false,
    [],
    new ArrayBuffer(2),
    1003,
    "expected a text message for codec 'json', got a binary one",
  ],
];

describe('connection errors', () => {
  it.each(FATAL)('Session ends the connection at %s', (_what, isDialer, before, message, code, reason) => {
    const rig = new Rig({ isDialer });
    rig.receive(...before);
    rig.transport.receive(message);
    expect(rig.news).toEqual([{ type: 'goaway', code: PROTOCOL_ERROR, last_stream: 0, reason: expect.stringContaining(reason) }]);
    expect(rig.transport.closes).toEqual([{ code, reason: expect.stringContaining(reason) }]);
    rig.receive({ type: 'ping', nonce: 'late' }, { type: 'open', stream: 101 });
    expect(rig.news).toEqual([]);
    expect(rig.remotes.every(({ live }) => live.id < 100)).toBe(true);
  });

  it('Session ends the connection at a text message under a binary codec', () => {
    const rig = new Rig({ codec: new MsgpackCodec() });
    rig.transport.receive(new JsonCodec().encode({ type: 'ping' }));
    expect(rig.transport.closes).toEqual([{ code: 1003, reason: "expected a binary message for codec 'msgpack', got a text one" }]);
  });

  it.each([
    [false, 1, 2],
    [true, 2, 1],
  ])('Session distinguishes its own ids from the ids of the remote (dialer: %s)', (isDialer, theirs, ours) => {
    const rig = new Rig({ isDialer });
    expect(rig.remote(theirs).live.local).toBe(false);
    expect(rig.open().live).toMatchObject({ id: ours, local: true });
  });
});
