import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import {
  asGiven,
  atLeast,
  checkBoolean,
  checkFunction,
  checkNumber,
  checkObject,
  checkOptions,
  checkReset,
  isArrayBuffer,
  isBlob,
  isDate,
  isError,
  isPlainObject,
  isPromise,
  oneLine,
  quoted,
  readObject,
  readOptions,
} from '../../src/util/check.js';
import type { Options } from '../../src/util/check.js';

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

interface Wait {
  readonly idleMs?: number | undefined;
  readonly label?: string | null | undefined;
  readonly then?: (() => void) | undefined;
}

interface UsedWait {
  readonly idleMs: number;
  readonly label: string | null;
  readonly then: (() => void) | undefined;
}

const WAIT: Options<Wait, UsedWait> = {
  idleMs: [(name, given) => checkNumber(name, given) * 1_000, 5],
  label: [asGiven, 'none'],
  then: [checkFunction, undefined],
};
const DEFAULTS = { idleMs: 5, label: 'none', then: undefined };

describe('readOptions', () => {
  it.each([{}, { idleMs: undefined, label: undefined, then: undefined }, { other: 1 }])(
    '`readOptions` returns the defaults where %p has no declared option',
    (given) => {
      expect(readOptions(WAIT, given)).toEqual(DEFAULTS);
    },
  );

  it('`readOptions` returns what each option is read as', () => {
    const then = (): void => undefined;
    expect(readOptions(WAIT, { idleMs: 1, label: null, then })).toEqual({ idleMs: 1_000, label: null, then });
  });

  it('`readOptions` reads each given option once, in the declared order', () => {
    const reads: string[] = [];
    const given = new Proxy({}, { get: (_, name) => void reads.push(String(name)) });
    readOptions(WAIT, given);
    expect(reads).toEqual(['idleMs', 'label', 'then']);
  });

  it('`readOptions` names the first wrong option behind its path', () => {
    const given = { then: 5 as unknown as () => void, idleMs: -1 };
    expect(() => readOptions(WAIT, given)).toThrow(new TypeError('idleMs: expected a number of at least 0, got -1'));
    expect(() => readOptions(WAIT, given, 'wait.')).toThrow(new TypeError('wait.idleMs: expected a number of at least 0, got -1'));
  });
});

describe('readObject', () => {
  it('`readObject` reads an object of options', () => {
    expect(readObject('wait', { idleMs: 2 }, WAIT)).toEqual({ ...DEFAULTS, idleMs: 2_000 });
  });

  it.each<[given: unknown, message: string]>([
    [null, 'wait: expected an object, got null'],
    [{ idleMs: 1, restMs: undefined }, "wait: expected one of idleMs, label, then, got 'restMs'"],
    [{ toString: 1 }, "wait: expected one of idleMs, label, then, got 'toString'"],
    [{ then: 1 }, 'wait.then: expected a function, got 1'],
  ])('`readObject` throws for %p', (given, message) => {
    expect(() => readObject('wait', given as Wait, WAIT)).toThrow(new TypeError(message));
  });
});

describe('checkOptions', () => {
  it('`checkOptions` accepts the names of all declarations', () => {
    expect(() => {
      checkOptions({ a: 1, b: undefined }, { a: true }, { b: true, c: true });
    }).not.toThrow();
  });

  it.each<[string, unknown, string]>([
    ['an unknown name', { a: 1, toString: 2 }, "options: expected one of a, b, got 'toString'"],
    ['one letter, which every short name is near to', { c: 1 }, "options: expected one of a, b, got 'c'"],
    ['a value that is no object', 5, 'options: expected an object, got 5'],
  ])('`checkOptions` refuses %s', (_what, given, message) => {
    expect(() => {
      checkOptions(given as object, { a: true }, { b: true });
    }).toThrow(new TypeError(message));
  });
});

