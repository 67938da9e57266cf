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
  ['20 nested arrays of 30 million items', arrays(20, 30_000_000)],
  ['one array of 34 million items', arrays(1, 34_000_000)],
  ['94 nested arrays of 4 096 items, with bytes for the innermost', Buffer.concat([arrays(94, 4_096), Buffer.alloc(4_096)])],
  ['50 nested maps of 4 billion entries', maps(50)],
  ['4 billion bytes', Buffer.from('c6ffffffff', 'hex')],
  ['a text of 4 billion bytes', Buffer.from('dbffffffff', 'hex')],
  ['an extension of 4 billion bytes', Buffer.from('c9ffffffff01', 'hex')],
  ['900 000 nested arrays', Buffer.alloc(900_000, 0x91)],
];

/** A frame as msgpack, followed by a key with any encoded value. */
function message(frame: Envelope, key?: string, value?: Buffer): Buffer {
  const head = Buffer.from(encode(frame));
  if (key === undefined || value === undefined) return head;
  head.writeUInt8(head.readUInt8(0) + 1, 0);
  return Buffer.concat([head, encode(key), value]);
}

const open = (more: Envelope = {}): Buffer => message({ type: 'open', stream: 1, ...more });

/** Bytes per fragment. */
const SLICE = 60_000;
const inFragments = (payload: Buffer, slice = SLICE): Buffer[] =>
  Array.from({ length: Math.ceil(payload.length / slice) }, (_, n) =>
    open({
      fragment: Uint8Array.from(payload.subarray(n * slice, (n + 1) * slice)),
      ...((n + 1) * slice < payload.length ? { more: true } : {}),
    }),
  );

/** Fields that may carry a bomb which makes the whole message undecodable. */
const FIELDS: readonly (readonly [field: string, frame: Envelope])[] = [
  ['headers', { type: 'open', stream: 1 }],
  ['trailers', { type: 'data', stream: 1, end: true }],
  ['fragment', { type: 'open', stream: 1 }],
  ['nonce', { type: 'ping' }],
  ['reason', { type: 'goaway', code: 0 }],
  ['unknown', { type: 'whatever' }],
];

/** The most by which a process may grow, which includes code that runs for the first time. */
const MEGABYTES = 16;

const inMessages = [
  ...BOMBS.map(([what, bomb]) => ['payload', { type: 'open', stream: 1 }, what, bomb] as const),
  ...FIELDS.flatMap(([field, frame]) => BOMBS.slice(0, 2).map(([what, bomb]) => [field, frame, what, bomb] as const)),
];

describe('bombs in messages', () => {
  it.each(inMessages.map(([field, frame, what, bomb]) => [`${field}, ${what}`, message(frame, field, bomb)] as const))(
    'A bomb in a message ends the connection and takes no memory: %s',
    (_title, bomb) => {
      const { megabytes, ...survival } = attack(true, [bomb]);
      expect(survival).toEqual({ told: ['goaway 1'], closes: [4002], answers: false });
      expect(megabytes).toBeLessThan(MEGABYTES);
    },
  );
});

describe('bombs in fragments', () => {
  it.each(BOMBS)('A bomb in fragments ends its stream and takes no memory: %s', (_what, bomb) => {
    const { megabytes, ...survival } = attack(true, inFragments(bomb));
    expect(survival).toEqual({ told: ['reset 1'], closes: [], answers: true });
    expect(megabytes).toBeLessThan(MEGABYTES);
  });

  it.each(BOMBS.filter(([, bomb]) => bomb.length < 1_000))('A bomb in fragments of three bytes ends its stream: %s', (_what, bomb) => {
    const { told, answers } = attack(true, inFragments(bomb, 3));
    expect([told, answers]).toEqual([['reset 1'], true]);
  });

  it.each(BOMBS)('A reset with a bomb takes effect without its payload: %s', (_what, bomb) => {
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

describe('large payloads', () => {
  it.each<[string, boolean, readonly Buffer[], object]>([
    [
      'a million items less one',
      true,
      inFragments(Buffer.concat([arrays(1, 999_999), Buffer.alloc(999_999, 1)])),
      { told: [], answers: true },
    ],
    [
      'a million items plus one',
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
      'a text of 16 MiB, the largest allowed one',
      true,
      inFragments(Buffer.concat([Buffer.from('db00fffffb', 'hex'), Buffer.alloc(16 * MIB - 5, 0x61)])),
      { told: [], answers: true },
    ],
    [
      'a text of 16 MiB plus one byte',
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
  ])('A process with 64 MB answers %s', (_what, binary, messages, survival) => {
    expect(attack(binary, messages)).toMatchObject(survival);
  });
});
