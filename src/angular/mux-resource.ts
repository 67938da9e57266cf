import {
  computed,
  effect,
  inject,
  Injector,
  linkedSignal,
  makeStateKey,
  NgZone,
  PendingTasks,
  runInInjectionContext,
  signal,
  TransferState,
  untracked,
} from '@angular/core';
import type { Signal, WritableSignal } from '@angular/core';
import { firstValueFrom } from 'rxjs';
import type { Peer } from '../peer/peer.js';
import type { OpenStream } from '../peer/shared.js';
import { observableFrom } from '../stream/input.js';
import type { Source } from '../stream/input.js';
import { valuesEqual } from '../wire/mapping.js';
import { checkFunction, checkOptions } from '../util/check.js';
import type { NamesOf } from '../util/check.js';
import { injectPeer, isOnServer } from './mux.js';
import { arrived, asError, changesOf, failed, opening } from './resource-state.js';
import type { Change, MuxResourceStatus, ResourceState } from './resource-state.js';

/** The first value of a page that a server renders. */
export interface InitialValue<T> {
  /** The name under which the value travels with the page. No other resource of the application may have it. */
  readonly key: string;
  /** Runs on the server alone, where no stream opens. The server renders its first value, which the page takes as JSON. */
  readonly load: () => Source<T>;
}

/** How a {@link muxResource} is made. */
export interface MuxResourceOptions<T, P> {
  /**
   * Returns the parameters of the stream, and reads signals for that. When they change, the stream ends and another one opens. Plain
   * objects and arrays are compared by content. With `undefined` there is no stream. Default: one stream, whose parameters are `null`.
   */
  readonly params?: (() => P) | undefined;
  /**
   * Opens the stream for the parameters, and again on each new socket. It runs untracked and outside of zone.js. A call that the server
   * refused is made again by itself, as with `retry: 'safe'`. A `topic` would lose its place at each new socket: use `toSignal` for it.
   */
  readonly stream: (call: { readonly params: Exclude<P, undefined>; readonly peer: Peer }) => Source<T>;
  /** The value before the first one. Default `undefined`. */
  readonly defaultValue?: T | undefined;
  /**
   * Renders a value on a server, and begins with it in the browser: the page shows no gap until the stream's first value. The application on
   * the server is not stable before. Default: the server renders the `defaultValue`.
   */
  readonly initial?: InitialValue<T> | undefined;
  /** Whether the value stays when the parameters change, until the first value of the next stream. Default `false`. */
  readonly keepValue?: boolean | undefined;
  /**
   * Whether resources with the same `stream` function and equal parameters read one stream, as `shared` of `rxmux/contract` does it. An
   * inline function is another one in each component, so declare it once. Default `false`, and `true` for a function that `shared` has made.
   */
  readonly shared?: boolean | undefined;
  /** Where the resource lives. Default: the current one. */
  readonly injector?: Injector | undefined;
}

/** Names {@link MuxResourceOptions}. */
const OPTIONS: NamesOf<MuxResourceOptions<unknown, unknown>> = {
  params: true,
  stream: true,
  defaultValue: true,
  initial: true,
  keepValue: true,
  shared: true,
  injector: true,
};

/** A stream as signals. */
export interface MuxResource<T> {
  /** The newest value. It survives reconnects and errors. Reading it never throws. */
  readonly value: Signal<T>;
  /** The state of the stream. */
  readonly status: Signal<MuxResourceStatus>;
  /** The error that ended the stream, while the status is `error`. */
  readonly error: Signal<Error | undefined>;
  /**
   * Opens the stream again, and keeps the value. Returns whether it does; not while the status is `idle`, `loading` or `reloading`, and not
   * where `params` has thrown.
   */
  reload(): boolean;
}

/** The parameters of one stream. */
interface Asked<P> {
  readonly params: P | undefined;
  /** The error that `params` threw. */
  readonly error: Error | undefined;
  /** The number of reloads before. */
  readonly round: number;
}

/**
 * Reads a stream into signals for as long as its component or service lives. The value survives reconnects: the stream opens again on
 * the next socket, and `status` is `reconnecting` until then. A stream that completes stays `resolved`, without any value too.
 *
 * On a server (SSR and prerender) it opens nothing, and its status is `loading`, as at first in the browser. Only `initial` keeps an
 * application from being stable, until its value is there. Call it where `inject` works, or pass an `injector`.
 *
 * @throws TypeError for an unknown option, a `stream` that is no function, and a `MUX` that is no peer; Error where no provider has a peer
 *
 * @example
 * ```ts
 * @Component({ selector: 'app-price', template: `{{ price.value() ?? '…' }} {{ price.status() }}` })
 * export class Price {
 *   readonly symbol = input.required<string>();
 *   readonly price = muxResource({
 *     params: this.symbol,
 *     stream: ({ params, peer }) => client(peer, api).price({ symbol: params }),
 *   });
 * }
 * ```
 */
