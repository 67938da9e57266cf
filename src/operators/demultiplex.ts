import { Observable, Subject } from 'rxjs';
import type { GroupedObservable, OperatorFunction } from 'rxjs';
import { Relay, mapPresent } from '../rx/pipeline.js';
import { StreamFault } from '../wire/errors.js';
import type { Frame } from '../wire/frame.js';

/** A value that belongs to a stream; `null` means the connection, which is stream 0 of the table. */
export interface Routed {
  /** The id of the stream. */
  readonly stream?: number | null | undefined;
}

/** Takes the values of one stream. An error that it throws ends the pipeline. */
export interface Sink<T> {
  /** Takes the next value. */
  next(value: T): void;
}

/** Finds the sink of a stream id; a Map is one. */
export interface Sinks<T> {
  /** Returns the sink of an id; `undefined` if there is none. */
  get(id: number): Sink<T> | undefined;
}

/** Delivers each value to the sink of its id, and passes on the values without one. */
function route<T extends Routed>(sinks: Sinks<T>): OperatorFunction<T, T> {
  return mapPresent(delivered, sinks);
}

function delivered<T extends Routed>(this: Sinks<T>, value: T): T | null {
  const sink = this.get(value.stream ?? 0);
  sink?.next(value);
  return sink === undefined ? value : null;
}

/** The values that {@link demultiplex} groups: frames, and the faults that `assemble` emits among them. */
type Grouped = Frame | StreamFault;

/**
 * Passes each frame to its stream by one look-up, however many streams there are. Its source must be the frames of one direction of one
 * socket. A peer that dials again starts stream ids anew: separate its sockets first, with `groupBy(({ connection }) => connection)`.
 *
 * Without a table it emits one `GroupedObservable` per stream id at the first frame, keyed by the id (0 for frames of the connection). A
 * group creates its Subject on its first subscription. Without a subscriber a group drops its values: put `mergeMap` directly after this
 * operator.
 *
 * A group completes after the remote's `end` or `reset`, and after the `StreamFault` with which `assemble` ends a stream. Later frames of
 * the stream are dropped if its open was seen; otherwise they make a new group.
 *
 * As with `groupBy`, a subscriber that unsubscribes can continue to read its groups. After the last reader has left, every group
 * completes.
 *
 * With a table of sinks it delivers to them, and emits the values that no sink takes.
 *
 * @example
 * ```ts
 * of({ type: 'data', stream: 1, payload: 'a' }, { type: 'data', stream: 2, payload: 'b' })
 *   .pipe(demultiplex(), mergeMap((stream) => stream.pipe(map((frame) => `${stream.key}: ${frame.payload}`))))
 *   .subscribe(console.log);
 * // 1: a
 * // 2: b
 * ```
 */
export function demultiplex<T extends Frame | StreamFault>(): OperatorFunction<T, GroupedObservable<number, T>>;
export function demultiplex<T extends Routed>(sinks: Sinks<T>): OperatorFunction<T, T>;
export function demultiplex(sinks?: Sinks<Grouped>): OperatorFunction<Grouped, Grouped | GroupedObservable<number, Grouped>> {
  return sinks === undefined ? group : route(sinks);
}

function group(source: Observable<Grouped>): Observable<GroupedObservable<number, Grouped>> {
  return new Observable((subscriber) => {
    if (subscriber.closed) return undefined;
    const grouping = new Grouping(subscriber);
    return source.pipe(route(grouping.groups)).subscribe(grouping);
  });
}

/** Makes a group for each frame that no group has taken. */
class Grouping extends Relay<Grouped> {
  readonly groups = new Map<number, StreamFrames>();
  readonly #odd = new OpenedIds();
  readonly #even = new OpenedIds();
  #readers = 0;

  override error(error: unknown): void {
    for (const each of this.groups.values()) each.error(error);
    super.error(error);
  }

  override complete(): void {
    for (const each of this.groups.values()) each.complete();
    super.complete();
  }

  // As in `groupBy`: a subscriber that takes no more groups may still read its groups.
  override unsubscribe(): void {
    if (this.#readers > 0) return;
    super.unsubscribe();
    for (const each of this.groups.values()) each.complete();
  }

  /** Counts a reader of a group. The returned function ends the reading. */
  read(): () => void {
    this.#readers++;
    return () => {
      this.#readers--;
      if (this.to.closed) this.unsubscribe();
    };
  }

  protected take(value: Grouped): void {
    const id = value.stream ?? 0;
    const opened = id % 2 === 1 ? this.#odd : this.#even;
    if (this.to.closed || opened.has(id)) return;
    if (!(value instanceof StreamFault) && value.type === 'open') opened.add(id);
    const made = new StreamFrames(id, this);
    this.groups.set(id, made);
    this.to.next(made);
    made.next(value);
  }
}

/**
 * The ids of one side whose opens were seen. Opens come in the order of their ids. So an id between the first and the highest without a
 * group is closed, and its frame is late. Answers come in any order, and the opens before the first are unknown.
 */
class OpenedIds {
  #first = Infinity;
  #highest = 0;

  add(id: number): void {
    this.#first = Math.min(this.#first, id);
    this.#highest = id;
  }

  has(id: number): boolean {
    return id >= this.#first && id <= this.#highest;
  }
}

class StreamFrames extends Observable<Grouped> implements GroupedObservable<number, Grouped>, Sink<Grouped> {
  #frames: Subject<Grouped> | null = null;

  constructor(
    readonly key: number,
    private readonly grouping: Grouping,
  ) {
    super((subscriber) => {
      subscriber.add(grouping.read());
      return (this.#frames ??= new Subject()).subscribe(subscriber);
    });
  }

  next(value: Grouped): void {
    this.#frames?.next(value);
    if (this.key === 0 || !endsStream(value)) return;
    this.grouping.groups.delete(this.key);
    this.complete();
  }

  error(error: unknown): void {
    (this.#frames ??= new Subject()).error(error);
  }

  complete(): void {
    (this.#frames ??= new Subject()).complete();
  }
}

function endsStream(value: Grouped): boolean {
  if (value instanceof StreamFault) return true;
  return (value.type === 'reset' || value.end === true) && value.more !== true;
}
