import { describe, expect, it } from '@jest/globals';
import { isJsonReady } from '../../src/codec/json-check.js';
import { nested } from '../support/codec/values.js';

class Row {
  readonly id = 1;
}

class Tagged {
  readonly [Symbol.toStringTag] = 'Row';
}

describe('isJsonReady', () => {
  it.each<[string, unknown]>([
    ['text', 'a'],
    ['a number', -1.5],
    ['true', true],
    ['null', null],
    ['an empty array', []],
    ['an empty object', {}],
    ['an array of scalars', ['a', 1, false, null]],
    ['an object of scalars', { a: 'a', b: 1, c: false, d: null }],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
    ['an object with its own tag', { [Symbol.toStringTag]: 'Row', a: 1 }],
    ['an object whose prototype is a plain object', Object.assign(Object.create({ inherited: 1 }) as object, { a: 1 })],
    ['an instance of a class', new Row()],
    ['a date', new Date(0)],
    ['an invalid date, which JSON writes as null', new Date(NaN)],
    ['a property named constructor', { constructor: 'a' }],
    ['a property that is undefined, which JSON leaves out', { a: undefined }],
    ['objects in arrays in objects', { a: [{ b: ['c'] }] }],
  ])('`isJsonReady` accepts %s', (_what, value) => {
    expect(isJsonReady(value, 3 + 1)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['NaN', NaN],
    ['Infinity', Infinity],
    ['a bigint', 1n],
    ['a symbol', Symbol('a')],
    ['a function', () => 1],
    ['a date with a toJSON of its own', Object.assign(new Date(0), { toJSON: () => 1 })],
    ['a date with a toISOString of its own', Object.assign(new Date(0), { toISOString: () => 1 })],
    ['a plain object with a toJSON', { toJSON: () => 1 }],
    ['an array with a toJSON', Object.assign([], { toJSON: () => 1 })],
    ['a map', new Map()],
    ['an error', new Error('lost')],
    ['an instance with its own tag', new Tagged()],
    ['a built-in iterator', new Map().values()],
    ['bytes', new Uint8Array(1)],
    ['an array of a subclass', new (class extends Array<number> {})()],
  ])('`isJsonReady` refuses %s, at any depth', (_what, value) => {
    expect(isJsonReady(value, 9)).toBe(false);
    if (value !== undefined) expect([isJsonReady({ a: 'a', b: value }, 9), isJsonReady(['a', value], 9)]).toEqual([false, false]);
  });

  it.each<[string, (inner: unknown) => unknown]>([
    ['arrays', (inner) => ['a', inner]],
    ['objects', (inner) => ({ a: 'a', b: inner })],
  ])('`isJsonReady` accepts %s up to the given depth', (_what, around) => {
    expect([isJsonReady(nested(5, around), 5), isJsonReady(nested(6, around), 5)]).toEqual([true, false]);
  });
});
