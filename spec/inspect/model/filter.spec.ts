import { describe, expect, it } from '@jest/globals';
import { FilterError, filterOf } from '../../../examples/inspector/model/filter.js';
import { marbleOf } from './lines.js';

const search = marbleOf('>', { type: 'open', stream: 17, payload: { op: 'search', text: 'Red shoes' } }, { n: 'search', b: 70 });
const cancel = marbleOf('>', { type: 'reset', stream: 17, code: 8 }, { n: 'search', b: 40 });
const film = marbleOf('<', { type: 'data', stream: 4, fragment: 'abc' }, { n: 'film', b: 65_536, c: 2 });

describe('the filter', () => {
  it.each([
    ['', [search, cancel, film]],
    ['name:search', [search, cancel]],
    ['name:SEARCH code:CANCEL', [cancel]],
    ['code:8', [cancel]],
    ['size>10k', [film]],
    ['size<50', [cancel]],
    ['size:65536', [film]],
    ['size>0.05k size<1M', [search, film]],
    ['text:"red shoes"', [search]],
    ['shoes', [search]],
    ['film', [film]],
    ['-name:search', [film]],
    ['type:open', [search]],
    ['type:fragment', [film]],
    ['type:data', [film]],
    ['id:#17', [search, cancel]],
    ['connection:2', [film]],
    ['from:dialer', [search, cancel]],
    ['from:acceptor', [film]],
  ])('The filter %p shows what it says', (text, shown) => {
    expect([search, cancel, film].filter(filterOf(text))).toEqual(shown);
  });

  it.each([
    ['colour:red', "expected one of the terms name, id, connection, type, code, text, from, size, got 'colour:'"],
    ['name>5', "got 'name>'"],
    ['size>big', "expected a size such as 10k, got 'big'"],
    ['toString:1', "got 'toString:'"],
  ])('The filter %p is refused with a reason', (text, reason) => {
    expect(() => filterOf(text)).toThrow(FilterError);
    expect(() => filterOf(text)).toThrow(reason);
  });
});
