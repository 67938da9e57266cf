import {
  ApplicationRef,
  createEnvironmentInjector,
  EnvironmentInjector,
  inject,
  InjectionToken,
  Injector,
  makeStateKey,
  provideZonelessChangeDetection,
  signal,
  TransferState,
} from '@angular/core';
import type { EnvironmentProviders, Provider, WritableSignal } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EMPTY, NEVER, Observable, of, Subject, throwError } from 'rxjs';
import { injectPeer, injectStatus, MUX, muxResource, provideMux } from '../../src/angular.js';
import { shared } from '../../src/contract.js';
import type { MuxResource, MuxResourceOptions } from '../../src/angular.js';
import { logger, ResetCode } from '../../src/index.js';
import type { ConnectOptions, Peer, Stream } from '../../src/index.js';
import { createServer, virtualTime } from '../../src/testing.js';
import type { TestServer, VirtualTime } from '../../src/testing.js';
import { connect, createPair } from '../support/peer/tracked.js';
import { application, ON_SERVER } from './application.js';

describe('provide mux', () => {
  const TOKEN = new InjectionToken<string>('token');

  let time: VirtualTime;

  beforeEach(() => {
    time = virtualTime();
  });

  afterEach(() => {
    TestBed.resetTestingModule();
    jest.restoreAllMocks();
    time.restore();
  });

  const echo = (): TestServer => createServer({ onStream: (payload, stream) => stream.reply(payload) });
  const options = ({ socket }: TestServer): ConnectOptions => ({ socket, keepalive: false });

  describe('provideMux', () => {
    it('An application dials at the first injection, and has one peer', async () => {
      let dials = 0;
      const server = echo();
      server.peers$.subscribe(() => dials++);
      application([provideZonelessChangeDetection(), provideMux('ws://test', options(server))], () => undefined);
      await time.advance();
      expect(dials).toBe(0);
      const [one, other] = TestBed.runInInjectionContext(() => [injectPeer(), injectPeer()] as const);
      const answer = one.request('hi');
      await time.advance();
      expect([await answer, dials, one === other]).toEqual(['hi', 1, true]);
    });

    it('An application closes its peer when it is destroyed', async () => {
      const peer = application([provideZonelessChangeDetection(), provideMux('ws://test', options(echo()))], injectPeer);
      await time.advance();
      TestBed.resetTestingModule();
      await time.advance();
      expect(await peer.closed).toMatchObject({ code: 1000, willRetry: false });
    });

    it('An application dials again for as long as no server answers', async () => {
      jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
      const server = echo();
      server.refuse(0);
      const status = application([provideZonelessChangeDetection(), provideMux('ws://test', options(server))], injectStatus);
      await time.advance(3_600_000);
      expect(['connecting', 'waiting']).toContain(status().state);
      server.refuse(null);
      await time.advance(10_000);
      expect(status().state).toBe('open');
    });

    it('An application dials again where the option `reconnect` is undefined, as without it', async () => {
      const server = echo();
      const given = { ...options(server), reconnect: undefined };
      const status = application([provideZonelessChangeDetection(), provideMux('ws://test', given)], injectStatus);
      await time.advance();
      server.link?.cut();
      await time.advance(10_000);
      expect(status()).toMatchObject({ state: 'open', reconnects: 1 });
    });

    it('An application takes options from a function that injects', async () => {
      const hellos: unknown[] = [];
      const server = createServer({
        onStream: (payload, stream) => {
          hellos.push(payload);
          return stream.reply(null);
        },
      });
      const providers = [
        { provide: TOKEN, useValue: 'secret' },
        provideMux('ws://test', () => {
          const payload = inject(TOKEN);
          return { ...options(server), hello: () => ({ payload }) };
        }),
      ];
      application([provideZonelessChangeDetection(), ...providers], injectPeer);
      await time.advance();
      expect(hellos).toEqual(['secret']);
    });

    it('An application on a server dials nothing: calls wait, and the status stays connecting', async () => {
      let dials = 0;
      const socket = (): never => {
        dials++;
        throw new Error('dialed');
      };
      const providers = [provideZonelessChangeDetection(), provideMux('/mux', { socket }), ON_SERVER];
      const [peer, status] = application(providers, () => [injectPeer(), injectStatus()] as const);
      const outcome = peer.request('hi').then(
        () => 'answered',
        () => 'failed',
      );
      await time.advance(3_600_000);
      expect([dials, status().state, await Promise.race([outcome, Promise.resolve('waits')])]).toEqual([0, 'connecting', 'waits']);
      TestBed.resetTestingModule();
      await time.advance();
      expect(await outcome).toBe('failed');
    });
  });

  describe('injectStatus', () => {
    it('A status follows the connection', async () => {
      const server = echo();
      const status = application([provideZonelessChangeDetection(), provideMux('ws://test', options(server))], injectStatus);
      expect(status()).toEqual({ state: 'connecting', attempt: 1, last: null });
      await time.advance();
      expect(status()).toEqual({ state: 'open', reconnects: 0 });
      server.link?.cut();
      await time.advance();
      expect(status().state).toBe('waiting');
      await time.advance(10_000);
      expect(status()).toEqual({ state: 'open', reconnects: 1 });
    });
  });
});

