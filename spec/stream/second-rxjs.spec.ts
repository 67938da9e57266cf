import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import * as first from 'rxjs';
import { reopenOnReconnect, respond, withCredit } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { framesOf } from '../support/peer/frames.js';
import { virtualPeerTime } from '../support/peer/time.js';

const time = virtualPeerTime();

/** An application may have another version of rxjs than its dependencies. */
describe('Second copy of rxjs', () => {
  let copy: typeof first;

  beforeAll(async () => {
    await jest.isolateModulesAsync(async () => {
      copy = await import('rxjs');
    });
  });

  it('Observables of a second copy of rxjs can be inputs and answers', async () => {
    const { dialer, acceptor } = createPair();
    expect(copy.of()).not.toBeInstanceOf(first.Observable);
    acceptor.streams$.pipe(respond((_, stream) => copy.concat(stream, copy.of('bye')))).subscribe();
    const told: unknown[] = [];
    dialer.open$('p', { input: copy.of(1, 2) }).subscribe({ next: (value) => told.push(value), complete: () => told.push('complete') });
    await time.advance();
    expect(told).toEqual([1, 2, 'bye', 'complete']);
  });

  it('An Observable of a second copy of rxjs is released when its stream ends first', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      stream.reset(300, 'enough');
    });
    const left: string[] = [];
    const input = copy.NEVER.pipe(copy.finalize(() => left.push('input')));
    dialer.open$('p', { input }).subscribe({ error: (error: unknown) => left.push(String(error)) });
    await time.advance();
    expect(left).toEqual(['ResetError: stream 1: reset with 300: enough', 'input']);
  });

  it('Operators of a second copy of rxjs work on calls and streams, and cancel them once', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      for (const value of ['a', 'b', 'c']) void stream.send(value);
      return stream.closed;
    });
    const frames = framesOf(dialer);
    const told: string[] = [];
    for (const call$ of [dialer.open$('p'), dialer.open('p', { end: true }), dialer.open$('p', { input: copy.NEVER })])
      copy
        .from(call$)
        .pipe(
          copy.map((value) => `${String(value)}!`),
          copy.take(2),
        )
        .subscribe((value) => told.push(value));
    await time.advance();
    expect(told.sort()).toEqual(['a!', 'a!', 'a!', 'b!', 'b!', 'b!']);
    expect(frames.filter(({ type }) => type === 'reset').map(({ stream, code }) => [stream, code])).toEqual([
      [1, 8],
      [3, 8],
      [5, 8],
    ]);
  });
});

describe('Copy of rxjs loaded before Symbol.observable was defined', () => {
  const known = Object.getOwnPropertyDescriptor(Symbol, 'observable');
  let copy: typeof first;

  beforeAll(async () => {
    Object.defineProperty(Symbol, 'observable', { configurable: true, value: Symbol('observable') });
    await jest.isolateModulesAsync(async () => {
      copy = await import('rxjs');
    });
  });

  afterAll(() => {
    if (known === undefined) Reflect.deleteProperty(Symbol, 'observable');
    else Object.defineProperty(Symbol, 'observable', known);
  });

  it('Observables that rxjs refuses for their old symbol can be inputs and answers', async () => {
    expect(() => first.from(copy.of(1))).toThrow(TypeError);
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond((_, stream) => copy.concat(first.from(stream), copy.of('bye')))).subscribe();
    const told: unknown[] = [];
    dialer.open$('p', { input: copy.of(1, 2) }).subscribe({ next: (value) => told.push(value), complete: () => told.push('complete') });
    await time.advance();
    expect(told).toEqual([1, 2, 'bye', 'complete']);
  });

  it('Observables with the old symbol can be granted credit, worked on and reopened', async () => {
    const seen: unknown[] = [];
    const credit = withCredit(1);
    credit
      .grant(
        (credit$) => {
          credit$.subscribe();
          return copy.of(1);
        },
        (item) => copy.of(item + 1),
      )
      .subscribe((value) => seen.push(value));
    const { dialer } = createPair();
    await time.advance();
    reopenOnReconnect(dialer, { open: () => copy.of('opened') }).subscribe((value) => seen.push(value));
    expect(seen).toEqual([2, 'opened']);
  });
});
