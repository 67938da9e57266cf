import { Observable, Subject } from 'rxjs';
import type { GroupedObservable, OperatorFunction } from 'rxjs';
import { StreamFault } from '../wire/fault.js';
import type { Frame } from '../wire/frame.js';
import { mapPresent } from '../rx/map-present.js';
import { Relay } from '../rx/relay.js';

/** Anything that belongs to a stream; `null` means the connection, which is stream 0 of the table. */
export interface Routed {
  readonly stream?: number | null | undefined;
}

/** What {@link demultiplex} groups: frames, and the faults that `assemble` emits among them. */
type Grouped = Frame | StreamFault;

/** Takes what belongs to one stream. What it throws ends the pipeline. */
export interface Sink<T> {
  next(value: T): void;
}

/** Where the sink of a stream id is found; a Map is one. */
export interface Sinks<T> {
  get(id: number): Sink<T> | undefined;
}

/**
 * Hands each frame to its stream by one look-up, however many streams there are. Give it the frames of one direction of one socket:
 * of a peer that dials again, part them with `groupBy(({ connection }) => connection)` first, as stream ids begin anew.
 *
 * Without a table it emits one `GroupedObservable` per stream id, keyed by the id (0 for frames of the connection), at its
 * first frame; a group's Subject is made when somebody subscribes. A group completes after the remote's `end` or `reset`, and after
 * the `StreamFault` of a stream that `assemble` gives up. Frames that come later are dropped where the stream's open was seen, and make a group anew where it was not. As with `groupBy`, whoever
 * unsubscribes can go on reading the groups that it reads; after the last reader every group is complete. A group has no values
 * while nobody reads it: put `mergeMap` directly after it.
 *
 * With a table of sinks it delivers to them and emits what no sink takes.
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

function route<T extends Routed>(sinks: Sinks<T>): OperatorFunction<T, T> {
  return mapPresent((value) => {
    const sink = sinks.get(value.stream ?? 0);
    sink?.next(value);
    return sink === undefined ? value : null;
  });
}

function group(source: Observable<Grouped>): Observable<GroupedObservable<number, Grouped>> {
  return new Observable((subscriber) => {
    if (subscriber.closed) return undefined;
    const grouping = new Grouping(subscriber);
    return source.pipe(route(grouping.groups)).subscribe(grouping);
  });
}

/** Makes a group of each frame that no group has taken. */
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

  // As in `groupBy`: whoever takes no more groups may still read those that it has.
  override unsubscribe(): void {
    if (this.#readers > 0) return;
    super.unsubscribe();
    for (const each of this.groups.values()) each.complete();
  }

  /** A group is read, until what this gives is called. */
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
 * The ids of one side that were seen to open. Opens come in the order of their ids, so those between are closed, and a frame
 * of one that has no group is late. Answers come in any order, and nothing is known of streams that were opened before.
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
