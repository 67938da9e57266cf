import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, from, lastValueFrom, mergeMap, NEVER, of, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { answer, client, contract, plain, request, stream, upload } from '../../src/contract.js';
import type { Client, Procedure } from '../../src/contract.js';
import { nearNames } from '../../src/util/near-names.js';
import type { Input, Stream } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { framesOf } from '../support/peer/frames.js';
import type { Envelope } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { answers } from './answers.js';
import { api } from './api.js';

type Calls = Client<typeof api>;

const open = (payload: readonly unknown[], fields: Envelope = {}): Envelope => ({ type: 'open', stream: 1, payload, ...fields });

const FRAMES: readonly { call: string; act: (calls: Calls) => Observable<unknown>; first: Envelope }[] = [
  { call: 'square({ n: 2 })', act: (calls) => calls.square({ n: 2 }), first: open(['square', { n: 2 }], { end: true }) },
  { call: 'now()', act: (calls) => calls.now(), first: open(['now'], { end: true }) },
  { call: 'count({ from: 1 })', act: (calls) => calls.count({ from: 1 }), first: open(['count', { from: 1 }], { end: true }) },
  { call: "store({ name: 'a' }, [])", act: (calls) => calls.store({ name: 'a' }, []), first: open(['store', { name: 'a' }]) },
  { call: 'chat.shout(undefined, [])', act: (calls) => calls.chat.shout(undefined, []), first: open(['chat.shout']) },
  {
    call: 'now(undefined, { headers })',
    act: (calls) => calls.now(undefined, { headers: { trace: 'a' } }),
    first: open(['now'], { end: true, headers: { trace: 'a' } }),
  },
  {
    call: 'now(undefined, { headers, timeoutMs })',
    act: (calls) => calls.now(undefined, { headers: { trace: 'a' }, timeoutMs: 500 }),
    first: open(['now'], { end: true, headers: { trace: 'a', timeoutMs: 500 } }),
  },
  { call: 'now(undefined, { timeoutMs: 0 })', act: (calls) => calls.now(undefined, { timeoutMs: 0 }), first: open(['now'], { end: true }) },
  {
    call: 'now(undefined, { timeoutMs: Infinity })',
    act: (calls) => calls.now(undefined, { timeoutMs: Infinity }),
    first: open(['now'], { end: true }),
  },
];

/** The inputs that a call takes, each with two values. */
const INPUTS: readonly { kind: string; input: () => Input<unknown> }[] = [
  { kind: 'an Observable', input: () => of(1, 2) },
  { kind: 'an iterable', input: () => [1, 2] },
  { kind: 'a generator', input: () => [1, 2].values() },
  { kind: 'an async iterable', input: () => asyncNumbers() },
  { kind: 'a ReadableStream', input: () => new Blob(['1']).stream().pipeThrough(twice()) },
  { kind: 'a stream of Node', input: () => Readable.from([1, 2]) },
  { kind: 'a Blob', input: () => new Blob([new Uint8Array(65_537)]) },
  { kind: 'a function', input: () => () => from([1, 2]) },
  { kind: 'a promise, with one value', input: () => Promise.resolve(1) },
];

function twice(): TransformStream<unknown, unknown> {
  return new TransformStream({
    transform(value, controller) {
      controller.enqueue(value);
      controller.enqueue(value);
    },
  });
}

async function* asyncNumbers(): AsyncGenerator<number> {
  await Promise.resolve();
  yield* [1, 2];
}

