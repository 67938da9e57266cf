import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { isArrayBuffer, isBlob, isDate, isError, isPromise } from '../../src/util/check.js';

class Failure extends RangeError {}

describe('isError', () => {
  it.each<[string, unknown]>([
    ['an error', new Error('x')],
    ['an instance of a subclass', new Failure('x')],
    ['an object with only the prototype of Error', Object.create(Error.prototype)],
    ['an error of another realm', runInNewContext('new TypeError("x")')],
    ['an instance of a subclass of another realm', runInNewContext('new (class extends Error {})("x")')],
    ['the reason of an aborted signal', AbortSignal.abort().reason],
  ])('`isError` accepts %s', (_what, value) => {
    expect(isError(value)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', 'Error'],
    ['an object that looks like an error', { name: 'Error', message: 'x', stack: '' }],
    ['the class Error', Error],
  ])('`isError` refuses %s', (_what, value) => {
    expect(isError(value)).toBe(false);
  });
});

describe.each([
  { name: 'isArrayBuffer', is: isArrayBuffer, source: 'new ArrayBuffer(1)', own: new ArrayBuffer(1) },
  { name: 'isDate', is: isDate, source: 'new Date(0)', own: new Date(0) },
  { name: 'isPromise', is: isPromise, source: 'Promise.resolve()', own: Promise.resolve() },
])('$name', ({ name, is, source, own }) => {
  it(`\`${name}\` accepts a value of this realm and of another`, () => {
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
  ])(`\`${name}\` refuses %s`, (_what, value) => {
    expect(is(value)).toBe(false);
  });
});

describe('isBlob', () => {
  it.each<[string, unknown]>([
    ['a Blob', new Blob(['x'])],
    ['a File', Object.create(Blob.prototype, { [Symbol.toStringTag]: { value: 'File' } })],
    ['a Blob without a name, as of happy-dom', { size: 1, type: '', slice: () => undefined, arrayBuffer: () => undefined }],
  ])('`isBlob` takes %s', (_what, value) => {
    expect(isBlob(value)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['text', 'Blob'],
    ['bytes', new Uint8Array(1)],
    ['a body of HTTP, which has no slices', new Response('x')],
    ['a list, which has only slices', []],
    ['the class itself', Blob],
  ])('`isBlob` refuses %s', (_what, value) => {
    expect(isBlob(value)).toBe(false);
  });
});
