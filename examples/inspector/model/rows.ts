import { firstAtOrAfter } from './lane.js';
import type { Lane } from './lane.js';
import type { Marble } from './marble.js';

/** How long a row stays free after a stream, so that its end can be seen. */
const PAUSE_MS = 400;
/** Up to this number of rows, each name has rows of its own. */
const FEW_ROWS = 16;
/** With more rows than this, a row is used again at once. */
const MANY_ROWS = 40;

/** The most frames of a stream that are looked at for its newest payload. */
const GLANCED_FRAMES = 20;

/** The streams of a row in a part of time. */
export interface Streams {
  readonly count: number;
  /** How many of them have each name, from the most frequent name to the rarest. */
  readonly names: readonly (readonly [name: string, count: number])[];
  /** How many of them have each state. */
  readonly states: ReadonlyMap<string, number>;
}

/** A row of the diagram: one lane, or, when ended lanes are folded, several one after the other. */
export class Row {
  readonly lanes: Lane[] = [];

  /** @param place counts the rows of a connection from the top */
  constructor(
    readonly c: number,
    readonly place = 0,
  ) {}

  get newest(): Lane | undefined {
    return this.lanes.at(-1);
  }

  /** The lane at a time, or else the last one before it, at best one that the filter shows. */
  laneAt(t: number): Lane | undefined {
    let last: Lane | undefined;
    for (const lane of this.between(-Infinity, t)) {
      if (lane.isShown) return lane;
      last ??= lane;
    }
    return last ?? this.lanes[0];
  }

  /** Whether a lane of the row is seen between two times, under the filter. */
  isSeen(begin: number, end: number): boolean {
    for (const lane of this.between(begin, end)) if (lane.isShown) return true;
    return false;
  }

  /** Counts the streams between two times, under the filter. */
  streams(begin: number, end: number): Streams {
    const names = new Map<string, number>();
    const states = new Map<string, number>();
    let count = 0;
    for (const { isShown, name, end: state } of this.between(begin, end)) {
      if (!isShown) continue;
      count++;
      add(names, name);
      add(states, state ?? 'open');
    }
    return { count, names: [...names].sort(([, one], [, other]) => other - one), states };
  }

  /** The newest frame with a payload between two times, under the filter. */
  newestPayload(begin: number, end: number): Marble | null {
    for (const { isShown, marbles } of this.between(begin, end)) {
      if (!isShown) continue;
      const after = firstAtOrAfter(marbles, end);
      const glanced = marbles.slice(Math.max(0, after - GLANCED_FRAMES), after).reverse();
      const newest = glanced.find(({ hasPayload }) => hasPayload);
      if (newest !== undefined) return newest.t < begin ? null : newest;
    }
    return null;
  }

  /** The lanes that go on at some time between two times, from the newest to the oldest. */
  *between(begin: number, end: number): IterableIterator<Lane> {
    for (let index = this.lanes.length - 1; index >= 0; index--) {
      const lane = this.lanes[index];
      if (lane === undefined || lane.endedAt < begin) return;
      if (lane.openedAt <= end) yield lane;
    }
  }
}

/** Places lanes in rows. With `folds`, a stream takes the row of an ended one, at best of the same name. */
export class Rows {
  readonly #groups = new Map<number, Group>();

  constructor(readonly folds: boolean) {}

  /** Every row, from top to bottom: each connection, and below it its streams. */
  get all(): readonly Row[] {
    return [...this.#groups.values()].flatMap(({ own, streams }) => [own, ...streams]);
  }

  /** Places new lanes, in the order of their first marbles. */
  add(lanes: readonly Lane[]): void {
    if (this.folds) for (const c of new Set(lanes.map((lane) => lane.c))) this.#groupOf(c).listEnded();
    for (const lane of lanes) {
      const group = this.#groupOf(lane.c);
      const row = lane.isConnection ? group.own : this.folds ? group.rowFor(lane) : group.added();
      row.lanes.push(lane);
      lane.row = row;
      if (this.folds && !lane.isConnection) group.placed(row);
    }
  }

  /** Removes forgotten lanes, and the rows that they leave empty. */
  forget(): void {
    for (const [c, { own, streams }] of this.#groups) {
      for (const { lanes } of [own, ...streams]) retain(lanes, ({ isForgotten }) => !isForgotten);
      retain(streams, ({ lanes }) => lanes.length > 0);
      if (own.lanes.length + streams.length === 0) this.#groups.delete(c);
    }
  }

  #groupOf(c: number): Group {
    let group = this.#groups.get(c);
    if (group === undefined) this.#groups.set(c, (group = new Group(c)));
    return group;
  }
}

/** The row of a connection, and the rows of its streams. */
class Group {
  readonly own: Row;
  readonly streams: Row[] = [];
  /** The rows whose newest stream has ended, from the latest end to the earliest: each new stream looks at the last ones alone. */
  #ended: Row[] = [];
  /** Those whose pause is over, too, from top to bottom. */
  #free: Row[] = [];
  #places = 0;

  constructor(private readonly c: number) {
    this.own = new Row(c);
  }

  listEnded(): void {
    this.#ended = this.streams.filter(hasEnded).sort((a, b) => endOf(b) - endOf(a));
    this.#free = [];
  }

  /** Returns a row that is free, or a new one. */
  rowFor({ name, openedAt }: Lane): Row {
    const latest = openedAt - (this.streams.length > MANY_ROWS ? 0 : PAUSE_MS);
    for (let row = this.#ended.at(-1); row !== undefined && endOf(row) <= latest; row = this.#ended.at(-1)) {
      this.#ended.pop();
      insert(this.#free, row, ({ place }) => place);
    }
    const isFree = (row: Row): boolean => endOf(row) <= latest;
    const named = this.#take((row) => row.newest?.name === name && isFree(row));
    return named ?? (this.streams.length < FEW_ROWS ? undefined : this.#take(isFree)) ?? this.added();
  }

  /** A lane has its row. */
  placed(row: Row): void {
    if (hasEnded(row)) insert(this.#ended, row, (ended) => -endOf(ended));
  }

  added(): Row {
    const row = new Row(this.c, this.#places++);
    this.streams.push(row);
    return row;
  }

  #take(isWanted: (row: Row) => boolean): Row | undefined {
    const index = this.#free.findIndex(isWanted);
    return index === -1 ? undefined : this.#free.splice(index, 1)[0];
  }
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function endOf({ newest }: Row): number {
  return newest?.endedAt ?? Infinity;
}

/** Inserts an item into a list that rises by a rank. */
function insert<T>(list: T[], item: T, rankOf: (item: T) => number): void {
  const rank = rankOf(item);
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rankOf(list[middle] as T) <= rank) low = middle + 1;
    else high = middle;
  }
  list.splice(low, 0, item);
}

function hasEnded({ newest }: Row): boolean {
  return newest !== undefined && newest.end !== null;
}

/** Removes items from an array, which may be too long to be spread into arguments. */
function retain<T>(items: T[], isKept: (item: T) => boolean): void {
  let kept = 0;
  for (const item of items) if (isKept(item)) items[kept++] = item;
  items.length = kept;
}
