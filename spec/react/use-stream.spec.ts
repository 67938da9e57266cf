/** @jest-environment jsdom */
import { describe, expect, it, jest } from '@jest/globals';
import { Activity, Component, createElement } from 'react';
import type { ReactElement, ReactNode } from 'react';
import { concat, defer, finalize, map, NEVER, Observable, of, scan, Subject, throwError } from 'rxjs';
import { client, contract, shared, stream } from '../../src/contract.js';
import { respond } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { useMux, useStream } from '../../src/react.js';
import type { StreamState, UseStreamOptions } from '../../src/react.js';
import type { TestServer } from '../../src/testing.js';
import { answerTopic, memoryLog, topic } from '../../src/topics.js';
import type { TopicItem } from '../../src/topics.js';
import { AT_ONCE, dialed } from '../../marbles/support/dialing.js';
import { collectLogs } from '../support/peer/logs.js';
import { rendered } from '../support/peer/rendered.js';
import { until } from '../support/socket/leaks.js';
import { createPair } from '../support/peer/tracked.js';

collectLogs();

const textOf = ({ value, error, status }: StreamState<unknown>): string =>
  [value, status, error].filter((part) => part !== undefined).join(' ');

/** Shows the stream of a source, with the arguments that it is given. */
function Shown({ source$, options }: { source$: Observable<unknown>; options?: UseStreamOptions }): string {
  return textOf(useStream(() => source$, [source$], options));
}

/** A source that counts its subscriptions. */
function counted(source$: Observable<unknown> = NEVER): { source$: Observable<unknown>; begun: () => number; open: () => number } {
  let [begun, open] = [0, 0];
  const counting$ = new Observable((subscriber) => {
    begun++;
    open++;
    subscriber.add(() => open--);
    return source$.subscribe(subscriber);
  });
  return { source$: counting$, begun: () => begun, open: () => open };
}

const api = contract({ price: stream<{ symbol: string }, string>() });

describe('`useStream` of any Observable', () => {
  it('`useStream` renders each value, and the completion', async () => {
    const source$ = new Subject();
    const page = rendered(Shown, { source$ });
    expect(page.text()).toBe('open');
    source$.next('a');
    await page.shows('a open');
    source$.next('b');
    source$.complete();
    await page.shows('b complete');
  });

  it('`useStream` renders the error of a stream beside its last value', async () => {
    const source$ = new Subject();
    const page = rendered(Shown, { source$ });
    source$.next('a');
    source$.error(new Error('no more'));
    await page.shows('a error Error: no more');
  });

  it('`useStream` renders values that arrive within the subscription', async () => {
    const page = rendered(Shown, { source$: of('a', 'b') });
    await page.shows('b complete');
  });

  it('`useStream` renders what `open` throws', async () => {
    const page = rendered(() => {
      const failing = (): Observable<string> => {
        throw new RangeError('no such page');
      };
      return textOf(useStream(failing));
    }, {});
    await page.shows('error RangeError: no such page');
  });

  it('`useStream` takes a promise', async () => {
    const answer = Promise.resolve('a');
    const page = rendered(() => textOf(useStream(() => answer)), {});
    await page.shows('a complete');
  });

  it('`useStream` unsubscribes when its component is unmounted', async () => {
    const { source$, open } = counted();
    const page = rendered(Shown, { source$ });
    expect(open()).toBe(1);
    page.unmount();
    await until('no subscription', () => open() === 0);
  });

  it('`useStream` shows no value of the stream before', async () => {
    const [first$, second$] = [new Subject(), new Subject()];
    const page = rendered<Parameters<typeof Shown>[0]>(Shown, { source$: first$ });
    first$.next('a');
    await page.shows('a open');
    page.render({ source$: second$ });
    await page.shows('open');
    expect(first$.observed).toBe(false);
    second$.next('b');
    await page.shows('b open');
  });

  it('`useStream` with keepValue shows the value of the stream before until the new one has a value', async () => {
    const [first$, second$] = [new Subject(), new Subject()];
    const options = { keepValue: true };
    const page = rendered<Parameters<typeof Shown>[0]>(Shown, { source$: first$, options });
    first$.next('a');
    await page.shows('a open');
    page.render({ source$: second$, options });
    await page.shows('a open');
    second$.next('b');
    await page.shows('b open');
  });

  it.each([
    ['that goes on', NEVER],
    ['that completes at once', of('a')],
    ['that fails at once', throwError(() => new Error('no'))],
  ])('`useStream` in StrictMode subscribes once to a source %s', (_, inner$) => {
    const { source$, begun } = counted(inner$);
    rendered(Shown, { source$ }, { isStrict: true });
    expect(begun()).toBe(1);
  });
});

