import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { isPlainObject } from '../../src/util/check.js';

class Point {
  readonly x = 1;
}

describe('isPlainObject', () => {
  it.each<[string, unknown]>([
    ['a literal', {}],
    ['a result of JSON.parse', JSON.parse('{"a":1}')],
    ['an object without a prototype', Object.create(null)],
    ['an object of another realm', runInNewContext('({ a: 1 })')],
  ])('`isPlainObject` accepts %s', (_what, value) => {
    expect(isPlainObject(value)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['text', 'a'],
    ['a function', Point],
    ['an array', []],
    ['an array of another realm', runInNewContext('[]')],
    ['an instance of a class', new Point()],
    ['a Date', new Date()],
    ['a Map', new Map()],
    ['an ArrayBuffer', new ArrayBuffer(1)],
    ['a typed array', new Uint8Array(1)],
  ])('`isPlainObject` refuses %s', (_what, value) => {
    expect(isPlainObject(value)).toBe(false);
  });
});
