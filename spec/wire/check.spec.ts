import { describe, expect, it } from '@jest/globals';
import { atLeast, checkBoolean, checkFunction, checkNumber, checkObject, checkReset } from '../../src/util/check.js';

describe('checkNumber', () => {
  it.each([
    [0, 0],
    [5, 5],
    [Number.POSITIVE_INFINITY, 1],
  ])('`checkNumber` returns %p, a number of at least %p', (value, smallest) => {
    expect(checkNumber('timeoutMs', value, smallest)).toBe(value);
  });

  it.each([(value: number) => checkNumber('timeoutMs', value, 5), (value: number) => atLeast(5)('timeoutMs', value)])(
    '`checkNumber` and `atLeast` name the option in their errors',
    (check) => {
      expect(check(5)).toBe(5);
      expect(() => check(4)).toThrow(new TypeError('timeoutMs: expected a number of at least 5, got 4'));
    },
  );
});

/** Values of different kinds, and the name of each kind in an error. */
const KINDS: readonly (readonly [value: unknown, shown: string])[] = [
  [undefined, 'undefined'],
  [null, 'null'],
  [true, 'true'],
  [5, '5'],
  [5n, '5n'],
  ['5', "'5'"],
  [[], 'an array'],
  [{}, 'an object'],
  [(): void => undefined, 'a function'],
];

describe.each([
  ['checkFunction', checkFunction, 'a function', ['a function']],
  ['checkBoolean', checkBoolean, 'a boolean', ['true']],
  ['checkObject', checkObject, 'an object', ['an object']],
  ['checkNumber', checkNumber, 'a number of at least 0', ['5']],
] as const)('%s', (called, check: (name: string, value: unknown) => unknown, expected, accepted) => {
  it.each(KINDS)(`\`${called}\` returns %p or says what it expected`, (value, shown) => {
    const error = accepted.some((one) => one === shown) ? null : new TypeError(`retry: expected ${expected}, got ${shown}`);
    const checked = (): unknown => check('retry', value);
    if (error === null) expect(checked()).toBe(value);
    else expect(checked).toThrow(error);
  });
});

describe('checkObject', () => {
  it('`checkObject` says what it accepts', () => {
    expect(() => {
      checkObject('keepalive', true, 'false or { idleMs, timeoutMs }');
    }).toThrow(new TypeError('keepalive: expected false or { idleMs, timeoutMs }, got true'));
  });
});

describe('checkReset', () => {
  it.each([0, -1, 300])('`checkReset` accepts the code %p with a string as reason', (code) => {
    expect(() => {
      checkReset('reset', code, '');
    }).not.toThrow();
  });

  it.each<[unknown, unknown, string]>([
    [1.5, 'x', 'reset: expected an integer for a code, got 1.5'],
    [2 ** 53, 'x', 'reset: expected an integer for a code, got 9007199254740992'],
    ['8', 'x', "reset: expected an integer for a code, got '8'"],
    [8, null, 'reset: expected a string for a reason, got object'],
    [8, 5, 'reset: expected a string for a reason, got number'],
  ])('`checkReset` throws for code %p with reason %p', (code, reason, message) => {
    expect(() => {
      checkReset('reset', code, reason);
    }).toThrow(new TypeError(message));
  });
});
