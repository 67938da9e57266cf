import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSync } from 'esbuild';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { isGreedy, measured } from './memory.js';
import type { MemoryTask } from './memory.js';

// Each runs in a child process with a small heap, which it may kill.
const directory = mkdtempSync(join(tmpdir(), 'rxmux-memory-'));
const program = join(directory, 'memory.cjs');
const LONGEST_MS = 60_000;

beforeAll(() => {
  buildSync({
    stdin: {
      contents: `
        import { decode } from '@msgpack/msgpack';
        import { JsonCodec } from '../../src/codec/json.js';
        import { MsgpackCodec } from '../../src/codec/msgpack.js';
        import { measure } from './memory.js';
        const msgpack = new MsgpackCodec();
        const library = { name: 'library', binary: true, decode, decodePayload: (data) => decode(data), encodePayload: (payload) => msgpack.encodePayload(payload) };
        void measure({ json: new JsonCodec(), msgpack, library });
      `,
      resolveDir: __dirname,
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile: program,
  });
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function task(codec: string, target: MemoryTask['target'], payload: string): MemoryTask {
  const base64 = Buffer.from(payload, codec === 'json' ? 'utf8' : 'latin1').toString('base64');
  return { codec, target, base64 };
}

async function areGreedy(...tasks: MemoryTask[]): Promise<boolean[]> {
  return (await measured(program, tasks, LONGEST_MS)).map(isGreedy);
}

describe('numeric keys under msgpack', () => {
  const codec = new MsgpackCodec();

  it.each<[what: string, value: unknown]>([
    ['integers', { 0: 'a', 7: 'b', 1023: 'c', 70000: 'd' }],
    ['integers of 2^32 - 2 and more', { 4294967294: 'a', 4294967295: 'b', 9007199254740991: 'c' }],
    ['numerals that are no array index', { '007': 1, '0x1': 2, '1.5': 3, '-1': 4 }],
    ['the prefix that the decoder adds to them', { '\0': 1, '\x001023': 2, '1023': 3, '\0\x001023': 4, '': 5 }],
    ['nested maps', { 1: { 2: [{ 3: new Date(0) }] }, a: { 4: Uint8Array.of(1) } }],
  ])('Numeric keys come back unchanged under msgpack: %s', (_what, value) => {
    const decoded = codec.decodePayload(codec.encodePayload(value));
    expect(decoded).toEqual(value);
    expect(JSON.stringify(decoded)).toBe(JSON.stringify(value));
    expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
  });
});

describe('the memory of a decoded value', () => {
  it.each<[what: string, json: string, msgpack: string]>([
    ['an empty map', '{}', '\x80'],
    ['an empty array', '[]', '\x90'],
    ['an empty text', '""', '\xa0'],
    ['no bytes', 'null', '\xc4\x00'],
    ['a map with a text as its key', '{"a":0}', '\x81\xa1a\x00'],
    ['a map with 0 as its key', '{"0":0}', '\x81\x00\x00'],
    ['a map with 1024 as its key', '{"1024":0}', '\x81\xcd\x04\x00\x00'],
    ['a map with 127 as its key', '{"127":0}', '\x81\x7f\xc0'],
    ['a map with 1023 as its key', '{"1023":0}', '\x81\xcd\x03\xff\xc0'],
    ['a map with 1023 as its key, in text', '{"1023":0}', '\x81\xa41023\xc0'],
    ['a map with 1023 as its key, as a float', '{"1023":0}', '\x81\xcb\x40\x8f\xf8\x00\x00\x00\x00\x00\xc0'],
    ['a map with 1023 and 2575 as its keys', '{"1023":0,"2575":0}', '\x82\xcd\x03\xff\xc0\xcd\x0a\x0f\xc0'],
    ['a timestamp', '"1970-01-01T00:00:00.000Z"', '\xd6\xff\x00\x00\x00\x00'],
    ['nested arrays', '[[[[[[[[]]]]]]]]', '\x91\x91\x91\x91\x91\x91\x91\x90'],
  ])('A decoded value takes a small multiple of its input, however often the input holds %s', async (_what, json, msgpack) => {
    const tasks = (['decode', 'decodePayload'] as const).flatMap((target) => [
      task('json', target, json),
      task('msgpack', target, msgpack),
    ]);
    expect(await areGreedy(...tasks)).toEqual(tasks.map(() => false));
  });

  it('The measurement reports too much memory for a decoder that believes a declared length', async () => {
    const bomb = '\xdd\x01\xff\xff\xff'.repeat(20);
    expect(
      (await measured(program, [task('library', 'decodePayload', bomb), task('msgpack', 'decodePayload', '\x80')], LONGEST_MS)).map(
        (taken) => [taken.takenBytes === Infinity, isGreedy(taken)],
      ),
    ).toEqual([
      [true, true],
      [false, false],
    ]);
  });
});
