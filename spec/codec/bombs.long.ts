import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { bundled } from '../support/process/bundled.js';

// Each attack runs in its own process with a small heap: an exhausted heap kills the process, and no `catch` helps.
const bundle = bundled(`export { MsgpackCodec } from './codec/msgpack.js'; export { RichCodec } from './codec/rich.js';
  export { decode } from '@msgpack/msgpack';`);

const CHILD = `
  const { MsgpackCodec, RichCodec, decode } = require(process.argv[1]);
  const bomb = Uint8Array.from(require('node:fs').readFileSync(0)).buffer;
  const codec = new MsgpackCodec();
  const attacked = {
    decode: (data) => codec.decode(data),
    decodePayload: (data) => codec.decodePayload(data),
    relay: (data) => codec.encodePayload(codec.decodePayload(data)),
    relayRich: (data) => new RichCodec().encodePayload(new RichCodec().decodePayload(Buffer.from(data).toString())),
    library: decode,
  }[process.argv[2]];
  const before = process.memoryUsage().rss;
  let failure = 'returns';
  try { attacked(bomb); } catch (error) { failure = String(error); }
  process.stdout.write(JSON.stringify({ failure, megabytes: (process.memoryUsage().rss - before) / 2 ** 20 }));
`;

function attack(
  target: 'decode' | 'decodePayload' | 'relay' | 'relayRich' | 'library',
  bomb: Buffer,
): { failure: string; megabytes: number } {
  const { stdout } = spawnSync(process.execPath, ['--max-old-space-size=64', '-e', CHILD, bundle, target], { input: bomb });
  return stdout.length === 0 ? { failure: 'the process died', megabytes: NaN } : (JSON.parse(String(stdout)) as ReturnType<typeof attack>);
}

function arrays(count: number, length: number): Buffer {
  const header = Buffer.alloc(5, 0xdd);
  header.writeUInt32BE(length, 1);
  return Buffer.concat(Array.from({ length: count }, () => header));
}

const maps = (count: number): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff, 0xa1, 0x61])));

const BOMBS: readonly (readonly [string, Buffer])[] = [
  ['100 bytes: 20 nested arrays of 30 million', arrays(20, 30_000_000)],
  ['40 bytes: 8 nested arrays of 30 million', arrays(8, 30_000_000)],
  ['5 bytes: one array of 34 million', arrays(1, 34_000_000)],
  ['5 000 bytes: 1 000 arrays of 65 536', arrays(1_000, 65_536)],
  ['64 KiB: 13 107 arrays of 4 096', arrays(13_107, 4_096)],
  ['90 arrays of 4 096, within the depth, with bytes to spare for the first', Buffer.concat([arrays(90, 4_096), Buffer.alloc(4_096)])],
  ['maps of 4 billion entries', maps(50)],
  ['65 535 nested arrays of one element', Buffer.alloc(65_535, 0x91)],
  ['a million empty maps in 1 MiB', Buffer.concat([arrays(1, 1_048_000), Buffer.alloc(1_048_000, 0x80)])],
  ['4 billion bytes', Buffer.from([0xc6, 0xff, 0xff, 0xff, 0xff])],
];

describe('msgpack bombs', () => {
  it.each(BOMBS.slice(0, 1))('The bare decoder kills its process on a bomb: %s', (_title, bomb) => {
    expect(attack('library', bomb).failure).toBe('the process died');
  });

  it.each(BOMBS)('MsgpackCodec refuses a bomb as a payload with a ProtocolError and no memory: %s', (_title, bomb) => {
    const { failure, megabytes } = attack('decodePayload', bomb);
    expect(failure).toMatch(/^ProtocolError: codec 'msgpack': /);
    expect(megabytes).toBeLessThan(10);
  });

  it.each(BOMBS)('MsgpackCodec refuses a bomb as a message with a ProtocolError and no memory: %s', (_title, bomb) => {
    const envelope = Buffer.concat([Buffer.from([0x82]), Buffer.from('\xa4type\xa4data\xa7payload', 'latin1'), bomb]);
    const { failure, megabytes } = attack('decode', envelope);
    expect(failure).toMatch(/^ProtocolError: codec 'msgpack': /);
    expect(megabytes).toBeLessThan(10);
  });

  it.each<[string, Buffer]>([
    ['alone', Buffer.from([0x81, 0xcd, 0x03, 0xff, 0xc0])],
    ['beside text', Buffer.from([0x82, 0xcd, 0x03, 0xff, 0xc0, 0xa1, 0x61, 0xc0])],
  ])('MsgpackCodec relays 10 000 maps with the key 1023 in little memory: the key is %s', (_title, map) => {
    const maps = Buffer.concat([Buffer.from([0xdc, 0x27, 0x10]), ...Array.from({ length: 10_000 }, () => map)]);
    expect(attack('relay', maps).failure).toBe('returns');
  });

  it('RichCodec relays 100 000 maps with the key 1023 beside a tag in little memory', () => {
    const maps = `[{"$":["date",0]}${',{"1023":0}'.repeat(100_000)}]`;
    expect(attack('relayRich', Buffer.from(maps)).failure).toBe('returns');
  });

  it('RichCodec refuses a bigint of 16 million digits before it reads them', () => {
    const bomb = `{"$":["bigint","${'9'.repeat(16_000_000)}"]}`;
    expect(attack('relayRich', Buffer.from(bomb)).failure).toMatch(/^ProtocolError: codec 'rich': expected an integer of at most 4096/);
  });
});
