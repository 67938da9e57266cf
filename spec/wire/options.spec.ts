import { describe, expect, it } from '@jest/globals';
import { checkFunction, checkNumber } from '../../src/util/check.js';
import { asGiven, checkOptions, readObject, readOptions } from '../../src/util/check.js';
import type { Options } from '../../src/util/check.js';

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
    ['a value that is no object', 5, 'options: expected an object, got 5'],
  ])('`checkOptions` refuses %s', (_what, given, message) => {
    expect(() => {
      checkOptions(given as object, { a: true }, { b: true });
    }).toThrow(new TypeError(message));
  });
});