/** Shows the error of the components below it. */
class Boundary extends Component<{ readonly children: ReactNode }, { readonly error?: unknown }> {
  override readonly state: { readonly error?: unknown } = {};

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    return this.state.error === undefined ? this.props.children : String(this.state.error);
  }
}

describe('`useStream` with deps that differ at each render', () => {
  it.each([
    { kind: 'Map', make: () => new Map() },
    { kind: 'URL', make: () => new URL('http://example.org') },
    { kind: 'function', make: () => () => 1 },
  ])('`useStream` names the dep that is a fresh $kind, where React names no hook', async ({ make }) => {
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const Restless = (): string => useStream(() => NEVER, [1, make()]).status;
    const page = rendered(() => createElement(Boundary, null, createElement(Restless)), {});
    await page.shows(
      'TypeError: useStream: expected deps[1] to stay the same in one render: make it outside of the component, or by useMemo',
    );
  });

  it('`useStream` of a hidden Activity takes other deps at each of many renders', async () => {
    const opened: number[] = [];
    const source = (n: number): Observable<number> => defer(() => (opened.push(n), concat(of(n), NEVER)));
    let latest = -1;
    const Price = ({ n }: { n: number }): string => {
      const { value } = useStream(source, [n]);
      latest = n;
      return `${value}`;
    };
    const Page = ({ n, mode }: { n: number; mode: 'visible' | 'hidden' }): ReactElement =>
      createElement(Activity, { mode, children: createElement(Price, { n }) });
    const page = rendered(Page, { n: 0, mode: 'hidden' });
    for (let n = 1; n <= 30; n++) {
      page.render({ n, mode: 'hidden' });
      await until('the hidden render', () => latest === n);
    }
    page.render({ n: 30, mode: 'visible' });
    await page.shows('30');
    expect(opened).toEqual([30]);
  });

  it('`useStream` takes fresh deps of equal content: dates, bytes, NaN, and objects of them', async () => {
    const { source$, begun } = counted();
    const Calm = (): string => useStream(() => source$, [{ since: new Date(5), n: NaN }, new Uint8Array([1]), 5n, undefined]).status;
    const page = rendered(Calm, {});
    page.render({});
    await page.shows('open');
    expect(begun()).toBe(1);
  });
});