describe('muxResource', () => {
  let time: VirtualTime;

  beforeEach(() => {
    time = virtualTime();
  });

  afterEach(() => {
    time.restore();
  });

  /** Runs effects, and then everything that is due within `ms`. */
  async function settle(ms = 0): Promise<void> {
    TestBed.tick();
    await time.advance(ms);
  }

  const states = <T>({ status, value, error }: MuxResource<T>) => [status(), value(), error()?.message];

  /** A resource of an application whose peer is `peer`. */
  function resourceOf<T, P>(peer: Peer, options: MuxResourceOptions<T, P>, ...more: (Provider | EnvironmentProviders)[]) {
    const providers = [provideZonelessChangeDetection(), { provide: MUX, useValue: peer }, ...more];
    return application(providers, () => muxResource(options));
  }

  /** A resource whose values come from a Subject for each value of `params`. */
  function sourced(given: Partial<MuxResourceOptions<string, string | undefined>> = {}) {
    const { dialer } = createPair();
    const params = signal<string | undefined>('a');
    const opened: Record<string, Subject<string>> = {};
    const stream = ({ params: name }: { readonly params: string }) => (opened[name] = new Subject());
    return { params, opened, resource: resourceOf(dialer, { params, stream, ...given }) };
  }

  /** A server that keeps the streams of its peer. */
  function counting(): { readonly server: TestServer; readonly peer: Peer; readonly streams: readonly Stream[] } {
    const streams: Stream[] = [];
    const server = createServer({
      onStream: (_, stream) => {
        streams.push(stream);
        return stream.closed;
      },
    });
    return { server, streams, peer: connect('ws://test', { socket: server.socket, keepalive: false, reconnect: true }) };
  }

  /** A resource of a server that dials again, and the streams that the server has to answer. */
  function served(): {
    readonly server: TestServer;
    readonly peer: Peer;
    readonly streams: readonly Stream[];
    readonly resource: MuxResource<unknown>;
  } {
    const { server, peer, streams } = counting();
    return { server, peer, streams, resource: resourceOf(peer, { stream: () => peer.open$('price') }) };
  }

  it('A resource is loading until its stream has sent a value, and then shows the newest', async () => {
    const { dialer, acceptor } = createPair();
    const prices$ = new Subject<number>();
    acceptor.onStream((_, stream) => stream.sendAll(prices$));
    const resource = resourceOf(dialer, { stream: ({ peer }) => peer.open$<number>('price'), defaultValue: 0 });
    await settle();
    expect(states(resource)).toEqual(['loading', 0, undefined]);
    prices$.next(11);
    await settle();
    expect(states(resource)).toEqual(['resolved', 11, undefined]);
    prices$.next(12);
    prices$.next(13);
    await settle();
    expect(states(resource)).toEqual(['resolved', 13, undefined]);
  });

  it('A resource ends its stream when its parameters change, and shows the default value at once', async () => {
    const { resource, params, opened } = sourced();
    await settle();
    opened['a']?.next('of a');
    expect(states(resource)).toEqual(['resolved', 'of a', undefined]);
    params.set('b');
    expect(states(resource)).toEqual(['loading', undefined, undefined]);
    opened['a']?.next('late');
    expect(states(resource)).toEqual(['loading', undefined, undefined]);
    await settle();
    expect(opened['a']?.observed).toBe(false);
    opened['b']?.next('of b');
    expect(states(resource)).toEqual(['resolved', 'of b', undefined]);
  });

  it('A resource with keepValue is reloading when its parameters change, and keeps the value', async () => {
    const { resource, params, opened } = sourced({ keepValue: true });
    await settle();
    params.set('b');
    expect(states(resource)).toEqual(['loading', undefined, undefined]);
    await settle();
    opened['b']?.next('of b');
    params.set('c');
    expect(states(resource)).toEqual(['reloading', 'of b', undefined]);
  });

  it('A resource without parameters is idle and has no stream', async () => {
    const { resource, params, opened } = sourced();
    await settle();
    params.set(undefined);
    await settle();
    expect(states(resource)).toEqual(['idle', undefined, undefined]);
    expect(opened['a']?.observed).toBe(false);
    expect(resource.reload()).toBe(false);
  });

  it('A resource keeps its value while the peer reconnects', async () => {
    const { resource, server, streams } = served();
    await settle();
    await streams[0]?.send(1);
    await settle();
    expect(states(resource)).toEqual(['resolved', 1, undefined]);
    server.link?.cut();
    await settle();
    expect(states(resource)).toEqual(['reconnecting', 1, undefined]);
    await settle(10_000);
    expect(states(resource)).toEqual(['reloading', 1, undefined]);
    await streams[1]?.send(2);
    await settle();
    expect(states(resource)).toEqual(['resolved', 2, undefined]);
  });

  it('A resource that has no value yet is loading, also while the peer reconnects', async () => {
    const { resource, server } = served();
    await settle();
    server.link?.cut();
    await settle();
    expect(states(resource)).toEqual(['loading', undefined, undefined]);
  });

  it('A resource moves to the next socket after a goaway, and is never reconnecting', async () => {
    const { resource, streams, peer } = served();
    const seen = new Set<string>();
    await settle();
    await streams[0]?.send(1);
    await settle();
    peer.status$.subscribe(() => seen.add(resource.status()));
    void streams[0]?.peer.close({ drainMs: 60_000 });
    await settle(10_000);
    await streams[1]?.send(2);
    await settle();
    expect(states(resource)).toEqual(['resolved', 2, undefined]);
    expect([...seen]).not.toContain('reconnecting');
  });

  it('A resource whose stream completes stays resolved, whatever becomes of the socket', async () => {
    const { resource, server, streams } = served();
    await settle();
    await streams[0]?.send(1);
    await streams[0]?.end();
    await settle();
    server.link?.cut();
    await settle(10_000);
    expect(states(resource)).toEqual(['resolved', 1, undefined]);
    expect(streams).toHaveLength(1);
  });

  it('A resource whose stream completes without a value is resolved', async () => {
    const resource = resourceOf(createPair().dialer, { stream: () => EMPTY });
    await settle();
    expect(states(resource)).toEqual(['resolved', undefined, undefined]);
  });

  it('A resource keeps its value after an error, and opens again at reload', async () => {
    const { resource, opened } = sourced();
    await settle();
    opened['a']?.next('of a');
    opened['a']?.error(new Error('no such symbol'));
    expect(states(resource)).toEqual(['error', 'of a', 'no such symbol']);
    expect(resource.reload()).toBe(true);
    expect(states(resource)).toEqual(['reloading', 'of a', undefined]);
    expect(resource.reload()).toBe(false);
    await settle();
    opened['a']?.next('again');
    expect(states(resource)).toEqual(['resolved', 'again', undefined]);
  });

  it.each([
    ['an object', { code: 7 }, 'unknown error: throw an Error'],
    ['an object that has no text', Object.create(null), 'unknown error: throw an Error'],
  ] as const)('A resource makes an Error of %s', async (_what, thrown: unknown, message) => {
    const { resource, opened } = sourced();
    await settle();
    opened['a']?.error(thrown);
    expect(states(resource)).toEqual(['error', undefined, message]);
    expect(resource.error()).toMatchObject({ cause: thrown });
  });

  it('A resource shows the error of its parameters', async () => {
    const broken = signal(true);
    const params = (): number => {
      if (broken()) throw new RangeError('no route');
      return 1;
    };
    const resource = resourceOf(createPair().dialer, { params, stream: () => EMPTY });
    await settle();
    expect(states(resource)).toEqual(['error', undefined, 'no route']);
    expect(resource.reload()).toBe(false);
    broken.set(false);
    await settle();
    expect(states(resource)).toEqual(['resolved', undefined, undefined]);
  });

  it('A resource asks again where the server refuses, and shows an error where the peer is over', async () => {
    const { resource, streams, peer } = served();
    await settle();
    streams[0]?.reset(ResetCode.REFUSED, 'restarting');
    await settle(1_000);
    expect(streams).toHaveLength(2);
    await streams[1]?.send(1);
    await settle();
    void peer.close();
    await settle(1_000);
    expect(states(resource)).toEqual(['error', 1, expect.any(String)]);
  });

  it('A resource ends its stream when its injector is destroyed', async () => {
    const source$ = new Subject<number>();
    const injector = application([provideZonelessChangeDetection(), { provide: MUX, useValue: createPair().dialer }], () =>
      createEnvironmentInjector([], inject(EnvironmentInjector)),
    );
    muxResource({ stream: () => source$, injector: injector.get(Injector) });
    await settle();
    expect(source$.observed).toBe(true);
    injector.destroy();
    expect(source$.observed).toBe(false);
  });

  it('A resource tracks no signal that its stream reads', async () => {
    const other: WritableSignal<number> = signal(0);
    let opened = 0;
    resourceOf(createPair().dialer, {
      stream: () => {
        opened++;
        other();
        return NEVER;
      },
    });
    await settle();
    other.set(1);
    await settle();
    expect(opened).toBe(1);
  });

  /** Two resources of one application, whose server counts the streams of each payload. */
  function sharing(open: 'inline' | 'declared' | 'shared', given: Partial<MuxResourceOptions<unknown, string>> = {}) {
    const { server, peer, streams } = counting();
    const make = () => (call: { readonly params: string; readonly peer: Peer }) => call.peer.open$(call.params);
    const declared = make();
    const stream = { inline: make, declared: () => declared, shared: () => made }[open];
    const made = shared(declared);
    const injector = application([provideZonelessChangeDetection(), { provide: MUX, useValue: peer }], () => inject(EnvironmentInjector));
    const add = (params = signal('price')) => {
      const own = createEnvironmentInjector([], injector);
      return { own, params, resource: muxResource({ params, stream: stream(), injector: own.get(Injector), ...given }) };
    };
    return { server, peer, streams, add, alive: () => streams.filter(({ cause }) => cause === null).length };
  }

  it.each([
    { what: 'one declared function and the option shared', open: 'declared', given: { shared: true }, streams: 1 },
    { what: 'a function that shared has made', open: 'shared', given: {}, streams: 1 },
    { what: 'one declared function', open: 'declared', given: {}, streams: 2 },
    { what: 'two functions and the option shared', open: 'inline', given: { shared: true }, streams: 2 },
  ] as const)('Two resources with equal parameters and $what read $streams of the server', async ({ open, given, streams }) => {
    const { add, streams: opened } = sharing(open, given);
    add();
    add();
    await settle();
    expect(opened).toHaveLength(streams);
  });

  it('Resources that share a stream show the last value at once, and the stream ends a moment after the last of them', async () => {
    const { add, streams, alive } = sharing('declared', { shared: true });
    const first = add();
    await settle();
    await streams[0]?.send(1);
    await settle();
    const second = add();
    await settle();
    expect([states(first.resource), states(second.resource)]).toEqual(Array(2).fill(['resolved', 1, undefined]));
    await streams[0]?.send(2);
    await settle();
    first.own.destroy();
    await settle(2_000);
    expect([alive(), states(second.resource)]).toEqual([1, ['resolved', 2, undefined]]);
    second.own.destroy();
    await settle(999);
    expect(alive()).toBe(1);
    await settle(1);
    expect([alive(), streams.length]).toEqual([0, 1]);
  });

  it('Resources share no stream of other parameters', async () => {
    const { add, streams, alive } = sharing('declared', { shared: true });
    const { params } = add();
    add();
    await settle();
    params.set('other');
    await settle();
    expect([alive(), streams.map(({ payload }) => payload)]).toEqual([2, ['price', 'other']]);
  });

  it('A shared stream opens once on the next socket, and its resources keep their values', async () => {
    const { add, server, streams } = sharing('shared');
    const both = [add(), add()];
    await settle();
    await streams[0]?.send(1);
    await settle();
    server.link?.cut();
    await settle();
    expect(both.map(({ resource }) => states(resource))).toEqual(Array(2).fill(['reconnecting', 1, undefined]));
    await settle(10_000);
    expect(streams).toHaveLength(2);
    await streams[1]?.send(2);
    await settle();
    expect(both.map(({ resource }) => states(resource))).toEqual(Array(2).fill(['resolved', 2, undefined]));
  });

  it('Resources that share a stream ask again where the server refuses, and share the next one', async () => {
    const { add, streams, alive } = sharing('declared', { shared: true });
    const both = [add(), add()];
    await settle();
    streams[0]?.reset(ResetCode.REFUSED, 'restarting');
    await settle(10_000);
    expect([alive(), streams.length]).toEqual([1, 2]);
    streams[1]?.reset(ResetCode.APPLICATION_ERROR, 'no such price');
    await settle();
    expect(both.map(({ resource }) => states(resource))).toEqual(
      Array(2).fill(['error', undefined, expect.stringContaining('no such price')]),
    );
    expect(both.map(({ resource }) => resource.reload())).toEqual([true, true]);
    await settle();
    expect([alive(), streams.length]).toEqual([1, 3]);
  });

  it('A resource refuses a stream that is no function', () => {
    const given = { stream: NEVER as never };
    expect(() => resourceOf(createPair().dialer, given)).toThrow('muxResource.stream: expected a function');
  });

  it('A resource on a server is loading, opens nothing and leaves the application stable', async () => {
    let opened = 0;
    const stream = () =>
      new Observable<number>(() => {
        opened++;
      });
    const resource = resourceOf(createPair().dialer, { stream }, ON_SERVER);
    await settle();
    await TestBed.inject(ApplicationRef).whenStable();
    expect(states(resource)).toEqual(['loading', undefined, undefined]);
    expect(opened).toBe(0);
  });

  describe('the initial value of a server', () => {
    const KEY = makeStateKey<string>('price');

    let page: TransferState;

    beforeEach(() => {
      page = new TransferState();
    });

    /** A resource of an application whose page has values of a server, or gets them. */
    function transferring<P>(options: MuxResourceOptions<string, P>, ...more: Provider[]) {
      return resourceOf(createPair().dialer, options, { provide: TransferState, useValue: page }, ...more);
    }

    it('A server renders the value of `load`, is not stable before, and puts the value into the page', async () => {
      const loaded = new Subject<string>();
      const initial = { key: 'price', load: () => loaded };
      const resource = transferring({ stream: () => NEVER, defaultValue: 'none', initial }, ON_SERVER);
      let isStable = false;
      const stable = TestBed.inject(ApplicationRef)
        .whenStable()
        .then(() => (isStable = true));
      await settle();
      expect([isStable, states(resource)]).toEqual([false, ['loading', 'none', undefined]]);
      loaded.next('of the server');
      await stable;
      expect(states(resource)).toEqual(['resolved', 'of the server', undefined]);
      expect(page.get(KEY, '')).toBe('of the server');
    });

    it('A server whose parameters come after the value renders it then, as the page begins', async () => {
      const params = signal<string | undefined>(undefined);
      const initial = { key: 'price', load: () => of('of the server') };
      const options: MuxResourceOptions<string, string | undefined> = { params, stream: () => NEVER, defaultValue: 'none', initial };
      const resource = transferring(options, ON_SERVER);
      const seen = [];
      for (const next of [undefined, 'ACME', 'OTHER']) {
        params.set(next);
        await settle();
        seen.push([resource.status(), resource.value()]);
      }
      expect(seen).toEqual([
        ['idle', 'none'],
        ['resolved', 'of the server'],
        ['resolved', 'of the server'],
      ]);
    });

    it.each([
      ['fails', () => throwError(() => new Error('away')), 'away'],
      ['has no value', () => EMPTY, 'no elements in sequence'],
    ])('A `load` that %s is the error of the resource, and the page gets nothing', async (_what, load, message) => {
      const resource = transferring({ stream: () => NEVER, initial: { key: 'price', load } }, ON_SERVER);
      await settle();
      await TestBed.inject(ApplicationRef).whenStable();
      expect([resource.status(), resource.error()?.message]).toEqual(['error', message]);
      expect(page.hasKey(KEY)).toBe(false);
    });

    it('A page begins with the value, until the first one of the stream, and takes it once', async () => {
      const values$ = new Subject<string>();
      page.set(KEY, 'of the server');
      const load = jest.fn(() => NEVER);
      const options = { stream: () => values$, defaultValue: 'none', initial: { key: 'price', load } };
      const resource = transferring(options);
      expect(states(resource)).toEqual(['reloading', 'of the server', undefined]);
      await settle();
      values$.next('live');
      expect(states(resource)).toEqual(['resolved', 'live', undefined]);
      const second = TestBed.runInInjectionContext(() => muxResource(options));
      expect([second.value(), load.mock.calls]).toEqual(['none', []]);
    });

    it('A page that begins with the value is reloading until its first socket is open, and reconnecting after a lost one', async () => {
      page.set(KEY, 'of the server');
      const { peer, server } = counting();
      const options = { stream: () => peer.open$<string>('price'), initial: { key: 'price', load: () => NEVER } };
      const resource = resourceOf(peer, options, { provide: TransferState, useValue: page });
      TestBed.tick();
      expect([peer.status.state, ...states(resource)]).toEqual(['connecting', 'reloading', 'of the server', undefined]);
      await settle();
      server.link?.cut();
      await settle();
      expect(states(resource)).toEqual(['reconnecting', 'of the server', undefined]);
      await settle(10_000);
      expect(states(resource)).toEqual(['reloading', 'of the server', undefined]);
    });

    it('A page whose parameters come later begins with the value then, and only once', async () => {
      page.set(KEY, 'of the server');
      const params = signal<string | undefined>(undefined);
      const options: MuxResourceOptions<string, string | undefined> = {
        params,
        stream: () => NEVER,
        defaultValue: 'none',
        initial: { key: 'price', load: () => NEVER },
      };
      const resource = transferring(options);
      const seen = [states(resource)];
      for (const next of ['ACME', undefined, 'ACME', 'OTHER']) {
        params.set(next);
        await settle();
        seen.push(states(resource));
      }
      expect(seen.map(([status, value]) => `${String(status)}: ${String(value)}`)).toEqual([
        'idle: none',
        'reloading: of the server',
        'idle: none',
        'loading: none',
        'loading: none',
      ]);
    });

    it('A page without the value begins as without `initial`', () => {
      const initial = { key: 'price', load: () => NEVER };
      const resource = transferring({ stream: () => NEVER, defaultValue: 'none', initial });
      expect(states(resource)).toEqual(['loading', 'none', undefined]);
    });
  });

  it('A resource without a value leaves the application stable', async () => {
    const resource = resourceOf(createPair().dialer, { stream: () => NEVER });
    await settle();
    await TestBed.inject(ApplicationRef).whenStable();
    expect(resource.status()).toBe('loading');
  });

  it.each<[string, () => unknown]>([
    ['A resource', () => muxResource({ stream: () => NEVER })],
    ['A status', injectStatus],
  ])('%s refuses an object that is no peer', (_what, use) => {
    const pair = { provide: MUX, useValue: createPair() };
    expect(() => application([provideZonelessChangeDetection(), pair], use)).toThrow('MUX: expected a Peer, got an object');
  });

  it('A resource needs a peer', () => {
    expect(() => application([provideZonelessChangeDetection()], () => muxResource({ stream: () => NEVER }))).toThrow(
      'expected a peer, got none: add provideMux(url) to the providers of the application',
    );
  });
});
