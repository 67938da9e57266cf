import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, from, lastValueFrom, NEVER, of, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { client } from '../../src/contract.js';
import type { Client } from '../../src/contract.js';
import type { Input, Stream } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { framesOf } from '../support/peer/frames.js';
import type { Envelope } from '../support/peer/frames.js';
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
