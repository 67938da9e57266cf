import {
  ApplicationRef,
  createEnvironmentInjector,
  EnvironmentInjector,
  inject,
  Injector,
  provideZonelessChangeDetection,
  runInInjectionContext,
} from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Subject } from 'rxjs';
import { injectCall, MUX } from '../../src/angular.js';
import { client, contract, fail, request } from '../../src/contract.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { application } from './application.js';

collectLogs();

const api = contract({ book: request<{ seat: string }, string, { TAKEN: { by: string } }>() });

afterEach(() => {
  TestBed.resetTestingModule();
});

describe('injectCall', () => {
  it('`injectCall` shows a call that is pending, its data, and the data of a declared error', async () => {
    const answer$ = new Subject<string>();
    const { dialer } = createPair(api, {
      book: ({ seat }) => {
        if (seat === '1A') throw fail(api.book, 'TAKEN', { by: 'ann' });
        return answer$;
      },
    });
    const providers = [provideZonelessChangeDetection(), { provide: MUX, useValue: dialer }];
    const book = application(providers, () => injectCall(client(inject(MUX), api).book, { errors: api.book, initialValue: 'none' }));
    expect([book.pending(), book.data()]).toEqual([false, 'none']);
    await expect(book.call({ seat: '1A' })).rejects.toMatchObject({ reason: 'TAKEN' });
    const failure = book.failure();
    expect([book.pending(), failure?.name === 'TAKEN' && failure.data.by]).toEqual([false, 'ann']);
    const outcome = book.call({ seat: '2A' });
    expect([book.pending(), book.failure()]).toEqual([true, undefined]);
    await TestBed.inject(ApplicationRef).whenStable();
    await dialer.ping();
    answer$.next('booked');
    expect(await outcome).toBe('booked');
    expect([book.pending(), book.data()]).toEqual([false, 'booked']);
  });

  it('`abort` ends the calls, and rejects their promises', async () => {
    const source$ = new Subject<string>();
    const call = application([provideZonelessChangeDetection()], () => injectCall(() => source$));
    const outcome = call.call();
    call.abort();
    expect([call.pending(), source$.observed]).toEqual([false, false]);
    await expect(outcome).rejects.toThrow('aborted');
  });

  it.each([
    [true, false],
    [false, true],
  ])('With abortOnLeave %s a call goes on after its injector: %s', (abortOnLeave, goesOn) => {
    const source$ = new Subject<string>();
    const injector = application([provideZonelessChangeDetection()], () => createEnvironmentInjector([], inject(EnvironmentInjector)));
    const { call } = runInInjectionContext(injector.get(Injector), () => injectCall(() => source$, { abortOnLeave }));
    void call();
    injector.destroy();
    expect(source$.observed).toBe(goesOn);
  });
});
