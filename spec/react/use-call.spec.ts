/** @jest-environment jsdom */
import { describe, expect, it } from '@jest/globals';
import { merge, NEVER, Observable, of, Subject, tap } from 'rxjs';
import { client, contract, fail, request, stream } from '../../src/contract.js';
import { CancelledError } from '../../src/index.js';
import { useCall } from '../../src/react.js';
import type { UsedCall, UseCallOptions } from '../../src/react.js';
import { collectLogs } from '../support/peer/logs.js';
import { rendered } from '../support/peer/rendered.js';
import type { Rendering } from '../support/peer/rendered.js';
import { until } from '../support/socket/leaks.js';
import { createPair } from '../support/peer/tracked.js';

collectLogs();

const api = contract({
  book: request<{ seat: string }, string, { TAKEN: { by: string }; CLOSED: void }>(),
  words: stream<{ of: string }, string>(),
});

type Open = (...args: readonly string[]) => Observable<string>;

/** A component that shows its calls, and passes what it renders out. */
function shown(open: Open, options?: UseCallOptions<string>, rendering?: Rendering) {
  const seen: { used?: UsedCall<readonly string[], string> } = {};
  const Shown = (): string => {
    const used = useCall(open, options);
    seen.used = used;
    const { pending, data, error } = used;
    return [pending ? 'pending' : 'idle', data, error].filter((part) => part !== undefined).join(' ');
  };
  const page = rendered(Shown, {}, rendering);
  const used = (): UsedCall<readonly string[], string> => {
    if (seen.used === undefined) throw new Error('expected a rendered component');
    return seen.used;
  };
  return { page, used };
}

/** A call whose answers come from a Subject for each of its arguments. */
function sourced() {
  const answers: Record<string, Subject<string>> = {};
  return { answers, open: (name = ''): Observable<string> => (answers[name] = new Subject()) };
}

describe('useCall', () => {
  it('`useCall` makes no call by itself', () => {
    const { open, answers } = sourced();
    const { page } = shown(open);
    expect(page.text()).toBe('idle');
    expect(answers).toEqual({});
  });

  it('`useCall` is pending until its call ends, and shows each value and the outcome', async () => {
    const { open, answers } = sourced();
    const { page, used } = shown(open);
    const outcome = used().call('a');
    await page.shows('pending');
    answers['a']?.next('1');
    await page.shows('pending 1');
    answers['a']?.next('2');
    answers['a']?.complete();
    await page.shows('idle 2');
    expect(await outcome).toBe('2');
  });

  it('`useCall` shows the error of a call, whose promise needs no handler, and begins clean at the next', async () => {
    const { open, answers } = sourced();
    const { page, used } = shown(open);
    void used().call('a');
    answers['a']?.next('1');
    answers['a']?.error(new Error('no'));
    await page.shows('idle 1 Error: no');
    void used().call('b');
    await page.shows('pending');
  });

  it('`useCall` rejects the promise of a failed call', async () => {
    const { open, answers } = sourced();
    const { used } = shown(open);
    const outcome = used().call('a');
    answers['a']?.error(new Error('no'));
    await expect(outcome).rejects.toThrow('no');
  });

  it('`useCall` shows what its function throws', async () => {
    const { page, used } = shown(() => {
      throw new RangeError('no such seat');
    });
    void used().call();
    await page.shows('idle RangeError: no such seat');
  });

  it('`useCall` shows the latest call alone, and an earlier one goes on', async () => {
    const { open, answers } = sourced();
    const { page, used } = shown(open);
    const earlier = used().call('a');
    void used().call('b');
    answers['b']?.next('of b');
    answers['b']?.complete();
    await page.shows('idle of b');
    expect(answers['a']?.observed).toBe(true);
    answers['a']?.next('of a');
    answers['a']?.complete();
    expect(await earlier).toBe('of a');
    await page.shows('idle of b');
  });

  it('`useCall` resolves with null for a call without a value', async () => {
    const { used } = shown(() => new Observable((subscriber) => subscriber.complete()));
    expect(await used().call()).toBeNull();
  });

  it('`abort` ends all calls, keeps the data, and rejects their promises with a CancelledError', async () => {
    const { open, answers } = sourced();
    const { page, used } = shown(open);
    const outcomes = [used().call('a'), used().call('b')];
    answers['b']?.next('1');
    await page.shows('pending 1');
    used().abort();
    await page.shows('idle 1');
    expect([answers['a']?.observed, answers['b']?.observed]).toEqual([false, false]);
    for (const outcome of outcomes) await expect(outcome).rejects.toBeInstanceOf(CancelledError);
    void used().call('a');
    await page.shows('pending');
  });

  it.each<[string, (abort: () => void, source$: Subject<string>) => Observable<string>]>([
    ['while it begins', (abort, source$) => (abort(), source$)],
    ['at its first value', (abort, source$) => merge(of('1').pipe(tap(abort)), source$)],
  ])('A call that is aborted %s ends', async (_, open) => {
    const source$ = new Subject<string>();
    const { page, used } = shown(() => open(used().abort, source$));
    const outcome = used().call();
    expect(source$.observed).toBe(false);
    await expect(outcome).rejects.toBeInstanceOf(CancelledError);
    await page.shows('idle');
  });

  it.each([
    { does: 'goes on when its component unmounts', abortOnLeave: false, goesOn: true },
    { does: 'with abortOnLeave ends when its component unmounts', abortOnLeave: true, goesOn: false },
  ])('A call of `useCall` $does', async ({ abortOnLeave, goesOn }) => {
    const { open, answers } = sourced();
    const { page, used } = shown(open, { abortOnLeave }, { isStrict: true });
    void used().call('a');
    page.unmount();
    await Promise.resolve();
    expect(answers['a']?.observed).toBe(goesOn);
  });

  it('A change of abortOnLeave ends no call, and the last one counts when the component unmounts', async () => {
    const { open, answers } = sourced();
    const seen: { call?: (name: string) => Promise<string> } = {};
    const Shown = ({ abortOnLeave }: { abortOnLeave: boolean }): string => {
      const { call, pending } = useCall(open, { abortOnLeave });
      seen.call = call;
      return pending ? 'pending' : 'idle';
    };
    const page = rendered(Shown, { abortOnLeave: true }, { isStrict: true });
    void seen.call?.('a');
    page.render({ abortOnLeave: false });
    await page.shows('pending');
    page.render({ abortOnLeave: true });
    page.unmount();
    await Promise.resolve();
    expect(answers['a']?.observed).toBe(false);
  });

  it('`useCall` shows its initial value, also where a page hydrates', async () => {
    const differences: unknown[] = [];
    const rendering = { html: 'idle 0', onRecoverableError: (error: unknown) => differences.push(error) };
    const { page } = shown(() => NEVER, { initialValue: '0' }, rendering);
    await page.shows('idle 0');
    expect(differences).toEqual([]);
  });

  it('`call` and `abort` stay the same for one function', () => {
    const { page, used } = shown(() => of('a'));
    const { call, abort } = used();
    page.render({});
    expect([used().call === call, used().abort === abort]).toEqual([true, true]);
  });
});

