import type { Sink } from '../operators/demultiplex.js';
import type { StreamFault } from '../wire/fault.js';
import type { CompleteFrame } from '../wire/frame.js';
import { LiveStream } from './live-stream.js';

type FrameSink = Sink<CompleteFrame | StreamFault>;

/** Ids, parity and the live streams of one connection. The connection itself is stream 0, where its own frames go. */
export class StreamTable {
  /** Everything a frame can be for, by id. */
  readonly sinks: ReadonlyMap<number, FrameSink>;
  readonly #sinks: Map<number, FrameSink>;
  #nextId: number;
  #occupied = 0;

  constructor(
    connection: FrameSink,
    private readonly isDialer: boolean,
    firstId: number,
  ) {
    this.#sinks = new Map([[0, connection]]);
    this.sinks = this.#sinks;
    this.#nextId = firstId;
  }

  /** Live streams, of both sides. */
  get size(): number {
    return this.#sinks.size - 1;
  }

  /** Places taken by remote-opened streams: the live ones, and those whose handler has not settled. */
  get occupied(): number {
    return this.#occupied;
  }

  /** The id that the next stream of this side gets; above 2^53 − 1 there is none. */
  get nextId(): number {
    return this.#nextId;
  }

  get exhausted(): boolean {
    return !Number.isSafeInteger(this.#nextId);
  }

  get(id: number): LiveStream | undefined {
    const sink = this.#sinks.get(id);
    return sink instanceof LiveStream ? sink : undefined;
  }

  all(): LiveStream[] {
    return [...this.#sinks.values()].filter((sink) => sink instanceof LiveStream);
  }

  /** Whether an id is one of this side's: odd ids are the dialer's. */
  owns(id: number): boolean {
    return (id % 2 === 1) === this.isDialer;
  }

  /** Whether this side has opened `id`, now or ever. */
  hasOpened(id: number): boolean {
    return id < this.#nextId;
  }

  add(stream: LiveStream): void {
    this.#sinks.set(stream.id, stream);
    if (stream.local) this.#nextId += 2;
    else this.#occupied++;
  }

  remove(stream: LiveStream): void {
    this.#sinks.delete(stream.id);
    if (!stream.local && !stream.running) this.#occupied--;
  }

  /** A closed stream's handler has settled, so its place is free. */
  vacate(): void {
    this.#occupied--;
  }
}