describe('client', () => {
  it.each(FRAMES)('The call $call sends its name and its payload in one array', ({ act, first }) => {
    const { calls, dialer } = createPair(api, answers);
    const frames = framesOf(dialer);
    act(calls).subscribe({ error: () => undefined });
    return dialer.opened.then(() => {
      expect(frames[0]).toEqual(first);
    });
  });

  it('A client has the namespaces of its contract, is frozen, and is no thenable', () => {
    const { calls } = createPair(api, answers);
    expect(Object.keys(calls)).toEqual(Object.keys(api));
    expect(Object.keys(calls.chat)).toEqual(['shout']);
    expect([calls, calls.chat].every((each) => Object.isFrozen(each))).toBe(true);
    expect('then' in calls).toBe(false);
  });

  it('Requests resolve with their reply, and an array or a text arrives whole', async () => {
    const { calls } = createPair(api, answers);
    expect(await calls.square.promise({ n: 12 })).toBe(144);
    expect(await calls.now.promise()).toBe('noon');
    expect(await calls.words.promise('one two')).toEqual(['one', 'two']);
    expect(await firstValueFrom(calls.words('one two'))).toEqual(['one', 'two']);
  });

  it('Streams and channels emit their items', async () => {
    const { calls } = createPair(api, answers);
    expect(await lastValueFrom(calls.count({ from: 4 }).pipe(toArray()))).toEqual([4, 5, 6]);
    expect(await lastValueFrom(calls.chat.shout(undefined, ['a', 'b']).pipe(toArray()))).toEqual(['A', 'B']);
    expect(await lastValueFrom(calls.sums(undefined, of(1, 2)).pipe(toArray()))).toEqual([2, 3]);
  });

  it.each(INPUTS)('An upload sends $kind, and resolves with its reply', async ({ kind, input }) => {
    const { calls } = createPair(api, answers, { codec: new MsgpackCodec() });
    expect(await calls.store.promise({ name: 'n' }, input())).toBe(kind.includes('one value') ? 1 : 2);
  });

  it('An upload sends the items of another call', async () => {
    const { calls, dialer } = createPair(api, answers);
    const items = dialer.open<number>(['count', { from: 1 }], { end: true });
    expect(await lastValueFrom(calls.total(undefined, items))).toBe(6);
  });

  it('An upload whose answer has no reply resolves with null', async () => {
    const { calls } = createPair(api, { ...answers, store: () => undefined as never });
    expect(await calls.store.promise({ name: 'n' }, NEVER)).toBeNull();
    expect(await lastValueFrom(calls.store({ name: 'n' }, NEVER))).toBeNull();
  });

  it('A notification drops its answer', async () => {
    const seen: unknown[] = [];
    const { calls, dialer } = createPair(api, { ...answers, square: ({ n }) => seen.push(n) });
    const frames = framesOf(dialer, 'rx');
    calls.square.notify({ n: 3 });
    await calls.now.promise();
    expect(seen).toEqual([3]);
    expect(frames).toHaveLength(2);
  });

  it('A call passes its options on', async () => {
    const { calls } = createPair(api, { ...answers, count: () => NEVER });
    const aborted = calls.count({ from: 1 }, { signal: AbortSignal.abort('left') });
    await expect(lastValueFrom(aborted)).rejects.toMatchObject({ code: 'CANCELLED', cause: 'left' });
    let opened: Stream<number, never> | null = null;
    calls.count({ from: 1 }, { onOpen: (stream) => (opened = stream) }).subscribe({ error: () => undefined });
    expect(opened).toMatchObject({ local: true });
    expect(() => calls.chat.shout(undefined, [], { overflow: 'never' as 'buffer' })).toThrow(TypeError);
    expect(() => calls.count({ from: 1 }, { retry: { count: -1 } })).toThrow(TypeError);
  });

  it('`client` refuses an object that is no peer', () => {
    expect(() => client({} as never, api)).toThrow(new TypeError('client: expected a Peer, got an object'));
  });
});

