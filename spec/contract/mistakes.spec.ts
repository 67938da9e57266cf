import { describe, expect, it } from '@jest/globals';
import { from, lastValueFrom, mergeMap, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { answer, client, contract, plain, request, stream, upload } from '../../src/contract.js';
import type { Procedure } from '../../src/contract.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';

const logs = collectLogs();

const one = contract({ one: request<void, number>() });
const NUMBER = plain<number>();
const answerOne = { one: () => 1 };

describe('mistakes that TypeScript finds, in a program without it', () => {
  it.each([
    { api: { chat: [request()] }, says: 'chat: expected a procedure or a namespace, got an array' },
    { api: { chat: null }, says: 'chat: expected a procedure or a namespace, got null' },
    { api: undefined, says: 'contract: expected an object, got undefined' },
    { api: [request()], says: 'contract: expected an object, got an array' },
    { api: 'square', says: "contract: expected an object, got 'square'" },
  ])('`contract` refuses $api', ({ api, says }) => {
    expect(() => contract(api as never)).toThrow(new TypeError(says));
  });

  it.each([
    { api: undefined, says: (at: string) => `${at}: expected a contract, got undefined` },
    { api: answerOne, says: () => 'one: expected a procedure or a namespace, got a function' },
    { api: { chat: answerOne }, says: () => 'chat.one: expected a procedure or a namespace, got a function' },
  ])('`answer` and `client` refuse $api in the place of a contract', ({ api, says }) => {
    const { dialer } = createPair();
    expect(() => answer(api as never, { chat: {} } as never)).toThrow(new TypeError(says('answer')));
    expect(() => client(dialer, api as never)).toThrow(new TypeError(says('client')));
  });

  it.each<[string, Procedure, string]>([
    ['a misspelt schema', request({ payloads: NUMBER } as object), "request 'one': expected one of payload, reply, errors, got 'payloads'"],
    ['a reply of a stream', stream({ reply: NUMBER } as never), "stream 'one': expected one of payload, item, errors, got 'reply'"],
    [
      'a schema in the place of its object',
      request(NUMBER as object),
      "request 'one': expected one of payload, reply, errors, got '~standard'",
    ],
    ['a text', upload({ input: 'number' as never }), "the input of 'one': expected a schema, got 'number'"],
  ])('`answer` refuses a procedure with %s, whose values would pass unchecked', (_, one, says) => {
    expect(() => answer(contract({ one }), { one: () => 1 } as never)).toThrow(new TypeError(says));
  });

  it('A misspelt option is refused, because a misspelt `around` would let every call pass', () => {
    expect(() => answer(one, answerOne, { arround: () => of(1) } as never)).toThrow(
      new TypeError("options: expected one of around, overflow, got 'arround'"),
    );
    expect(() => answer(one, answerOne, { around: [1] as never })).toThrow(new TypeError('options.around: expected a function, got 1'));
  });
});

describe('calls', () => {
  const api = contract({ square: request<number, number>(), sum: upload<void, number, number>() });

  it('A call refuses an input among its options, which `open$` would send', async () => {
    const { dialer } = createPair();
    const calls = client(
      dialer,
      contract({ square: request<number, number>(), count: stream<void, number>(), sum: upload<void, number>() }),
    );
    const stray = { input: [1] } as object;
    const says = "options: expected one of headers, signal, timeoutMs, onOpen, retry, got 'input'";
    expect(() => calls.square(1, stray)).toThrow(new TypeError(says));
    expect(() => calls.count(undefined, stray)).toThrow(new TypeError(says));
    await expect(calls.sum.promise(undefined, [1], stray)).rejects.toThrow(new TypeError(says.replace('retry', 'retry, overflow')));
  });

  it.each<[string, unknown]>([
    ['a symbol', Symbol('ms')],
    ['a bigint', 5n],
    ['a text', '5'],
  ])('A promise of a call rejects for %s as its timeoutMs', async (_, timeoutMs) => {
    const calls = client(createPair().dialer, api);
    const options = { timeoutMs: timeoutMs as number };
    for (const call of [() => calls.square.promise(1, options), () => calls.sum.promise(undefined, [1], options)])
      await expect(call()).rejects.toThrow(TypeError);
  });
});

describe('answers', () => {
  it.each(['toString', 'constructor', 'valueOf', '__proto__'])(
    '`answer` misses an answer named %s, although every object has one',
    (name) => {
      expect(() => answer(contract({ [name]: request() }), {})).toThrow(
        new TypeError(`answers.${name}: expected a function, got undefined`),
      );
    },
  );

  it.each(['toString', 'constructor', 'hasOwnProperty', '__proto__', 'call', 'length'])('A procedure may be named %s', async (name) => {
    const { calls } = createPair(contract({ [name]: request<void, string>() }), { [name]: () => name });
    expect(await calls[name]?.promise()).toBe(name);
  });

  it('Answers may be an instance of a class, and run as its methods', async () => {
    class Doors {
      readonly #opened: number[] = [];
      open(door: number): number {
        return this.#opened.push(door);
      }
    }
    const doors = contract({ doors: { open: request<number, number>() } });
    const { calls } = createPair(doors, { doors: new Doors() });
    expect([await calls.doors.open.promise(7), await calls.doors.open.promise(8)]).toEqual([1, 2]);
  });

  it('A module may be a contract, or a namespace of one', async () => {
    // Freezing the object of `import * as procedures` throws, as it does here.
    const isModule = { defineProperty: () => false };
    const procedures = new Proxy(Object.preventExtensions({ square: request<number, number>() }), isModule);
    const api = contract({ procedures });
    const { calls } = createPair(api, { procedures: { square: (n) => n * n } });
    expect(await calls.procedures.square.promise(3)).toBe(9);
    expect(contract(procedures)).toBe(procedures);
  });

  it.each([
    { kind: 'a reply', many: of(1) },
    { kind: 'items', many: of(1) },
    {
      kind: 'items',
      many: (async function* () {
        yield await Promise.resolve(1);
      })(),
    },
  ])('A promise of many values fails, and says how to write it: $kind', async ({ kind, many }) => {
    const later = (): never => Promise.resolve(many) as never;
    const { calls } = createPair(contract({ reply: request(), items: stream<void, number>() }), { reply: later, items: later });
    const call$: Observable<unknown> = kind === 'items' ? calls.items() : calls.reply();
    await expect(lastValueFrom(call$)).rejects.toMatchObject({
      reason: 'an answer: expected a promise of a value, got a promise of many: return from(work).pipe(mergeMap(…))',
    });
    expect(logs.errors).toHaveLength(1);
  });

  it.each([
    { returned: 5, got: '5' },
    { returned: null, got: 'null' },
    { returned: { n: 5 }, got: 'an object' },
  ])('An answer that returns $returned in the place of items fails, and names its procedure', async ({ returned, got }) => {
    const items = contract({ chat: { items: stream<void, number>() } });
    const { calls } = createPair(items, { chat: { items: () => returned as never } });
    await expect(lastValueFrom(calls.chat.items())).rejects.toMatchObject({
      reason: `the answer to 'chat.items': expected items, such as an Observable or an iterable, got ${got}`,
    });
    expect(logs.errors).toHaveLength(1);
  });

  it('A promise of many values fails behind a function around it, too', async () => {
    const { calls } = createPair(one, { one: () => Promise.resolve(of(1)) as never }, { around: (_, next) => of(1).pipe(mergeMap(next)) });
    await expect(calls.one.promise()).rejects.toMatchObject({ reason: expect.stringContaining('a promise of many') });
    expect(logs.errors).toHaveLength(1);
  });

  it.each([
    { returned: undefined, says: "around 'one': expected an Observable, got nothing" },
    {
      returned: Promise.resolve(of(1)),
      says: "around 'one': expected an Observable, got a promise; return from(work).pipe(mergeMap(next))",
    },
  ])('A function around answers that returns no Observable fails the call, and says so', async ({ returned, says }) => {
    const { calls } = createPair(one, answerOne, { around: [(_, next) => from([1]).pipe(mergeMap(next)), () => returned as never] });
    await expect(calls.one.promise()).rejects.toMatchObject({ reason: says });
    expect(logs.errors).toHaveLength(1);
  });
});
