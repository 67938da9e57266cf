import { describe, expect, it } from '@jest/globals';
import { encode } from '@msgpack/msgpack';
import { attackedProcess } from '../support/hostile/child.js';
import type { Envelope } from '../support/peer/frames.js';

const attack = attackedProcess();

const arrays = (count: number, length: number): Buffer => {
  const header = Buffer.alloc(5, 0xdd);
  header.writeUInt32BE(length, 1);
  return Buffer.concat(Array.from({ length: count }, () => header));
};
const maps = (count: number): Buffer => Buffer.from('dfffffffffa161'.repeat(count), 'hex');

const BOMBS: readonly (readonly [what: string, bomb: Buffer])[] = [
  ['20 arrays of 30 million in each other', arrays(20, 30_000_000)],
  ['one array of 34 million', arrays(1, 34_000_000)],
  ['94 arrays of 4 096 in each other, with bytes for the first', Buffer.concat([arrays(94, 4_096), Buffer.alloc(4_096)])],
  ['50 maps of 4 billion in each other', maps(50)],
  ['4 billion bytes', Buffer.from('c6ffffffff', 'hex')],
  ['a text of 4 billion bytes', Buffer.from('dbffffffff', 'hex')],
  ['an extension of 4 billion bytes', Buffer.from('c9ffffffff01', 'hex')],
  ['900 000 arrays in each other', Buffer.alloc(900_000, 0x91)],
];

/** A frame as msgpack, and behind it a key with this value, whatever that is. */
function message(frame: Envelope, key?: string, value?: Buffer): Buffer {
  const head = Buffer.from(encode(frame));
  if (key === undefined || value === undefined) return head;
  head.writeUInt8(head.readUInt8(0) + 1, 0);
  return Buffer.concat([head, encode(key), value]);
}

const open = (more: Envelope = {}): Buffer => message({ type: 'open', stream: 1, ...more });

/** So many bytes to a fragment; the first is of an open. */
const SLICE = 60_000;
const inFragments = (payload: Buffer, slice = SLICE): Buffer[] =>
  Array.from({ length: Math.ceil(payload.length / slice) }, (_, n) =>
    open({
      fragment: Uint8Array.from(payload.subarray(n * slice, (n + 1) * slice)),
      ...((n + 1) * slice < payload.length ? { more: true } : {}),
    }),
  );

/** Where in a frame a bomb may lie, when the whole message cannot be decoded. */
const FIELDS: readonly (readonly [field: string, frame: Envelope])[] = [
  ['headers', { type: 'open', stream: 1 }],
  ['trailers', { type: 'data', stream: 1, end: true }],
  ['fragment', { type: 'open', stream: 1 }],
  ['nonce', { type: 'ping' }],
  ['reason', { type: 'goaway', code: 0 }],
  ['unknown', { type: 'whatever' }],
];

/** What a process may grow by: the code that runs for the first time takes some. */
const MEGABYTES = 16;

const inMessages = [
  ...BOMBS.map(([what, bomb]) => ['payload', { type: 'open', stream: 1 }, what, bomb] as const),
  ...FIELDS.flatMap(([field, frame]) => BOMBS.slice(0, 2).map(([what, bomb]) => [field, frame, what, bomb] as const)),
];

describe('a bomb in a message ends the connection, and costs no memory', () => {
  it.each(inMessages.map(([field, frame, what, bomb]) => [`as ${field}: ${what}`, message(frame, field, bomb)] as const))(
    '%s',
    (_title, bomb) => {
      const { megabytes, ...survival } = attack(true, [bomb]);
      expect(survival).toEqual({ told: ['goaway 1'], closes: [4002], answers: false });
      expect(megabytes).toBeLessThan(MEGABYTES);
    },
  );
});

describe('a bomb in fragments costs its stream, and no memory', () => {
  it.each(BOMBS)('%s', (_what, bomb) => {
    const { megabytes, ...survival } = attack(true, inFragments(bomb));
    expect(survival).toEqual({ told: ['reset 1'], closes: [], answers: true });
    expect(megabytes).toBeLessThan(MEGABYTES);
  });

  it.each(BOMBS.filter(([, bomb]) => bomb.length < 1_000))('%s, cut after each third byte', (_what, bomb) => {
    const { told, answers } = attack(true, inFragments(bomb, 3));
    expect([told, answers]).toEqual([['reset 1'], true]);
  });

  it.each(BOMBS)('%s, as the payload of a reset, which takes effect without it', (_what, bomb) => {
    const fragments = inFragments(bomb).map((_, n, all) => {
      const fragment = Uint8Array.from(bomb.subarray(n * SLICE, (n + 1) * SLICE));
      return message({ type: 'reset', stream: 1, code: 300, fragment, ...(n + 1 < all.length ? { more: true } : {}) });
    });
    const { megabytes, ...survival } = attack(true, [open(), ...fragments]);
    expect(survival).toEqual({ told: [], closes: [], answers: true });
    expect(megabytes).toBeLessThan(MEGABYTES);
  });
});

const MIB = 1024 * 1024;
const json = (text: string): Buffer => Buffer.from(`{"type":"open","stream":1,"payload":${text}}`);

describe('what is large and allowed, or just beyond, is answered by a process of 64 MB', () => {
  it.each<[string, boolean, readonly Buffer[], object]>([
    [
      'a million items but one',
      true,
      inFragments(Buffer.concat([arrays(1, 999_999), Buffer.alloc(999_999, 1)])),
      { told: [], answers: true },
    ],
    [
      'a million items and one',
      true,
      inFragments(Buffer.concat([arrays(1, 1_000_000), Buffer.alloc(1_000_000, 1)])),
      { told: ['reset 1'], answers: true },
    ],
    [
      '15 MiB of empty maps',
      true,
      inFragments(Buffer.concat([arrays(1, 15 * MIB), Buffer.alloc(15 * MIB, 0x80)])),
      { told: ['reset 1'], answers: true },
    ],
    [
      'one text of 16 MiB, as large as may be',
      true,
      inFragments(Buffer.concat([Buffer.from('db00fffffb', 'hex'), Buffer.alloc(16 * MIB - 5, 0x61)])),
      { told: [], answers: true },
    ],
    [
      'one text of 16 MiB and a byte',
      true,
      inFragments(Buffer.concat([Buffer.from('db00fffffc', 'hex'), Buffer.alloc(16 * MIB - 4, 0x61)])),
      { told: ['reset 6'], answers: true },
    ],
    ['a message of just under 1 MiB of brackets', false, [json('['.repeat(MIB - 100))], { told: ['goaway 1'], answers: false }],
    [
      'a message of just under 1 MiB of nested lists',
      false,
      [json('['.repeat(MIB / 2 - 50) + ']'.repeat(MIB / 2 - 50))],
      { told: ['goaway 1'], answers: false },
    ],
    [
      'a message of just under 1 MiB of nested objects',
      false,
      [json('{"":'.repeat(200_000) + '1' + '}'.repeat(200_000))],
      { told: ['goaway 1'], answers: false },
    ],
    ['a message of just over 1 MiB', false, [json(`"${'x'.repeat(MIB)}"`)], { told: ['goaway 11'], answers: false }],
    ['a number of a million digits', false, [json('1'.repeat(1_000_000))], { told: [], answers: true }],
  ])('%s', (_what, binary, messages, survival) => {
    expect(attack(binary, messages)).toMatchObject(survival);
  });
});
