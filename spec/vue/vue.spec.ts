/** @jest-environment jsdom */
import { describe, expect, it } from '@jest/globals';
import { concat, defer, NEVER, of, Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import { createApp, createSSRApp, defineComponent, effectScope, h, nextTick, onMounted, shallowRef, watch } from 'vue';
import type { Component } from 'vue';
import { renderToString } from 'vue/server-renderer';
import { fail, contract, client, request } from '../../src/contract.js';
import type { Peer } from '../../src/index.js';
import { MUX, useCall, useMux, useMuxStatus, useStream } from '../../src/vue.js';
import { shownOn, streamRows, textOf } from '../support/frameworks/stream-rows.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { until } from '../support/socket/leaks.js';

collectLogs();

/** A component that shows what its setup returns. */
const showing = (setup: () => () => string): Component => defineComponent({ setup: () => setup() });

function mounted(setup: () => () => string, { peer, html }: { readonly peer?: Peer; readonly html?: string } = {}) {
  const page = document.createElement('div');
  page.innerHTML = html ?? '';
  const app = (html === undefined ? createApp : createSSRApp)(showing(setup));
  if (peer !== undefined) app.provide(MUX, peer);
  app.mount(page);
  return { ...shownOn(page), unmount: () => app.unmount(), page };
}

/** A setup that shows the stream of a source. */
const stream =
  (open: () => Observable<unknown>, options = {}) =>
  (): (() => string) => {
    const { value, error, status } = useStream(open, [], options);
    return () => textOf(value.value, status.value, error.value);
  };

describe('useStream of Vue', () => {
  streamRows({
    ofStream: (open, options) => mounted(stream(open, options)),
    ofPeer: (peer) =>
      mounted(
        () => {
          const mux = useMux();
          const status = useMuxStatus();
          const { value, status: state } = useStream(() => mux.open$<string>('price'));
          return () => textOf(value.value, state.value, status.value.state);
        },
        { peer },
      ),
  });

  it('A component opens one stream for equal deps, and another one for other deps', async () => {
    const opened: string[] = [];
    const symbol = shallowRef('EUR');
    const again = shallowRef(0);
    const price = ({ of: name }: { of: string; never?: number }): Observable<string> =>
      concat(
        defer(() => of(`${name}${opened.push(name)}`)),
        NEVER,
      );
    const page = mounted(() => {
      const { value, status } = useStream(price, () => [{ of: symbol.value, ...(again.value < 0 ? { never: 1 } : {}) }]);
      return () => textOf(value.value, status.value);
    });
    await page.shows('EUR1 open');
    again.value++;
    await nextTick();
    symbol.value = 'CHF';
    await page.shows('CHF2 open');
    expect(opened).toEqual(['EUR', 'CHF']);
  });

  it('Two components with the option shared read one stream', async () => {
    let begun = 0;
    const open = (): Observable<string> =>
      concat(
        defer(() => of(`${++begun}`)),
        NEVER,
      );
    const pages = [1, 2].map(() => mounted(stream(open, { shared: true })));
    for (const page of pages) await page.shows('1 open');
    for (const page of pages) page.unmount();
  });

  it('A page that a server has rendered hydrates with the initial value, and then opens its stream', async () => {
    let begun = 0;
    const setup = stream(
      () => {
        begun++;
        return of('a');
      },
      { initialValue: '0' },
    );
    const html = await renderToString(createSSRApp(showing(setup)));
    expect([html, begun]).toEqual(['0 connecting', 0]);
    const page = mounted(setup, { html });
    await page.shows('a complete');
    expect(begun).toBe(1);
  });

  it('A stream that begins within `onMounted` is subscribed, and ends with its component', async () => {
    const source$ = new Subject<string>();
    const page = mounted(() => {
      const shown = shallowRef<ReturnType<typeof useStream>>();
      onMounted(() => (shown.value = useStream(() => source$)));
      return () => textOf(shown.value?.value.value, shown.value?.status.value);
    });
    await page.shows('open');
    source$.next('a');
    await page.shows('a open');
    page.unmount();
    await until('no subscription', () => !source$.observed);
  });

  it('An effect scope ends its streams', async () => {
    const source$ = new Subject<string>();
    const scope = effectScope();
    const used = scope.run(() => useStream(() => source$));
    source$.next('a');
    expect([used?.value.value, used?.status.value]).toEqual(['a', 'open']);
    scope.stop();
    await until('no subscription', () => !source$.observed);
  });

  it.each([
    ['`useMux` without a peer', () => useMux(), 'expected a peer, got none: write app.provide(MUX, peer)'],
    ['a misspelt option', () => useStream(() => NEVER, [], { keepvalue: true } as object), "did you mean 'keepValue'"],
    ['`useStream` outside of a scope', () => useStream(() => NEVER), 'useStream: expected a call within setup or an effect scope'],
    ['a peer that is none', () => useMuxStatus(JSON.parse('{}') as Peer), 'useMuxStatus: expected a Peer, got an object'],
    ['a misspelt option of `useCall`', () => useCall(() => NEVER, { abort: true } as object), "got 'abort'"],
  ])('%s is refused', (_, act, says) => {
    expect(act).toThrow(says);
  });
});

describe('useCall of Vue', () => {
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
      return () => textOf(pending.value, data.value, failure.value?.name === 'TAKEN' ? failure.value.data.by : undefined);
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
  });

  it.each(['pending', 'data'] as const)('`abort` within a watcher of `%s` ends a call that begins with a value', async (watched) => {
    const source$ = new Subject<string>();
    const seen: { call?: () => Promise<string> } = {};
    const page = mounted(() => {
      const used = useCall(() => concat(of('a'), source$));
      watch(used[watched], used.abort, { flush: 'sync' });
      seen.call = used.call;
      return () => textOf(used.pending.value);
    });
    const outcome = seen.call?.();
    expect(source$.observed).toBe(false);
    await expect(outcome).rejects.toThrow('aborted');
    await page.shows('false');
  });

  it.each([
    [true, false],
    [false, true],
  ])('With abortOnLeave %s a call goes on after its component: %s', (abortOnLeave, goesOn) => {
    const source$ = new Subject<string>();
    const seen: { call?: () => Promise<string> } = {};
    const page = mounted(() => {
      seen.call = useCall(() => source$, { abortOnLeave }).call;
      return () => h('i').key?.toString() ?? '';
    });
    void seen.call?.();
    page.unmount();
    expect(source$.observed).toBe(goesOn);
  });
});