describe('names of procedures', () => {
  const logs = collectLogs();

  const UNKNOWN: readonly { name: string; message: string; near: readonly string[] }[] = [
    { name: 'sqaure', message: "no 'sqaure'; did you mean 'square'?", near: ['square'] },
    { name: 'Square', message: "no 'Square'; did you mean 'square'?", near: ['square'] },
    { name: 'shout', message: "no 'shout'", near: [] },
    { name: 'chat.shut', message: "no 'chat.shut'; did you mean 'chat.shout'?", near: ['chat.shout'] },
    { name: 'toString', message: "no 'toString'", near: [] },
    { name: '', message: "no ''", near: [] },
    { name: 'a\nb', message: "no 'a\\nb'", near: [] },
    { name: 'x'.repeat(500), message: `no '${'x'.repeat(100)}…'`, near: [] },
  ];

  it.each(UNKNOWN)('A call of $name fails with an error that lists near names', async ({ name, message, near }) => {
    const { dialer } = createPair(api, answers);
    await expect(dialer.request([name])).rejects.toMatchObject({
      code: 'REMOTE',
      message,
      retriable: false,
      payload: { name: 'UNKNOWN', message, data: near },
    });
  });

  it('A call of an unknown name is made once, although the call may be retried', async () => {
    const { dialer } = createPair(api, answers);
    const frames = framesOf(dialer);
    await expect(dialer.request(['nam'], { retry: 'safe' })).rejects.toMatchObject({ code: 'REMOTE' });
    expect(frames.filter(({ type }) => type === 'open')).toHaveLength(1);
    expect(logs.errors).toEqual([]);
  });

  it('Two contracts answer on one peer, and their near names stand in one list', async () => {
    const { dialer, acceptor } = createPair(api, answers);
    const other = contract({ squares: request<number[], number[]>() });
    acceptor.streams$.pipe(answer(other, { squares: (all) => all.map((n) => n * n) })).subscribe();
    expect(await dialer.request(['squares', [2, 3]])).toEqual([4, 9]);
    expect(await dialer.request(['square', { n: 2 }])).toBe(4);
    await expect(dialer.request(['sqaure'])).rejects.toMatchObject({ payload: { data: ['square', 'squares'] } });
  });

  it('An operator or a handler after the contract takes a name that the contract does not have', async () => {
    const { dialer, acceptor } = createPair(api, answers);
    acceptor.onStream((payload, stream) => stream.reply({ handled: payload }));
    expect(await dialer.request(['sqaure', 1])).toEqual({ handled: ['sqaure', 1] });
  });

  it.each([{ op: 'square' }, 'square', ['square', 1, 2], [], [1], null])('The contract leaves a stream of %j alone', async (payload) => {
    const { dialer } = createPair(api, answers);
    await expect(dialer.request(payload)).rejects.toMatchObject({ code: 'REFUSED', retriable: true });
  });

  it.each([
    { name: 'square', of: 'sqaure squares cube', near: ['sqaure', 'squares'] },
    { name: 'ab', of: 'ba b abc xy', near: ['ba', 'b', 'abc'] },
    { name: 'abcd', of: 'abdc abc abcde bcda', near: ['abdc', 'abc', 'abcde'] },
    { name: 'x'.repeat(65), of: 'x'.repeat(64), near: [] },
  ])('The near names of $name among $of are $near', ({ name, of: others, near }) => {
    expect(nearNames(name, others.split(' '))).toEqual(near);
  });

  it.each([
    { wrong: { 'a.b': request() }, message: "expected a name without dots other than 'then', got 'a.b'" },
    { wrong: { chat: { then: request() } }, message: "expected a name without dots other than 'then', got 'then'" },
    { wrong: { '': request() }, message: "expected a name without dots other than 'then', got ''" },
    { wrong: { square: () => 4 }, message: 'square: expected a procedure or a namespace, got a function' },
  ])('`contract` refuses $wrong', ({ wrong, message }) => {
    expect(() => contract(wrong as never)).toThrow(new TypeError(message));
  });

  it('`contract` freezes its namespaces, and one may hold a procedure named kind', async () => {
    const named = contract({ chat: { kind: request<void, string>() } });
    expect([named, named.chat, named.chat.kind].every((each) => Object.isFrozen(each))).toBe(true);
    const { calls } = createPair(named, { chat: { kind: () => of('loud') } });
    expect(await calls.chat.kind.promise()).toBe('loud');
  });

  it('`answer` refuses a procedure without an answer', () => {
    expect(() => answer(api, { ...answers, chat: {} as never })).toThrow(
      new TypeError('answers.chat.shout: expected a function, got undefined'),
    );
    expect(() => answer(api, { ...answers, chat: undefined as never })).toThrow(TypeError);
  });
});

