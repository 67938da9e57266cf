import { Subscription } from 'rxjs';
import type { Observable, Observer, TeardownLogic } from 'rxjs';
import type { Peer, PeerStatus, Stream } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import type { Link, PairOptions, Side } from '../../../src/testing.js';
import { WireRules } from '../../support/wire/rules.js';

/** The subject of a callback, for the action in it: its stream and its own subscription. */
export interface Told {
  readonly stream?: Stream | null | undefined;
  readonly subscription?: Pick<Subscription, 'unsubscribe'> | undefined;
}

/** Runs the action within a callback. */
export type Run = (told?: Told) => void;

export type Role = Side;

/** Two peers with handlers, a main stream for the actions, an untouched bystander stream, and everything they receive. */
export class Scene {
  readonly near: Peer;
  readonly far: Peer;
  readonly link: Link;
  readonly rules = new WireRules();
  /** The stream for an action whose callback has no stream. */
  main: Stream;
  mainReading: Subscription;
  readonly abort = new AbortController();
  /** The values that the reader of the bystander received. */
  readonly news: unknown[] = [];
  /** The refusals of an action's own call. */
  readonly refusals: string[] = [];
  readonly statuses: PeerStatus['state'][] = [];
  readonly #bystander: Stream;
  readonly #farHeld: Stream[] = [];
  readonly #streams: { readonly near: Map<number, Stream>; readonly far: Map<number, Stream> } = { near: new Map(), far: new Map() };
  readonly #answers = new Map<unknown, (stream: Stream) => unknown>();
  readonly #own = new Subscription();
  readonly #pending = new Map<object, string>();
  readonly #readings = new Map<Subscription, string>();

  constructor(
    readonly role: Role,
    options: PairOptions,
  ) {
    const pair = createPair(options);
    this.link = pair.link;
    this.near = pair[role];
    this.far = pair[role === 'dialer' ? 'acceptor' : 'dialer'];
    this.until(
      this.link.messages$.subscribe((message) => {
        this.rules.wrote(message);
      }),
    );
    for (const side of ['dialer', 'acceptor'] as const)
      this.until(
        pair[side].onFrame((direction, { type }) => {
          if (direction === 'rx' && type === 'goaway') this.rules.readGoaway(side);
        }),
      );
    this.awaits('closed of the near peer', this.near.closed);
    this.awaits('closed of the far peer', this.far.closed);
    this.near.onStream((payload, stream) => this.handle(payload, stream));
    this.far.onStream((payload, stream) => this.handle(payload, stream));
    this.main = this.keep(this.near.open('hold', { signal: this.abort.signal }));
    this.mainReading = this.read('the main stream', this.main);
    this.#bystander = this.keep(this.near.open('hold'));
    this.read('the bystander', this.#bystander, { next: (value) => this.news.push(value) });
  }

  /** Adds a teardown for the end of the scene. */
  until(over: TeardownLogic): void {
    this.#own.add(over);
  }

  leave(): void {
    this.#own.unsubscribe();
  }

  /** Registers a promise that has to settle, in either way. */
  awaits(name: string, promise: Promise<unknown>): void {
    const key = {};
    this.#pending.set(key, name);
    const settle = (): void => void this.#pending.delete(key);
    promise.then(settle, settle);
  }

  /** Subscribes to a source that has to end, or to be left. */
  read<T>(name: string, source$: Observable<T>, observer: Partial<Observer<T>> = {}): Subscription {
    const subscription = source$.subscribe({ error: () => undefined, ...observer });
    this.#readings.set(subscription, name);
    return subscription;
  }

  /** Registers a stream that the scene holds. */
  keep(stream: Stream): Stream {
    this.awaits('closed of a stream', stream.closed);
    const { id, peer } = stream;
    if (id !== null) this.#streams[peer === this.near ? 'near' : 'far'].set(id, stream);
    return stream;
  }

  /** The near peer's stream of a frame, if there is one. */
  streamOf(id: number | null | undefined): Stream | null {
    return this.#streams.near.get(id ?? 0) ?? null;
  }

  /** Makes a call that may be refused without a fault of the library. */
  attempt(call: () => unknown): void {
    try {
      const given = call();
      if (given instanceof Promise) this.awaits('a call of an action', given);
    } catch (error) {
      this.refusals.push(String(error));
    }
  }

  /** The near peer answers this payload by `handler`, and the far peer calls it once. */
  answer(payload: string, handler: (stream: Stream) => unknown): Stream {
    this.#answers.set(payload, handler);
    const asking = this.keep(this.far.open(payload, { timeoutMs: 1_000 }));
    this.read(`the answer to ${payload}`, asking);
    return asking;
  }

  /** Answers by the payload. */
  handle(payload: unknown, stream: Stream): unknown {
    this.keep(stream);
    const answer = stream.peer === this.near ? this.#answers.get(payload) : undefined;
    if (answer !== undefined) return answer(stream);
    switch (payload) {
      case 'echo':
        return stream.reply('echo');
      case 'rows':
        stream.sendHeaders({ header: 1 });
        stream.setTrailers({ trailer: 1 });
        return stream.sendAll([1, 2, 3]);
      case 'sink':
        this.read('an upload', stream, { complete: () => void stream.reply('sunk').catch(() => undefined) });
        return stream.closed;
      case 'fail':
        throw new Error('the handler fails');
      default:
        if (stream.peer === this.far) this.#farHeld.push(stream);
        this.read('a held stream', stream);
        return stream.closed;
    }
  }

  /** Makes calls of every kind in both directions, which run beside a callback's action. */
  traffic(): void {
    for (const peer of [this.near, this.far]) {
      for (const payload of ['echo', 'fail']) this.attempt(() => peer.request(payload));
      this.attempt(() => this.read('rows', peer.open$('rows', { onOpen: (stream) => void this.keep(stream) })));
      this.attempt(() => this.read('an upload', peer.open$('sink', { input: ['a', 'b'], onOpen: (stream) => void this.keep(stream) })));
      this.attempt(() => {
        peer.notify('echo');
      });
      this.attempt(() => peer.ping());
    }
    this.attempt(() => this.far.request('hold', { timeoutMs: 100 }));
    this.attempt(() => this.#farHeld[0]?.send('to the main stream'));
  }

  /** Ends the main stream. */
  finish(): void {
    this.attempt(() => this.#farHeld[0]?.end());
    this.attempt(() => this.main.end());
  }

  /** The far peer sends a value on the bystander. */
  tell(value: unknown): void {
    this.attempt(() => this.#farHeld[1]?.send(value));
  }

  /** Ends the bystander too. */
  finishBystander(): void {
    this.attempt(() => this.#farHeld[1]?.end());
    this.attempt(() => this.#bystander.end());
  }

  /** Checks that the last subscriber also receives the statuses in order. */
  watchStatus(): void {
    this.until(this.near.status$.subscribe(({ state }) => this.statuses.push(state)));
  }

  /** Streams that have ended on one side only. */
  get disagreements(): readonly number[] {
    const { near, far } = this.#streams;
    return [...near]
      .filter(([id, stream]) => {
        const twin = far.get(id);
        return twin !== undefined && (twin.cause === null) !== (stream.cause === null);
      })
      .map(([id]) => id);
  }

  get states(): readonly PeerStatus['state'][] {
    return [this.near.status.state, this.far.status.state];
  }

  /** Promises that have not settled, and subscriptions that have neither ended nor been left. */
  get unsettled(): readonly string[] {
    const open = [...this.#readings].filter(([{ closed }]) => !closed).map(([, name]) => `reading ${name}`);
    return [...this.#pending.values(), ...open];
  }
}
