import { describe, expect, it } from '@jest/globals';
import { concat, firstValueFrom, lastValueFrom, of, throwError, toArray } from 'rxjs';
import { contract, fail, isFailure, request, stream, whenError } from '../../src/contract.js';
import { RemoteError } from '../../src/index.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { answers } from './answers.js';
import { api } from './api.js';

const logs = collectLogs();

const TAKEN = { code: 'REMOTE', retriable: false, payload: { name: 'TAKEN', message: 'TAKEN', data: { by: 'ann' } } };

describe('declared errors', () => {
  it('A declared error reaches the caller with its data, and no log shows it', async () => {
    const { calls } = createPair(api, answers);
    await expect(calls.book.promise({ seat: '12A' })).rejects.toMatchObject(TAKEN);
    await expect(calls.book.promise({ seat: '13A' })).rejects.toMatchObject({ payload: { name: 'CLOSED', message: 'CLOSED' } });
    expect(logs).toEqual({ warnings: [], errors: [] });
  });

  it('A declared error passes an error serializer as it is, and other errors do not', async () => {
    const { calls } = createPair(
      api,
      {
        ...answers,
        now: () => {
          throw new Error('secret');
        },
        square: () => {
          throw new RemoteError('secret', { name: 'secret' });
        },
      },
      { acceptor: { errorSerializer: () => ({ message: 'try later' }), onError: () => undefined } },
    );
    await expect(calls.book.promise({ seat: '12A' })).rejects.toMatchObject(TAKEN);
    await expect(calls.now.promise()).rejects.toMatchObject({ reason: 'try later', payload: { message: 'try later' } });
    await expect(calls.square.promise({ n: 1 })).rejects.toMatchObject({ reason: 'try later', payload: { message: 'try later' } });
  });

  it('A declared error of an Observable arrives after the items before it', async () => {
    const ticks = contract({ ticks: stream<void, number, { OVER: { after: number } }>() });
    const { calls } = createPair(ticks, {
      ticks: () =>
        concat(
          of(1, 2),
          throwError(() => fail(ticks.ticks, 'OVER', { after: 2 })),
        ),
    });
    const seen$ = calls.ticks().pipe(
      whenError(ticks.ticks, 'OVER', ({ after }) => of(after * 10)),
      toArray(),
    );
    expect(await lastValueFrom(seen$)).toEqual([1, 2, 20]);
  });

  it('An error of a second copy of the package is a declared error, too', () => {
    const ofAnotherCopy = Object.assign(new Error('TAKEN'), { code: 'REMOTE', retriable: false, payload: TAKEN.payload });
    expect(isFailure(api.book, 'TAKEN', ofAnotherCopy)).toBe(true);
    expect(isFailure(api.book, 'CLOSED', ofAnotherCopy)).toBe(false);
    expect(isFailure(api.book, 'TAKEN', Object.assign(new Error('TAKEN'), { payload: TAKEN.payload }))).toBe(false);
  });

  it('`whenError` catches the error of its name and no other', async () => {
    const { calls } = createPair(api, answers);
    const booking = (seat: string) => calls.book({ seat }).pipe(whenError(api.book, 'TAKEN', ({ by }) => of(`taken by ${by}`)));
    expect(await firstValueFrom(booking('1A'))).toEqual({ seat: '1A', price: 40 });
    expect(await firstValueFrom(booking('12A'))).toBe('taken by ann');
    await expect(firstValueFrom(booking('13A'))).rejects.toMatchObject({ payload: { name: 'CLOSED' } });
    const invalid$ = booking(12 as never).pipe(whenError(api.book, 'INVALID', ([issue]) => of(issue?.path)));
    expect(await firstValueFrom(invalid$)).toEqual(['seat']);
  });

  it('`whenError` and `isFailure` leave errors that no contract made', async () => {
    const errors = [null, 'TAKEN', new Error('TAKEN'), { payload: { name: 'TAKEN' } }, new RemoteError('TAKEN', 'TAKEN')];
    expect(errors.map((error) => isFailure(api.book, 'TAKEN', error))).toEqual(errors.map(() => false));
    const error = new Error('TAKEN');
    const failed$ = throwError(() => error).pipe(whenError(api.book, 'TAKEN', () => of(1)));
    await expect(firstValueFrom(failed$)).rejects.toBe(error);
  });

  it('`isFailure` finds a declared error of a promise', async () => {
    const { calls } = createPair(api, answers);
    const error = await calls.book.promise({ seat: '12A' }).catch((thrown: unknown) => thrown);
    expect(isFailure(api.book, 'TAKEN', error) && error.payload.data.by).toBe('ann');
    expect(isFailure(api.book, 'CLOSED', error)).toBe(false);
  });

  it.each<[what: string, thrown: unknown, serializer: ((error: unknown) => unknown) | undefined]>([
    ['an error of that name', Object.assign(new Error('no user'), { name: 'TAKEN' }), undefined],
    ['an error of that name without a message', Object.assign(new Error(), { name: 'CLOSED' }), undefined],
    ['an error of that name with data of its own', Object.assign(new Error('x'), { name: 'TAKEN', data: { by: 'orm' } }), undefined],
    [
      'an error of that name behind a serializer',
      Object.assign(new Error('x'), { name: 'CLOSED' }),
      (error) => ({ name: (error as Error).name, message: (error as Error).name }),
    ],
  ])('Only `fail` makes a declared error: not %s', async (_what, thrown, errorSerializer) => {
    const one = () => {
      throw thrown;
    };
    const { calls } = createPair(
      api,
      { ...answers, book: one },
      { acceptor: { errorSerializer: errorSerializer as never, onError: () => undefined } },
    );
    const error = await calls.book.promise({ seat: '1A' }).catch((failed: unknown) => failed);
    expect(error).toMatchObject({ code: 'REMOTE', payload: { name: (thrown as Error).name } });
    expect(isFailure(api.book, 'TAKEN', error) || isFailure(api.book, 'CLOSED', error)).toBe(false);
  });

  it('A declared error of an older peer, which sends no mark, is understood', () => {
    const sent = (payload: unknown) => new RemoteError('TAKEN', payload);
    expect(isFailure(api.book, 'TAKEN', sent({ name: 'TAKEN', message: 'TAKEN', data: { by: 'ann' } }))).toBe(true);
    expect(isFailure(api.book, 'CLOSED', sent({ name: 'CLOSED', message: 'CLOSED' }))).toBe(true);
    expect(isFailure(api.book, 'INVALID', sent({ name: 'INVALID', message: 'n is no number', data: [] }))).toBe(true);
  });

  it('A declared error whose data the codec refuses keeps its name and message', async () => {
    const odd = contract({ odd: request<void, void, { ODD: { n: bigint } }>() });
    const { calls } = createPair(odd, {
      odd: () => {
        throw fail(odd.odd, 'ODD', { n: 1n });
      },
    });
    const error = await calls.odd.promise().catch((failed: unknown) => failed);
    expect(error).toMatchObject({ reason: 'ODD', payload: { name: 'ODD', message: 'ODD', declared: true } });
    expect(isFailure(odd.odd, 'ODD', error)).toBe(true);
    expect(logs.warnings).toEqual([
      expect.stringMatching(/the payload of a reset cannot be sent, and the reset goes with its name and message alone/),
    ]);
  });

  it.each<readonly [what: string, thrown: unknown, message: string]>([
    ['a plain object', { status: 4 }, 'unknown error'],
    ['a plain object with a message', { message: 'no such seat' }, 'no such seat'],
    ['a plain object with a code', { code: 'E_SEAT' }, 'E_SEAT'],
    ['nothing', undefined, 'unknown error'],
    ['a function', () => 's3cret', 'unknown error'],
    ['a text', 'nope', 'nope'],
  ])('A thrown value arrives as an error with a message: %s', async (_what, thrown, message) => {
    const one = () => {
      throw thrown;
    };
    const { calls } = createPair(api, { ...answers, now: one });
    await expect(calls.now.promise()).rejects.toMatchObject({ reason: message, payload: { name: 'Error', message } });
    expect(logs.errors).toHaveLength(1);
  });
});