describe('mistakes', () => {
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
      ['a misspelt schema', request({ payloads: NUMBER } as object), "request 'one': no 'payloads'; did you mean 'payload'?"],
      ['an output', request({ output: NUMBER } as object), "request 'one': expected one of payload, reply, errors, got 'output'"],
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
        new TypeError("options: no 'arround'; did you mean 'around'?"),
      );
      expect(() => answer(one, answerOne, { validate: 'no' as never })).toThrow(
        new TypeError("options.validate: expected a boolean, got 'no'"),
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

    it.each([
      { kind: 'Headers', headers: new Headers({ token: 'secret' }), timeoutMs: 500 },
      { kind: 'Map', headers: new Map([['token', 'secret']]), timeoutMs: 500 },
      { kind: 'Promise', headers: Promise.resolve({ token: 'secret' }), timeoutMs: 500 },
      { kind: 'Map', headers: new Map([['token', 'secret']]), timeoutMs: 0 },
    ])('A promise of a call rejects for a $kind as its headers, beside a timeoutMs of $timeoutMs', async ({ kind, ...options }) => {
      const calls = client(createPair().dialer, api);
      const says = new TypeError(`expected headers or trailers to be a plain object, got [object ${kind}]`);
      for (const call of [() => calls.square.promise(1, options), () => calls.sum.promise(undefined, [1], options)])
        await expect(call()).rejects.toThrow(says);
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
      const { calls } = createPair(
        one,
        { one: () => Promise.resolve(of(1)) as never },
        { around: (_, next) => of(1).pipe(mergeMap(next)) },
      );
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
});

describe('payloads that are no calls', () => {
  const logs = collectLogs();

  const add = contract({ add: request<number, number>(), table: { show: stream<void, string>() } });
  const many = contract(Object.fromEntries(Array.from({ length: 12 }, (_, nth) => [`c${nth}`, request()])));

  it.each<readonly [what: string, payload: unknown]>([
    ['an object with an op', { op: 'add', n: 1 }],
    ['a name alone', 'add'],
    ['nothing', undefined],
    ['a list with more than a name and a value', ['add', 1, 2]],
  ])('A side that answers contracts refuses %s with the names of its calls', async (_what, payload) => {
    const { dialer } = createPair(add, { add: (n) => n, table: { show: () => [] } });
    await expect(dialer.request(payload)).rejects.toMatchObject({
      code: 'REFUSED',
      retriable: true,
      reason: 'this side answers the contract calls add, table.show; a call is the payload ["add", value]',
    });
    expect(logs.errors).toEqual([]);
  });

  it('A refusal names the calls of all contracts, ten at most', async () => {
    const { dialer, acceptor } = createPair(add, { add: (n) => n, table: { show: () => [] } });
    acceptor.streams$.pipe(answer(many, Object.fromEntries(Object.keys(many).map((name) => [name, () => undefined])) as never)).subscribe();
    await expect(dialer.request({ op: 'add' })).rejects.toMatchObject({
      reason:
        'this side answers the contract calls add, table.show, c0, c1, c2, c3, c4, c5, c6, c7 and 4 more; a call is the payload ["add", value]',
    });
  });

  it('A handler beside a contract still gets every payload that is no call', async () => {
    const { dialer, acceptor } = createPair(add, { add: (n) => n, table: { show: () => [] } });
    acceptor.onStream((payload, opened) => void opened.reply(payload));
    expect(await dialer.request({ op: 'add' })).toEqual({ op: 'add' });
  });
});