describe('`useStream` of a peer', () => {
  it('`useStream` stops the producer on the server when its component is unmounted', async () => {
    const { dialer, acceptor } = createPair();
    const { source$, begun, open } = counted();
    acceptor.streams$.pipe(respond(() => source$)).subscribe();
    const page = rendered(() => textOf(useStream((op: string) => dialer.open$({ op }), ['price'])), {});
    await until('an open stream', () => begun() === 1);
    page.unmount();
    await until('no stream', () => open() === 0);
  });

  it('`useStream` opens one stream in StrictMode', async () => {
    const { dialer, acceptor } = createPair();
    let opened = 0;
    acceptor.streams$.pipe(respond(() => of(++opened))).subscribe();
    const page = rendered(() => textOf(useStream(() => dialer.open$('price'))), {}, { peer: dialer, isStrict: true });
    await page.shows('1 complete');
    expect(opened).toBe(1);
  });

  it('`useStream` of a contract opens one stream for equal payloads, and another one for another payload', async () => {
    const asked: string[] = [];
    const { dialer } = createPair(api, {
      price: ({ symbol }) => {
        asked.push(symbol);
        return of(`price of ${symbol}`);
      },
    });
    const calls = client(dialer, api);
    const Price = ({ symbol }: { symbol: string; nth: number }): string => useStream(calls.price, [{ symbol }]).value ?? 'none';
    const page = rendered(Price, { symbol: 'EUR', nth: 1 }, { peer: dialer });
    await page.shows('price of EUR');
    page.render({ symbol: 'EUR', nth: 2 });
    page.render({ symbol: 'CHF', nth: 3 });
    await page.shows('price of CHF');
    expect(asked).toEqual(['EUR', 'CHF']);
  });

  it('`useStream` keeps its value while the peer reconnects, and opens the stream again', async () => {
    let nth = 0;
    const price$ = new Subject<string>();
    const { dial, server } = dialed((accepted) => {
      const socket = ++nth;
      accepted.streams$.pipe(respond(() => price$.pipe(map((price) => `${price}${socket}`)))).subscribe();
    });
    const peer = dial({ reconnect: AT_ONCE });
    const Price = (): string => {
      const mux = useMux();
      return textOf(useStream(() => mux.open$('price')));
    };
    const page = rendered(Price, {}, { peer });
    await page.shows('open');
    await until('a stream', () => price$.observed);
    price$.next('a');
    await page.shows('a1 open');

    server.refuse(0);
    server.link?.cut();
    await page.shows('a1 reconnecting');
    server.refuse(null);
    await page.shows('a1 open');
    await until('another stream', () => price$.observed);
    price$.next('b');
    await page.shows('b2 open');
    await peer.close();
  });

  it.each<[options: UseStreamOptions, lines: string]>([
    [{ peer: null }, 'a,b,c'],
    [{}, 'c'],
  ])('A topic with the options %j shows after a lost socket: %s', async (options, lines) => {
    const chat = memoryLog<string>();
    let followers = 0;
    const follow = ({ since }: { since: string | null }): Observable<unknown> =>
      defer(() => {
        followers++;
        return answerTopic(chat, since);
      }).pipe(finalize(() => followers--));
    const { dial, server } = dialed((accepted) => accepted.streams$.pipe(respond(follow)).subscribe());
    const peer = dial({ reconnect: { ...AT_ONCE, maxAttempts: Infinity } });
    let opened = 0;
    const line$ = topic<string>(peer, (since) => {
      opened++;
      return peer.open$<TopicItem<string>>({ since }, { retry: 'safe' });
    });
    const lines$ = line$.pipe(scan((all, line) => `${all},${line}`));
    const Chat = (): string => textOf(useStream(() => lines$, [], options));
    const page = rendered(Chat, {}, { peer });
    await until('a follower', () => followers === 1);
    await chat.publish('a');
    await page.shows('a open');
    server.refuse(0);
    server.link?.cut();
    await until('no follower', () => followers === 0);
    await chat.publish('b');
    server.refuse(null);
    await until('another stream', () => opened > 1);
    await peer.ping();
    await until('a follower', () => followers === 1);
    await chat.publish('c');
    await page.shows(`${lines} open`);
    await peer.close();
  });

  it('`useStream` is connecting until the first socket is open', async () => {
    const { dial, server } = dialed((accepted) => accepted.streams$.pipe(respond(() => of('a'))).subscribe());
    server.refuse(0);
    const peer = dial({ reconnect: AT_ONCE });
    const page = rendered(() => textOf(useStream(() => peer.open$('price'))), {}, { peer });
    expect(page.text()).toBe('connecting');
    server.refuse(null);
    await page.shows('a complete');
    await peer.close();
  });

  it('`useStream` fails once the peer has ended for good', async () => {
    const { dial } = dialed((accepted) => accepted.streams$.pipe(respond(() => NEVER)).subscribe());
    const peer = dial();
    const page = rendered(() => useStream(() => peer.open$('price')).status, {}, { peer });
    await page.shows('open');
    await peer.close();
    await page.shows('error');
  });

  it.each([
    ['starts a source again on each socket', undefined, 2],
    ['with the peer `null` leaves a source alone', null, 1],
  ])('`useStream` %s', async (_, reopening, times) => {
    const { dial, server } = dialed(() => undefined);
    const { source$, begun } = counted();
    const peer = dial();
    rendered(Shown, { source$, options: { peer: reopening } }, { peer });
    await peer.opened;
    server.link?.cut();
    await until('another socket', () => peer.status.state === 'open' && peer.status.reconnects === 1);
    expect(begun()).toBe(times);
    await peer.close();
  });
});