describe('`useCall` of a contract', () => {
  it('`useCall` narrows the data of a declared error by its name', async () => {
    const { dialer } = createPair(api, {
      book: ({ seat }) => {
        if (seat === '1A') throw fail(api.book, 'TAKEN', { by: 'ann' });
        if (seat === '1B') throw fail(api.book, 'CLOSED');
        if (seat === '1C') throw new Error('no');
        return `booked ${seat}`;
      },
      words: () => of('a'),
    });
    const calls = client(dialer, api);
    const seen: { call?: (payload: { seat: string }) => Promise<string> } = {};
    const Booking = (): string => {
      const { call, data, pending, failure, error } = useCall(calls.book, { errors: api.book });
      seen.call = call;
      if (pending) return 'pending';
      if (failure?.name === 'TAKEN') return `taken by ${failure.data.by.toUpperCase()}`;
      if (failure?.name === 'CLOSED') return 'closed';
      if (error !== undefined) return 'failed';
      return data ?? 'none';
    };
    const page = rendered(Booking, {});
    for (const [seat, shows] of [
      ['1A', 'taken by ANN'],
      ['1B', 'closed'],
      ['1C', 'failed'],
      ['2A', 'booked 2A'],
    ] as const) {
      void seen.call?.({ seat });
      await page.shows(shows);
    }
  });

  it('`abort` stops the producer on the server', async () => {
    let open = 0;
    const { dialer } = createPair(api, {
      book: () => '',
      words: () =>
        new Observable<string>((subscriber) => {
          open++;
          subscriber.next('a');
          subscriber.add(() => open--);
        }),
    });
    const calls = client(dialer, api);
    const { page, used } = shown((of) => calls.words({ of: of ?? '' }));
    void used().call('x');
    await page.shows('pending a');
    expect(open).toBe(1);
    used().abort();
    await until('no stream', () => open === 0);
  });
});
