import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { objects, small } from '../../bench/harness/payloads.js';
import { BenchService } from '../../bench/harness/service.js';
import { checkNumber, checkSmall, checkText } from '../../bench/tasks/checks.js';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly resolved?: string }>>;
}

function lockOf(directory: string): Lock {
  return JSON.parse(readFileSync(join(__dirname, '../..', directory, 'package-lock.json'), 'utf8')) as Lock;
}

it.each(['ws', 'rxjs', '@msgpack/msgpack'])('The benchmark measures floors and rxmux over the same %s', (name) => {
  const place = `node_modules/${name}`;
  expect(lockOf('bench').packages[place]?.version).toBe(lockOf('').packages[place]?.version);
});

it('The lock of the benchmark records no download addresses', () => {
  expect(Object.values(lockOf('bench').packages).filter(({ resolved }) => resolved?.startsWith('http') === true)).toEqual([]);
});

it.each([0, 1, 899_999])('Every small payload has 93 bytes of JSON (%i)', (n) => {
  expect(Buffer.byteLength(JSON.stringify(small(n)))).toBe(93);
});

it('`objects` fills the requested bytes with objects, up to one', () => {
  const bytes = Buffer.byteLength(JSON.stringify(objects(100_000)));
  expect(bytes).toBeLessThanOrEqual(100_001);
  expect(bytes).toBeGreaterThan(99_900);
});

it('The service answers a text with its length, a wish with a text of that length, all else with itself', () => {
  const service = new BenchService();
  expect(service.answer('abc')).toBe(3);
  expect(service.answer({ text: 3 })).toBe('xxx');
  expect(service.answer(small(1))).toEqual(small(1));
});

it('The service emits the requested items, and keeps a stream without items open', () => {
  const service = new BenchService();
  expect([...(service.items({ items: 2 }) ?? [])]).toEqual([small(0), small(1)]);
  expect([...(service.items({ items: 2, bytes: 3 }) ?? [])]).toEqual(['xxx', 'xxx']);
  expect(service.idle).toBe(0);
  expect(service.items({ items: 0 })).toBeNull();
  expect(service.idle).toBe(1);
});

it.each<[string, () => void]>([
  ['the answer to another request', () => checkSmall(small(2), 1)],
  ['a damaged answer that is checked whole', () => checkSmall({ ...small(64), user: 'u' }, 64)],
  ['no answer', () => checkSmall(null, 1)],
  ['a text that is too short', () => checkText('xx', 3)],
  ['a text with another end', () => checkText('xxy', 3)],
  ['a value that is no text', () => checkText(3, 3)],
  ['another number', () => checkNumber(4, 5)],
])('A check fails at %s', (_title, check) => {
  expect(check).toThrow(/^a wrong answer: expected /);
});

it('The checks accept the right answers', () => {
  expect(() => {
    checkSmall(small(0), 0);
    checkSmall({ ...small(65) }, 65);
    checkText('xxx', 3);
    checkNumber(4, 4);
  }).not.toThrow();
});
