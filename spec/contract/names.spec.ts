import { describe, expect, it } from '@jest/globals';
import { of } from 'rxjs';
import { answer, contract, request } from '../../src/contract.js';
import { nearNames } from '../../src/contract/contract.js';
import { collectLogs } from '../support/peer/logs.js';
import { framesOf } from '../support/peer/frames.js';
import { createPair } from '../support/peer/tracked.js';
import { answers } from './answers.js';
import { api } from './api.js';

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

describe('names of procedures', () => {
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
