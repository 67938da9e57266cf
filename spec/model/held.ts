import { extrasOf } from '../../src/stream/extras.js';
import type { CloseCause } from '../../src/stream/end.js';
import { Stream } from '../../src/stream/stream.js';
import type { StreamCore } from '../../src/stream/stream-core.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Metadata } from '../../src/wire/frame.js';
import type { Half } from './model.js';
import { isPrefix, show } from './model.js';
import type { StreamModel } from './model.js';
import { demand } from './violation.js';
import type { Findings } from './violation.js';

/** The reader of a stream: none yet, a subscriber, a loop, the library for a request, or one that has left. */
type Reader = 'none' | 'subscriber' | 'loop' | 'request' | 'left';

/** Completes or fails a handler's work on its stream. */
export interface Work {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The facts about its side that a stream needs. */
export interface Home {
  readonly findings: Findings;
  /** Whether the test made the side's codec fail. */
  readonly broke: boolean;
  /** The size of an encoded payload in bytes. */
  weigh(payload: unknown): number;
  gone(held: Held): void;
}

/** One side of one stream in the hands of a user, who records what the stream emits. */
export class Held implements Half {
  readonly ends: CloseCause[] = [];
  /** The values that the reader received, and the end of its reading. */
  readonly read: unknown[] = [];
  readonly closings: unknown[] = [];
  reader: Reader = 'none';
  /** How many values a loop has requested. */
  pulled = 0;
  /** Whether the user, or a failing handler, has caused a reset. */
  acted = false;
  abort: AbortController | null = null;
  /** Whether a time-out may end the stream. */
  timed = false;
  /** Set while a handler works on the stream. */
  work: Work | null = null;
  /** The call of the handler, among the calls that may be repeated. */
  call: number | null = null;
  /** The remote's headers, as they were first seen. */
  #seenHeaders: string | null = null;
  #unread = 0;
  #leave: () => void = () => undefined;
  #iterator: AsyncIterator<unknown> | null = null;

  constructor(
    readonly stream: Stream,
    readonly name: string,
    readonly model: StreamModel,
    private readonly home: Home,
  ) {
    const streamCore = Stream.streamCore(stream);
    if (streamCore.cause !== null) this.ends.push(streamCore.cause);
    this.#watch(streamCore);
  }

  get broke(): boolean {
    return this.home.broke;
  }

  get id(): number {
    return this.stream.id ?? 0;
  }

  /** How the stream ended; `null` while it is live. */
  get cause(): CloseCause | null {
    return this.ends[0] ?? null;
  }

  get sealed(): boolean {
    return Stream.streamCore(this.stream).sealed;
  }

  /** The bytes that the stream has to keep at least, because it has no reader. */
  get unread(): number {
    return this.reader === 'none' && this.cause === null ? this.#unread : 0;
  }

  subscribe(): void {
    this.reader = 'subscriber';
    const subscription = this.stream.subscribe({
      next: (value) => {
        this.home.findings.note(this.closings.length === 0, 'no value after the end', () => `${this.name}: a reader got ${show(value)}`);
        this.read.push(value);
      },
      error: (error: unknown) => this.closings.push(error),
      complete: () => this.closings.push(null),
    });
    this.#leave = () => {
      subscription.unsubscribe();
    };
  }

  iterate(): void {
    this.reader = 'loop';
    const iterator = this.stream[Symbol.asyncIterator]();
    this.#iterator = iterator;
    this.#leave = () => void iterator.return?.();
  }

  /** A loop requests its next value. The promise settles when the value is there. */
  pull(): Promise<void> | null {
    if (this.#iterator === null || this.reader !== 'loop' || this.closings.length > 0) return null;
    this.pulled++;
    return this.#iterator.next().then(
      (result) => {
        if (result.done === true) this.closings.push(null);
        else this.read.push(result.value);
      },
      (error: unknown) => {
        this.closings.push(error);
      },
    );
  }

  /** The reader unsubscribes, or breaks out of its loop. */
  leave(): void {
    this.reader = 'left';
    this.#leave();
  }

  /** Checks the facts seen so far, and the state of the stream. */
  check(): void {
    const { model, name, stream } = this;
    demand(this.ends.length <= 1, 'a stream ends once', () => `${name} ended with ${show(this.ends)}`);
    const expected = this.cause === null || this.cause.how === 'ended' ? model.phase : 'closed';
    demand(stream.phase === expected, 'phases', () => `${name} is ${stream.phase}, by its frames ${expected}`);
    this.#checkHeaders();
  }

  /** Checks what the reader received, once no frame can follow. */
  checkReading(): void {
    demand(this.ends.length === 1, 'a stream ends once', () => `${this.name} ended with ${show(this.ends)}`);
    if (this.reader === 'none' || this.reader === 'request') return;
    const { arrived } = this.model;
    demand(isPrefix(this.read, arrived), 'payloads in order', () => `${this.name}: its reader got ${show(this.read)} of ${show(arrived)}`);
    if (this.reader === 'left') return;
    const ended = this.cause?.how === 'ended';
    demand(this.closings.length > 0, 'a stream ends once', () => `${this.name}: its reader was not told`);
    if (!ended) return;
    demand(this.read.length === arrived.length, 'payloads complete', () => `${this.name}: read ${show(this.read)} of ${show(arrived)}`);
  }

  #watch(streamCore: StreamCore): void {
    const next = streamCore.next.bind(streamCore);
    streamCore.next = (frame) => {
      const payload = 'type' in frame && frame.type === 'data' ? frame.payload : ABSENT;
      if (payload !== ABSENT) this.model.arrived.push(payload);
      next(frame);
      if (payload !== ABSENT && this.reader === 'none' && streamCore.phase !== 'closed') this.#unread += this.home.weigh(payload);
    };
    const multicast = streamCore.multicast.bind(streamCore);
    streamCore.multicast = (payload) => {
      this.home.findings.note(this.ends.length === 0, 'no value after the end', () => `${this.name} got ${show(payload)}`);
      multicast(payload);
    };
    const extras = extrasOf(streamCore);
    const gone = extras.gone.bind(extras);
    extras.gone = (cause) => {
      this.ends.push(cause);
      this.home.gone(this);
      gone(cause);
    };
  }

  #checkHeaders(): void {
    const headers: Readonly<Metadata> | null = this.stream.local ? this.stream.replyHeaders : this.stream.headers;
    if (headers === null) return;
    const seen = JSON.stringify(headers);
    this.#seenHeaders ??= seen;
    demand(this.#seenHeaders === seen, 'headers once', () => `${this.name} had ${String(this.#seenHeaders)}, and now ${seen}`);
  }
}
