import { describe, expect, it } from '@jest/globals';
import { checkBoolean, checkFunction, checkFunctions, checkNumber, checkObject, checkObjects, checkReset } from '../../src/wire/check.js';

describe('checkNumber', () => {
  it.each([
    [0, 0],
    [5, 5],
    [Number.POSITIVE_INFINITY, 1],
  ])('`checkNumber` accepts %p as a number of at least %p', (value, smallest) => {
    expect(() => {
      checkNumber('timeoutMs', value, smallest);
    }).not.toThrow();
  });

  it('`checkNumber` names the option in its error', () => {
    expect(() => {
      checkNumber('timeoutMs', 4, 5);
    }).toThrow(new TypeError('timeoutMs: expected a number of at least 5, got 4'));
  });
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
] as const)('%s', (called, check: (name: string, value: unknown) => void, expected, accepted) => {
  it.each(KINDS)(`\`${called}\` accepts %p or says what it expected`, (value, shown) => {
    const error = accepted.some((one) => one === shown) ? null : new TypeError(`retry: expected ${expected}, got ${shown}`);
    const checked = (): null => (check('retry', value), null);
    if (error === null) expect(checked()).toBeNull();
    else expect(checked).toThrow(error);
  });
});

describe.each<readonly [name: string, check: (options: Readonly<Record<string, unknown>>) => void, accepted: unknown, expected: string]>([
  ['checkFunctions', checkFunctions, (): boolean => true, 'a function'],
  ['checkObjects', checkObjects, {}, 'an object'],
])('%s', (called, check, accepted, expected) => {
  it(`\`${called}\` accepts missing options`, () => {
    expect(() => {
      check({ first: undefined, second: accepted });
    }).not.toThrow();
  });

  it(`\`${called}\` names the wrong option`, () => {
    expect(() => {
      check({ first: accepted, second: null });
    }).toThrow(new TypeError(`second: expected ${expected}, got null`));
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
