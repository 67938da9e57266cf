/** @jest-environment jsdom */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { Component, createElement, Fragment, startTransition, Suspense, useState } from 'react';
import type { ReactElement, ReactNode } from 'react';
import { concat, defer, map, NEVER, Observable, of, Subject, timer } from 'rxjs';
import { useSuspenseStream } from '../../src/react.js';
import type { UseStreamOptions } from '../../src/react.js';
import { collectLogs } from '../support/peer/logs.js';
import { rendered } from '../support/peer/rendered.js';
import type { Rendered, Rendering } from '../support/peer/rendered.js';
import { until } from '../support/socket/leaks.js';

collectLogs();

/** Shows the error of the components below it, until it is reset. */
class Boundary extends Component<{ readonly children: ReactNode }, { readonly error?: unknown }> {
  override readonly state: { readonly error?: unknown } = {};
  static reset: () => void = () => undefined;

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    Boundary.reset = () => this.setState({ error: undefined });
    return this.state.error === undefined ? this.props.children : String(this.state.error);
  }
}

/** A source that counts its subscriptions, by its argument. */
function counted() {
  const sources: Record<string, Subject<string>> = {};
  const begun: string[] = [];
  const open = (name: string): Observable<string> =>
    new Observable((subscriber) => {
      begun.push(name);
      return (sources[name] = new Subject<string>()).subscribe(subscriber);
    });
  return { open, begun, sources };
}

type Props = { readonly name: string };

function shown(
  open: (name: string) => Observable<string>,
  { options, ...rendering }: Rendering & { readonly options?: UseStreamOptions<string> } = {},
): Rendered<Props> {
  const Value = ({ name }: Props): string => {
    const { value, status } = useSuspenseStream(open, [name], options);
    return `${value} ${status}`;
  };
  const Page = (props: Props): ReactElement =>
    createElement(Boundary, null, createElement(Suspense, { fallback: 'waiting' }, createElement(Value, props)));
  return rendered(Page, { name: 'a' }, rendering);
}