/** Two components that show one source. */
function Pair({ open }: { open: () => Observable<string> }): ReactElement {
  const Shared = (): string => `${textOf(useStream(open, [], { shared: true }))}, `;
  return createElement('p', null, createElement(Shared), createElement(Shared));
}

describe('`useStream` with the option shared', () => {
  it('`useStream` of two components reads one stream', async () => {
    const source$ = new Subject<string>();
    const { source$: counting$, begun } = counted(source$);
    const page = rendered(Pair, { open: () => counting$ as Observable<string> });
    source$.next('a');
    await page.shows('a open, a open, ');
    expect(begun()).toBe(1);
  });

  it.each<[string, (server: TestServer, socket?: Peer) => void]>([
    ['is cut', (server) => server.link?.cut()],
    ['ends by a goaway', (_, socket) => void socket?.close({ drainMs: 500 })],
  ])('`useStream` of two components opens one stream on each socket, where a socket %s', async (_, end) => {
    const opened: number[] = [];
    const sockets: Peer[] = [];
    const { dial, server } = dialed((accepted) => {
      const nth = sockets.push(accepted);
      accepted.streams$
        .pipe(
          respond(() =>
            concat(
              defer(() => of(`of ${opened.push(nth)}`)),
              NEVER,
            ),
          ),
        )
        .subscribe();
    });
    const peer = dial({ reconnect: { ...AT_ONCE, maxAttempts: Infinity } });
    const page = rendered(Pair, { open: () => peer.open$<string>('price') }, { peer });
    await page.shows('of 1 open, of 1 open, ');
    end(server, sockets[0]);
    await page.shows('of 2 open, of 2 open, ');
    page.unmount();
    expect(opened).toEqual([1, 2]);
    await peer.close();
  });

  it('`useStream` opens the streams of a `shared` function below its subscribers by itself', async () => {
    const price = shared(() => concat(of('a'), NEVER));
    const Price = (): string => textOf(useStream(price));
    const { dial } = dialed(() => undefined);
    const peer = dial();
    const page = rendered(Price, {}, { peer });
    await page.shows('a open');
    page.unmount();
    await peer.close();
  });
});

describe('`useStream` in a page that a server has rendered', () => {
  it('`useStream` hydrates with its initial value, and shows it for the first deps alone', async () => {
    const differences: unknown[] = [];
    const options = { html: '5 connecting', onRecoverableError: (error: unknown) => differences.push(error) };
    const Value = ({ of: name }: { of: string }): string => textOf(useStream(() => NEVER, [name], { initialValue: 5 }));
    const page = rendered(Value, { of: 'a' }, options);
    await page.shows('5 open');
    page.render({ of: 'b' });
    await page.shows('open');
    expect(differences).toEqual([]);
  });

  it('`useStream` hydrates as the server rendered, and then opens its stream', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond(() => of('a'))).subscribe();
    const differences: unknown[] = [];
    const options = { html: 'connecting', onRecoverableError: (error: unknown) => differences.push(error) };
    const page = rendered(() => textOf(useStream(() => dialer.open$('price'))), {}, options);
    await page.shows('a complete');
    expect(differences).toEqual([]);
  });
});