export function muxResource<T, P = null>(options: MuxResourceOptions<T, P> & { readonly defaultValue: T }): MuxResource<T>;
export function muxResource<T, P = null>(options: MuxResourceOptions<T, P>): MuxResource<T | undefined>;
export function muxResource<T, P>(options: MuxResourceOptions<T, P>): MuxResource<T | undefined> {
  checkOptions(options, OPTIONS);
  checkFunction('muxResource.stream', options.stream);
  return runInInjectionContext(options.injector ?? inject(Injector), () => new StreamResource(options));
}

class StreamResource<T, P> implements MuxResource<T | undefined> {
  readonly value: Signal<T | undefined>;
  readonly status: Signal<MuxResourceStatus>;
  readonly error: Signal<Error | undefined>;
  readonly #round = signal(0);
  readonly #asked: Signal<Asked<P>>;
  readonly #state: WritableSignal<ResourceState<T | undefined>>;
  /** On a server, the end of `load`. It stays for parameters that come later. */
  #loaded: Change<T | undefined> = (state) => state;

  constructor(options: MuxResourceOptions<T, P>) {
    let transferred = isOnServer() ? undefined : taken(options.initial);
    this.#asked = askedBy(options.params, this.#round);
    this.#state = linkedSignal<Asked<P>, ResourceState<T | undefined>>({
      source: this.#asked,
      computation: (now, before) => {
        const { defaultValue, keepValue = false } = options;
        if (now.params === undefined) return { status: now.error === undefined ? 'idle' : 'error', value: defaultValue, error: now.error };
        const isSame = before?.source.params === now.params;
        // The first stream begins with it, also where there were no parameters at first.
        const held = transferred ?? (keepValue || isSame ? before?.value : undefined);
        transferred = undefined;
        return this.#loaded(opening(held, defaultValue));
      },
    });
    this.value = computed(() => this.#state().value);
    this.status = computed(() => this.#state().status);
    this.error = computed(() => this.#state().error);
    if (!isOnServer()) this.#read(options);
    else if (options.initial !== undefined) this.#load(options.initial);
  }

  reload(): boolean {
    const status = untracked(this.status);
    // Without parameters there is no stream: they are `undefined`, or their function has thrown.
    if (untracked(this.#asked).params === undefined || status === 'loading' || status === 'reloading') return false;
    this.#begin();
    return true;
  }

  #begin(): void {
    this.#round.update((round) => round + 1);
  }

  #load({ key, load }: InitialValue<T>): void {
    const page = inject(TransferState);
    inject(PendingTasks).run(async () => {
      try {
        const value = await firstValueFrom(observableFrom(load()));
        page.set(makeStateKey<T>(key), value);
        this.#loaded = arrived<T | undefined>(value);
      } catch (error) {
        this.#loaded = failed(error);
      }
      this.#begin();
    });
  }

  #read({ stream, shared = false }: MuxResourceOptions<T, P>): void {
    const peer = injectPeer();
    const open = stream as OpenStream<T | undefined>;
    const zone = inject(NgZone);
    effect((onCleanup) => {
      const now = this.#asked();
      if (now.params === undefined) return;
      const call = { params: now.params as Exclude<P, undefined>, peer };
      const changes$ = changesOf(peer, open, call, shared);
      const reading = untracked(() => zone.runOutsideAngular(() => changes$.subscribe((change) => this.#change(now, change))));
      // A shared stream outlives its last reader for a moment, by a timer.
      onCleanup(() => {
        zone.runOutsideAngular(() => reading.unsubscribe());
      });
    });
  }

  /** Drops the change of a stream whose parameters have changed, because the effect ends it only later. */
  #change(of: Asked<P>, change: Change<T | undefined>): void {
    if (untracked(this.#asked) === of) this.#state.update(change);
  }
}

/** Takes the value that a server has put into the page. A later resource of the same key does not begin with an old value. */
function taken<T>(initial: InitialValue<T> | undefined): ResourceState<T | undefined> | undefined {
  if (initial === undefined) return undefined;
  const page = inject(TransferState);
  const key = makeStateKey<T>(initial.key);
  if (!page.hasKey(key)) return undefined;
  const value = page.get<T | undefined>(key, undefined);
  page.remove(key);
  return { status: 'resolved', value, error: undefined };
}

function askedBy<P>(paramsOf: MuxResourceOptions<unknown, P>['params'], round: Signal<number>): Signal<Asked<P>> {
  const params = computed(paramsOf ?? (() => null as P), { equal: valuesEqual });
  return computed(() => {
    try {
      return { params: params(), error: undefined, round: round() };
    } catch (error) {
      return { params: undefined, error: asError(error), round: round() };
    }
  });
}
