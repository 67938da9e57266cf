import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { isArrayBuffer, isDate, isError, isPromise } from '../../src/wire/cross-realm.js';

class Failure extends RangeError {}

describe('isError', () => {
  it.each<[string, unknown]>([
    ['an error', new Error('x')],
    ['an instance of a subclass', new Failure('x')],
    ['what inherits from Error by its prototype alone', Object.create(Error.prototype)],
    ['an error of another realm', runInNewContext('new TypeError("x")')],
    ['an instance of a subclass of another realm', runInNewContext('new (class extends Error {})("x")')],
    ['what an aborted signal gives as its reason', AbortSignal.abort().reason],
  ])('takes %s', (_what, value) => {
    expect(isError(value)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', 'Error'],
    ['an object that looks like one', { name: 'Error', message: 'x', stack: '' }],
    ['the class itself', Error],
  ])('refuses %s', (_what, value) => {
    expect(isError(value)).toBe(false);
  });
});

describe.each([
  { name: 'isArrayBuffer', is: isArrayBuffer, source: 'new ArrayBuffer(1)', own: new ArrayBuffer(1) },
  { name: 'isDate', is: isDate, source: 'new Date(0)', own: new Date(0) },
  { name: 'isPromise', is: isPromise, source: 'Promise.resolve()', own: Promise.resolve() },
])('$name', ({ is, source, own }) => {
  it('takes one of this realm and of another', () => {
    expect([is(own), is(runInNewContext(source))]).toEqual([true, true]);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', '[object Date]'],
    ['a map', {}],
    ['a view', new Uint8Array(1)],
    ['shared memory', new SharedArrayBuffer(1)],
    ['a view of another realm', runInNewContext('new Uint8Array(1)')],
  ])('refuses %s', (_what, value) => {
    expect(is(value)).toBe(false);
  });
});
