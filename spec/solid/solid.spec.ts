/** @jest-environment jsdom */
import { describe, expect, it } from '@jest/globals';
import { concat, defer, NEVER, of, Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import { createComponent, createEffect, createRoot, createSignal } from 'solid-js';
import type { JSX } from 'solid-js';
import { render } from 'solid-js/web';
import { client, contract, fail, request } from '../../src/contract.js';
import type { Peer } from '../../src/index.js';
import { MuxProvider, useCall, useMux, useMuxStatus, useStream } from '../../src/solid.js';
import { shownOn, streamRows, textOf } from '../support/frameworks/stream-rows.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { until } from '../support/socket/leaks.js';

collectLogs();

/** A component that shows what its setup returns, as compiled JSX does. */
function mounted(setup: () => () => string, peer?: Peer) {
  const page = document.createElement('div');
  const Shown = (): JSX.Element => setup() as unknown as JSX.Element;
  const within = (given: Peer): JSX.Element =>
    createComponent(MuxProvider, {
      peer: given,
      get children() {
        return createComponent(Shown, {});
      },
    });
  const unmount = render(() => (peer === undefined ? createComponent(Shown, {}) : within(peer)), page);
  return { ...shownOn(page), unmount };
}

/** A setup that shows the stream of a source. */
const stream =
  (open: () => Observable<unknown>, options = {}) =>
  (): (() => string) => {
    const { value, error, status } = useStream(open, () => [], options);
    return () => textOf(value(), status(), error());
  };

describe('useStream of Solid', () => {
  streamRows({
    ofStream: (open, options) => mounted(stream(open, options)),
    ofPeer: (peer) =>
      mounted(() => {
        const mux = useMux();
        const status = useMuxStatus();
        const { value, status: state } = useStream(() => mux.open$<string>('price'));
        return () => textOf(value(), state(), status().state);
      }, peer),
  });

  it('A component opens one stream for equal deps, and another one for other deps, whose value shows at once', async () => {
    const opened: string[] = [];
    const shown: string[] = [];
    const [symbol, setSymbol] = createSignal('EUR');
    const [again, setAgain] = createSignal(0);
    const price = ({ of: name }: { of: string; never?: number }): Observable<string> =>
      concat(
        defer(() => of(`${name}${opened.push(name)}`)),
        NEVER,
      );
    const page = mounted(() => {
      const { value, status } = useStream(price, () => [{ of: symbol(), ...(again() < 0 ? { never: 1 } : {}) }]);
      return () => {
        shown.push(`${symbol()} ${String(value())}`);
        return textOf(value(), status());
      };
    });
    await page.shows('EUR1 open');
    setAgain(1);
    setSymbol('CHF');
    await page.shows('CHF2 open');
    expect(opened).toEqual(['EUR', 'CHF']);
    expect(shown).not.toContain('CHF EUR1');
    page.unmount();
  });

  it('An effect of the value runs once for each value, and not for a change of the status', () => {
    const source$ = new Subject<string>();
    const seen: unknown[] = [];
    const page = mounted(() => {
      const { value } = useStream(() => source$);
      createEffect(() => seen.push(value()));
      return () => '';
    });
    source$.next('a');
    source$.next('b');
    source$.complete();
    expect(seen).toEqual([undefined, 'a', 'b']);
    page.unmount();
  });

  it('A provider takes the `data-` properties that tools add to every element', () => {
    const { dialer } = createPair();
    const given = { peer: dialer, 'data-component': 'MuxProvider', children: 'page' };
    expect(createRoot(() => createComponent(MuxProvider, given))).toBeDefined();
  });

  it.each([
    ['`useMux` without a provider', () => useMux(), 'expected a <MuxProvider peer={…}> above this component, got none'],
    ['a misspelt option', () => mounted(stream(() => NEVER, { keepvalue: true })), "did you mean 'keepValue'"],
    ['an array as deps', () => useStream(() => NEVER, JSON.parse('[]') as () => []), 'useStream.deps: expected a function, got an array'],
    ['a peer that is none', () => useMuxStatus(JSON.parse('{}') as Peer), 'useMuxStatus: expected a Peer, got an object'],
    ['a provider of no peer', () => MuxProvider({ peer: JSON.parse('{}') as Peer }), 'MuxProvider: expected a Peer, got an object'],
  ])('%s is refused', (_, act, says) => {
    expect(act).toThrow(says);
  });
});

describe('useCall of Solid', () => {
  const api = contract({ book: request<{ seat: string }, string, { TAKEN: { by: string } }>() });

  it('A component shows a call that is pending, its data, and the data of a declared error', async () => {
    const answer$ = new Subject<string>();
    const { dialer } = createPair(api, {
      book: ({ seat }) => {
        if (seat === '1A') throw fail(api.book, 'TAKEN', { by: 'ann' });
        return new Promise<string>((resolve) => answer$.subscribe(resolve));
      },
    });
    const calls = client(dialer, api);
    const seen: { call?: (payload: { seat: string }) => Promise<string>; abort?: () => void } = {};
    const page = mounted(() => {
      const { call, abort, pending, data, failure } = useCall(calls.book, { errors: api.book });
      Object.assign(seen, { call, abort });
      const takenBy = (): string | undefined => {
        const declared = failure();
        return declared?.name === 'TAKEN' ? declared.data.by : undefined;
      };
      return () => textOf(pending(), data(), takenBy());
    });
    await page.shows('false');
    void seen.call?.({ seat: '1A' });
    await page.shows('false ann');
    void seen.call?.({ seat: '2A' });
    await page.shows('true');
    await until('an answer', () => answer$.observed);
    answer$.next('booked');
    await page.shows('false booked');
    const outcome = seen.call?.({ seat: '2B' });
    await page.shows('true');
    seen.abort?.();
    await page.shows('false');
    await expect(outcome).rejects.toThrow('aborted');
    page.unmount();
  });

  it('An effect of the data runs once for each call', async () => {
    const seen: unknown[] = [];
    const used: { call?: (n: number) => Promise<number> } = {};
    const page = mounted(() => {
      const { call, data } = useCall((n: number) => of(n));
      used.call = call;
      createEffect(() => seen.push(data()));
      return () => '';
    });
    await used.call?.(1);
    await used.call?.(2);
    expect(seen).toEqual([undefined, 1, undefined, 2]);
    page.unmount();
  });

  it.each([
    [true, false],
    [false, true],
  ])('With abortOnLeave %s a call goes on after its component: %s', (abortOnLeave, goesOn) => {
    const source$ = new Subject<string>();
    const seen: { call?: () => Promise<string> } = {};
    const page = mounted(() => {
      seen.call = useCall(() => source$, { abortOnLeave }).call;
      return () => '';
    });
    void seen.call?.();
    page.unmount();
    expect(source$.observed).toBe(goesOn);
  });
});