describe('A misspelt option', () => {
  const TIMES = { timeoutMs: true, connectTimeoutMs: true, helloTimeoutMs: true };
  const LIMITS = { maxUnsentBytes: true, maxUnreadBytes: true, maxStreams: true, port: true };

  it.each<[wrong: string, right: string]>([
    ['reconect', 'reconnect'],
    ['reconnnect', 'reconnect'],
    ['recnonect', 'reconnect'],
    ['Reconnect', 'reconnect'],
    ['timeoutms', 'timeoutMs'],
    ['timeout', 'timeoutMs'],
    ['maxUnredBytes', 'maxUnreadBytes'],
    ['maxStream', 'maxStreams'],
    ['pot', 'port'],
  ])('`checkOptions` asks whether %s was meant as %s, the nearest name', (wrong, right) => {
    expect(() => {
      checkOptions({ [wrong]: 1 }, TIMES, LIMITS, { reconnect: true });
    }).toThrow(new TypeError(`options: no '${wrong}'; did you mean '${right}'?`));
  });

  it.each(['timeoutInMilliseconds', 'socket', 'x'.repeat(100_000), 'maxUn', ''])('`checkOptions` lists each name once for %p', (wrong) => {
    expect(() => {
      checkOptions({ [wrong]: 1 }, TIMES, { timeoutMs: true, port: true });
    }).toThrow(new TypeError(`options: expected one of timeoutMs, connectTimeoutMs, helloTimeoutMs, port, got '${wrong}'`));
  });
});

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

describe('quoted', () => {
  it.each<readonly [what: string, text: string, shown: string]>([
    ['keeps plain text', 'https://example.org', '"https://example.org"'],
    ['keeps letters beyond ASCII', 'é 日本 😀', '"é 日本 😀"'],
    ['escapes quotes and backslashes', 'a"b\\c', '"a\\"b\\\\c"'],
    ['escapes line ends', 'a\r\nb', '"a\\r\\nb"'],
    ['escapes other C0 controls and DEL', '\0\u001b[2J\u007f', '"\\u0000\\u001b[2J\\u007f"'],
    ['escapes C1 controls', '\u0085\u009b31m', '"\\u0085\\u009b31m"'],
    ['escapes characters that reorder text', 'a\u202eb', '"a\\u202eb"'],
    ['escapes invisible characters beyond the first plane', '\u{e0041}', '"\\udb40\\udc41"'],
    ['escapes line separators', '\u2028\u2029', '"\\u2028\\u2029"'],
    ['escapes a lone surrogate', '\ud83d', '"\\ud83d"'],
    ['keeps 100 characters', 'x'.repeat(100), `"${'x'.repeat(100)}"`],
    ['cuts a text of more than 100 characters', 'x'.repeat(101), `"${'x'.repeat(100)}…"`],
    ['never cuts a pair', `${'x'.repeat(99)}😀`, `"${'x'.repeat(99)}…"`],
    ['never cuts an escape', '\u009b'.repeat(17), `"${'\\u009b'.repeat(16)}…"`],
  ])('`quoted` %s', (_what, text, shown) => {
    expect(quoted(text)).toBe(shown);
  });
});

describe('oneLine', () => {
  it.each<readonly [what: string, text: string, shown: string]>([
    ['keeps quotes and backslashes, so that it may be called twice', 'a"b\\c\\n', 'a"b\\c\\n'],
    ['escapes line ends', 'a\r\nb', 'a\\r\\nb'],
    ['escapes C1 controls', '\u009b31m', '\\u009b31m'],
    ['escapes a lone surrogate', '\ud83d', '\\ud83d'],
    ['cuts a text of more than 100 characters', 'x'.repeat(101), `${'x'.repeat(100)}…`],
  ])('`oneLine` %s', (_what, text, shown) => {
    expect(oneLine(text)).toBe(shown);
  });

  it('`oneLine` cuts to the length that its caller passes', () => {
    expect([oneLine('abcd', 4), oneLine('abcd', 3)]).toEqual(['abcd', 'abc…']);
  });
});

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
