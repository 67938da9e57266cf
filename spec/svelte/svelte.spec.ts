/** @jest-environment jsdom */
import { describe, expect, it } from '@jest/globals';
import { concat, defer, NEVER, of, Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import { flushSync, mount, unmount } from 'svelte';
import { client, contract, fail, request } from '../../src/contract.js';
import type { Peer } from '../../src/index.js';
import * as door from '../../src/svelte.js';
import { shownOn, streamRows } from '../support/frameworks/stream-rows.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { until } from '../support/socket/leaks.js';
import { compiled } from './compiled.js';

collectLogs();

function mounted(source: string, props: Record<string, unknown> = {}) {
  const page = document.createElement('div');
  const component = mount(compiled(source, { 'rxmux/svelte': door }), { target: page, props });
  flushSync();
  const click = (id: string): void => {
    page.querySelector(id)?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    flushSync();
  };
  document.body.append(page);
  return { ...shownOn(page), click, unmount: () => unmount(component) };
}

const STREAM = `
<script>
  import { useStream } from 'rxmux/svelte';
  const { open, options } = $props();
  const shown = useStream((...args) => open(...args), () => [], options);
</script>
{shown.value} {shown.status} {shown.error}`;

const OF_PEER = `
<script>
  import { setMux, useMux, useMuxStatus, useStream } from 'rxmux/svelte';
  const { peer } = $props();
  (() => setMux(peer))();
  const mux = useMux();
  const price = useStream(() => mux.open$('price'));
  const status = useMuxStatus();
</script>
{price.value} {price.status} {status.current.state}`;

describe('useStream of Svelte', () => {
  streamRows({
    ofStream: (open, options) => mounted(STREAM, { open, options }),
    ofPeer: (peer) => mounted(OF_PEER, { peer }),
  });

  it('A component opens one stream for equal deps, and another one for other deps', async () => {
    const opened: string[] = [];
    const open = ({ of: name }: { of: string }): Observable<string> =>
      concat(
        defer(() => of(`${name}${opened.push(name)}`)),
        NEVER,
      );
    const source = `
      <script>
        import { useStream } from 'rxmux/svelte';
        const { open } = $props();
        let symbol = $state('EUR');
        let again = $state(0);
        const price = useStream((of) => open(of), () => [{ of: symbol, ...(again < 0 && {}) }]);
        const twice = $derived(price.value + price.value);
      </script>
      {#if price.value !== undefined}{twice}{/if} {price.status}
      <button id="again" onclick={() => again++}></button><button id="other" onclick={() => (symbol = 'CHF')}></button>`;
    const page = mounted(source, { open });
    await page.shows('EUR1EUR1 open');
    page.click('#again');
    page.click('#other');
    await page.shows('CHF2CHF2 open');
    expect(opened).toEqual(['EUR', 'CHF']);
    await page.unmount();
  });

  it('An effect of the value runs once for each value, and not for a change of the status', async () => {
    const source$ = new Subject<string>();
    const seen: unknown[] = [];
    const source = `
      <script>
        import { useStream } from 'rxmux/svelte';
        const { open, see } = $props();
        const shown = useStream(() => open());
        $effect(() => see(shown.value));
      </script>
      {shown.status}`;
    const page = mounted(source, { open: () => source$, see: (value: unknown) => seen.push(value) });
    for (const value of ['a', 'b']) {
      source$.next(value);
      flushSync();
    }
    source$.complete();
    await page.shows('complete');
    expect(seen).toEqual([undefined, 'a', 'b']);
    await page.unmount();
  });

  it.each([
    ['`useMux` outside of a component', () => door.useMux(), /./],
    ['a misspelt option', () => mounted(STREAM, { open: () => NEVER, options: { keepvalue: true } }), /did you mean 'keepValue'/],
    [
      'an array as deps',
      () => mounted("<script>import { useStream } from 'rxmux/svelte'; useStream(() => [1], []);</script>"),
      /useStream.deps: expected a function, got an array/,
    ],
    ['a peer that is none', () => door.useMuxStatus(JSON.parse('{}') as Peer), /useMuxStatus: expected a Peer, got an object/],
  ])('%s is refused', (_, act, says) => {
    expect(act).toThrow(says);
  });

  it('`useMux` without a peer names `setMux`', () => {
    const source = "<script>import { useMux } from 'rxmux/svelte'; useMux();</script>";
    expect(() => mounted(source)).toThrow('expected a peer, got none: call setMux(peer) in a component above');
  });
});

describe('useCall of Svelte', () => {
  const api = contract({ book: request<{ seat: string }, string, { TAKEN: { by: string } }>() });
  const CALL = `
    <script>
      import { useCall } from 'rxmux/svelte';
      const { book, options } = $props();
      const used = useCall((seat) => book(seat), { get abortOnLeave() { return options?.abortOnLeave; } });
    </script>
    {used.pending} {used.data} {used.failure?.data.by}
    <button id="taken" onclick={() => used.call({ seat: '1A' })}></button><button id="free" onclick={() => used.call({ seat: '2A' })}></button>
    <button id="abort" onclick={used.abort}></button>`;

  it('A component shows a call that is pending, its data, and the data of a declared error', async () => {
    const answer$ = new Subject<string>();
    const { dialer } = createPair(api, {
      book: ({ seat }) => {
        if (seat === '1A') throw fail(api.book, 'TAKEN', { by: 'ann' });
        return new Promise<string>((resolve) => answer$.subscribe(resolve));
      },
    });
    const page = mounted(CALL, { book: client(dialer, api).book });
    await page.shows('false');
    page.click('#taken');
    await page.shows('false  ann');
    page.click('#free');
    await page.shows('true');
    await until('an answer', () => answer$.observed);
    answer$.next('booked');
    await page.shows('false booked');
    page.click('#free');
    await page.shows('true');
    page.click('#abort');
    await page.shows('false');
    await page.unmount();
  });

  it.each([
    [true, false],
    [false, true],
  ])('With abortOnLeave %s a call goes on after its component: %s', async (abortOnLeave, goesOn) => {
    const source$ = new Subject<string>();
    const page = mounted(CALL, { book: () => source$, options: { abortOnLeave } });
    page.click('#free');
    await page.unmount();
    expect(source$.observed).toBe(goesOn);
  });
});
