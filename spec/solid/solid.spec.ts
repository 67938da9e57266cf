/** @jest-environment jsdom */
import { describe, expect, it } from '@jest/globals';
import { concat, defer, NEVER, of, Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import { createComponent, createSignal } from 'solid-js';
import type { JSX } from 'solid-js';
import { render } from 'solid-js/web';
import { client, contract, fail, request } from '../../src/contract.js';
import { respond } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { MuxProvider, useCall, useMux, useMuxStatus, useStream } from '../../src/solid.js';
import { AT_ONCE, dialed } from '../../marbles/support/dialing.js';
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
  const text = (): string => page.textContent;
  const shows = (expected: string): Promise<void> =>
    until(
      () => `the page to show '${expected}', not '${text()}',`,
      () => text() === expected,
    );
  return { text, shows, unmount };
}

const textOf = (...parts: unknown[]): string => parts.filter((part) => part !== undefined).join(' ');

/** A setup that shows the stream of a source. */
const stream =
  (open: () => Observable<unknown>, options = {}) =>
  (): (() => string) => {
    const { value, error, status } = useStream(open, () => [], options);
    return () => textOf(value(), status(), error());
  };

describe('useStream of Solid', () => {
  it('A component shows each value, the completion, and ends its stream when it unmounts', async () => {
    const source$ = new Subject();
    const page = mounted(stream(() => source$));
    await page.shows('open');
    source$.next('a');
    await page.shows('a open');
    page.unmount();
    await until('no subscription', () => !source$.observed);
    const other = mounted(stream(() => of('b')));
    await other.shows('b complete');
  });

  it('A component shows the error of its stream beside the last value', async () => {
    const source$ = new Subject();
    const page = mounted(stream(() => source$));
    source$.next('a');
    source$.error(new Error('no'));
    await page.shows('a error Error: no');
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

  it('A component keeps its value while the peer reconnects, and opens the stream again', async () => {
    let nth = 0;
    const { dial, server } = dialed((accepted) => {
      const socket = ++nth;
      accepted.streams$.pipe(respond(() => concat(of(`of ${socket}`), NEVER))).subscribe();
    });
    const peer = dial({ reconnect: { ...AT_ONCE, maxAttempts: Infinity } });
    const page = mounted(() => {
      const mux = useMux();
      const status = useMuxStatus();
      const { value, status: state } = useStream(() => mux.open$<string>('price'));
      return () => textOf(value(), state(), status().state);
    }, peer);
    await page.shows('of 1 open open');
    server.refuse(0);
    server.link?.cut();
    await until('a lost socket', () => page.text().startsWith('of 1 reconnecting'));
    server.refuse(null);
    await page.shows('of 2 open open');
    page.unmount();
    await peer.close();
  });

  it('A component shows its initial value until the stream has one', async () => {
    const source$ = new Subject();
    const page = mounted(stream(() => source$, { initialValue: '0' }));
    await page.shows('0 open');
    source$.next('a');
    await page.shows('a open');
  });

  it.each([
    ['`useMux` without a provider', () => useMux(), 'expected a <MuxProvider peer={…}> above this component, got none'],
    ['a misspelt option', () => mounted(stream(() => NEVER, { keepvalue: true })), "did you mean 'keepValue'"],
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