describe('useSuspenseStream', () => {
  it.each([false, true])('`useSuspenseStream` suspends until the first value, and opens one stream (StrictMode: %s)', async (isStrict) => {
    const { open, begun, sources } = counted();
    const page = shown(open, { isStrict });
    await page.shows('waiting');
    sources['a']?.next('1');
    await page.shows('1 open');
    sources['a']?.next('2');
    await page.shows('2 open');
    expect(begun).toEqual(['a']);
  });

  it('`useSuspenseStream` ends its stream when the component unmounts', async () => {
    const { open, sources } = counted();
    const page = shown(open);
    sources['a']?.next('1');
    await page.shows('1 open');
    page.unmount();
    await until('no subscription', () => sources['a']?.observed === false);
  });

  it('`useSuspenseStream` suspends again for other deps, and opens one stream for them', async () => {
    const { open, begun, sources } = counted();
    const page = shown(open);
    sources['a']?.next('1');
    await page.shows('1 open');
    page.render({ name: 'b' });
    await until('the stream of b', () => sources['b']?.observed === true);
    sources['b']?.next('2');
    await until('the value of b', () => page.text().includes('2 open'));
    expect(begun).toEqual(['a', 'b']);
    await until('no stream of a', () => sources['a']?.observed === false);
  });

  it('`useSuspenseStream` with keepValue keeps its value where another component waits for the next stream', async () => {
    const { open, sources } = counted();
    const Value = ({ name, keepValue }: Props & { readonly keepValue: boolean }): string =>
      useSuspenseStream(open, [name], { keepValue }).value;
    const half = (name: string, keepValue: boolean): ReactElement =>
      createElement(Suspense, { fallback: 'waiting ' }, createElement(Value, { name, keepValue }));
    const page = rendered(({ name }: Props) => createElement(Fragment, null, half('b', false), half(name, true)), { name: 'a' });
    await until('the stream of a', () => sources['a']?.observed === true);
    sources['a']?.next('1');
    await page.shows('waiting 1');
    page.render({ name: 'b' });
    await page.shows('waiting 1');
    sources['b']?.next('2');
    await page.shows('waiting 2');
  });

  it('`useSuspenseStream` throws the error of its stream, and opens it anew for a later try', async () => {
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const { open, begun, sources } = counted();
    const page = shown(open);
    sources['a']?.error(new Error('no'));
    await page.shows('Error: no');
    expect(begun).toEqual(['a']);
    await until('another stream', () => {
      Boundary.reset();
      return begun.length === 2;
    });
    sources['a']?.next('1');
    await page.shows('1 open');
  });

  it('`useSuspenseStream` throws an error that comes after a value', async () => {
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const { open, sources } = counted();
    const page = shown(open);
    sources['a']?.next('1');
    await page.shows('1 open');
    sources['a']?.error(new Error('no'));
    await page.shows('Error: no');
  });

  it('`useSuspenseStream` shows the last value of a stream that has completed', async () => {
    const page = shown(() => of('1', '2'));
    await page.shows('2 complete');
  });

  it('The promise with which `useSuspenseStream` suspends resolves for a value that arrives within the subscription', async () => {
    const thrown: unknown[] = [];
    const values = (): Observable<string> => of('1');
    const Value = (): string => {
      try {
        return useSuspenseStream(values, []).value;
      } catch (promise) {
        thrown.push(promise);
        throw promise;
      }
    };
    const page = rendered(() => createElement(Suspense, { fallback: 'waiting' }, createElement(Value)), {});
    await page.shows('1');
    expect(await Promise.race([thrown[0], setImmediate('waits')])).toBeUndefined();
  });

  it('`useSuspenseStream` throws for a stream without a value', async () => {
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const page = shown(() => new Observable((subscriber) => subscriber.complete()));
    await page.shows('Error: useSuspenseStream: expected a value, got a stream that completed without one');
  });

  it('`useSuspenseStream` of two siblings opens one stream for each, where one completes long before the other', async () => {
    const begun: string[] = [];
    const open = (name: string, ms: number): Observable<string> =>
      defer(() => {
        begun.push(name);
        return timer(ms).pipe(map(() => `${name} `));
      });
    const Value = ({ name, ms }: { name: string; ms: number }): string => useSuspenseStream(open, [name, ms]).value;
    const siblings = [
      { name: 'quick', ms: 10 },
      { name: 'slow', ms: 1_500 },
    ].map((props) => createElement(Value, { key: props.name, ...props }));
    const page = rendered(() => createElement(Suspense, { fallback: 'waiting' }, siblings), {});
    await page.shows('quick slow ');
    expect(begun).toEqual(['quick', 'slow']);
  });

  it('`useSuspenseStream` names an `open` that each render makes anew', async () => {
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const answer = Promise.resolve('1');
    const Restless = (): string => useSuspenseStream(() => answer, []).value;
    const Page = (): ReactElement =>
      createElement(Boundary, null, createElement(Suspense, { fallback: 'waiting' }, createElement(Restless)));
    const page = rendered(Page, {});
    await page.shows(
      'TypeError: useSuspenseStream: expected the same function at each render, got another one: declare it outside of the component',
    );
  });

  it('`useSuspenseStream` names an `open` that each render makes anew, and whose streams are never ready', async () => {
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
    let opened = 0;
    let laterMs = 0;
    for (const clock of [performance, Date]) {
      const now = clock.now.bind(clock);
      jest.spyOn(clock, 'now').mockImplementation(() => now() + laterMs);
    }
    const Restless = ({ nth }: { nth: number }): string => {
      const open = (): Observable<string> => defer(() => (opened++, NEVER));
      return `${nth} ${useSuspenseStream(open, []).value}`;
    };
    const Page = ({ nth }: { nth: number }): ReactElement =>
      createElement(Boundary, null, createElement(Suspense, { fallback: 'waiting' }, createElement(Restless, { nth })));
    const page = rendered(Page, { nth: 0 });
    for (let nth = 1; nth < 20; nth++) {
      await setImmediate();
      page.render({ nth });
    }
    expect(page.text()).toBe('waiting');
    const before = opened;
    laterMs = 5_000;
    await setImmediate();
    page.render({ nth: 20 });
    await page.shows(
      'TypeError: useSuspenseStream: expected the same function at each render, got another one: declare it outside of the component',
    );
    expect(opened).toBe(before);
  });

  it('`useSuspenseStream` of many rows takes a function of each, all of one factory', async () => {
    const openOf = (n: number) => (): Observable<number> => concat(timer(1).pipe(map(() => n)), NEVER);
    const Row = ({ open }: { open: () => Observable<number> }): string => `${useSuspenseStream(open, []).value} `;
    const rows = Array.from({ length: 25 }, (_, n) =>
      createElement(Suspense, { key: n, fallback: 'waiting' }, createElement(Row, { open: openOf(n) })),
    );
    const page = rendered(() => createElement(Boundary, null, rows), {});
    await page.shows(rows.map((_, n) => `${n} `).join(''));
  });

  it('`useSuspenseStream` of many rows takes a function of each in a slow render, which React cuts into many turns', async () => {
    const openOf = (n: number) => (): Observable<number> => concat(timer(300).pipe(map(() => n)), NEVER);
    const Row = ({ open }: { open: () => Observable<number> }): string => {
      const end = performance.now() + 6;
      while (performance.now() < end);
      return `${useSuspenseStream(open, []).value} `;
    };
    const rows = Array.from({ length: 26 }, (_, n) =>
      createElement(Suspense, { key: n, fallback: 'waiting' }, createElement(Row, { open: openOf(n) })),
    );
    let show = (): void => undefined;
    const Rows = (): ReactNode => {
      const [isShown, set] = useState(false);
      show = () => {
        startTransition(() => {
          set(true);
        });
      };
      return isShown ? rows : null;
    };
    const page = rendered(() => createElement(Boundary, null, createElement(Rows)), {});
    show();
    await page.shows(rows.map((_, n) => `${n} `).join(''));
  });

  it('`useSuspenseStream` shows its initial value, and does not suspend', async () => {
    const { open, sources } = counted();
    const page = shown(open, { options: { initialValue: '0' } });
    await page.shows('0 open');
    sources['a']?.next('1');
    await page.shows('1 open');
  });

  it('`useSuspenseStream` shows its initial value also where another component suspends for the same stream', async () => {
    const { open } = counted();
    const Value = ({ options }: { options?: UseStreamOptions<string> }): string => useSuspenseStream(open, ['a'], options).value;
    const both = [undefined, { initialValue: '0' }].map((options, nth) =>
      createElement(Suspense, { key: nth, fallback: 'waiting ' }, createElement(Value, options && { options })),
    );
    await rendered(() => createElement(Fragment, null, both), {}).shows('waiting 0');
  });
});
