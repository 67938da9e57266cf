/** @jest-environment jsdom */
import { refresh } from '../support/peer/fast-refresh.js';
import { describe, expect, it } from '@jest/globals';
import { createElement, Suspense, useState } from 'react';
import type { ReactElement } from 'react';
import { concat, finalize, NEVER, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { useStream, useSuspenseStream } from '../../src/react.js';
import { collectLogs } from '../support/peer/logs.js';
import { rendered } from '../support/peer/rendered.js';
import { until } from '../support/socket/leaks.js';

collectLogs();

/** A source of one value that never ends, and how many read it. */
function counted(value: string): { open: () => Observable<string>; count: () => number } {
  let count = 0;
  const open = (): Observable<string> => {
    count++;
    return concat(of(value), NEVER).pipe(finalize(() => count--));
  };
  return { open, count: () => count };
}

/** A version of a component that reads a stream by a function of its own. */
const reading = (open: () => Observable<string>) => (): string => {
  const [state] = useState('kept');
  const { value = 'nothing' } = useStream(() => open(), []);
  return `${state} ${value}`;
};

const suspending = (open: () => Observable<string>) => (): string => useSuspenseStream(open, []).value;

describe('Fast Refresh', () => {
  it.each([false, true])('An edited component opens its stream anew, and ends the one before (StrictMode: %s)', async (isStrict) => {
    const [a, b] = [counted('a'), counted('b')];
    const [before, now] = [reading(a.open), reading(b.open)];
    const page = rendered(before, {}, { isStrict });
    await page.shows('kept a');
    refresh(before, now);
    await page.shows('kept b');
    page.render({});
    await until('the first stream to end', () => a.count() === 0);
    expect(b.count()).toBe(1);
  });

  it('An edited component that suspends opens its stream anew', async () => {
    const [a, b] = [counted('a'), counted('b')];
    const [before, now] = [suspending(a.open), suspending(b.open)];
    const Page = (): ReactElement => createElement(Suspense, { fallback: 'waiting' }, createElement(before));
    const page = rendered(Page, {});
    await page.shows('a');
    refresh(before, now);
    await page.shows('b');
    await until('the first stream to end', () => a.count() === 0);
    expect(b.count()).toBe(1);
  });
});
