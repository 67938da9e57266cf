import type { Lane } from './lane.js';

/** How long a row stays free after a stream, so that its end can be seen. */
const PAUSE_MS = 400;
/** Up to so many rows, each name has rows of its own. */
const FEW_ROWS = 16;
/** With more rows than this, a row is used again at once. */
const MANY_ROWS = 40;

/** A row of the diagram: one lane, or, when ended lanes are folded, several one after the other. */
export class Row {
  readonly lanes: Lane[] = [];

  constructor(readonly c: number) {}

  get newest(): Lane | undefined {
    return this.lanes.at(-1);
  }

  /** The lane at a time, or else the last one before it. */
  laneAt(t: number): Lane | undefined {
    for (const lane of this.between(-Infinity, t)) return lane;
    return this.lanes[0];
  }

  /** Whether a lane of the row is seen between two times, under the filter. */
  isSeen(begin: number, end: number): boolean {
    for (const lane of this.between(begin, end)) if (lane.matching > 0 || lane.isConnection) return true;
    return false;
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
  readonly #connections = new Map<number, { readonly own: Row; readonly streams: Row[] }>();

  constructor(readonly folds: boolean) {}

  /** Every row, from top to bottom: each connection, and below it its streams. */
  get all(): readonly Row[] {
    return [...this.#connections.values()].flatMap(({ own, streams }) => [own, ...streams]);
  }

  add(lane: Lane): void {
    const { own, streams } = this.#of(lane.c);
    const row = lane.isConnection ? own : ((this.folds ? freeRow(streams, lane) : undefined) ?? addedTo(streams, lane.c));
    row.lanes.push(lane);
    lane.row = row;
  }

  /** Removes forgotten lanes, and the rows that they leave empty. */
  forget(): void {
    for (const { streams } of this.#connections.values()) {
      for (const { lanes } of streams) retain(lanes, ({ isForgotten }) => !isForgotten);
      retain(streams, ({ lanes }) => lanes.length > 0);
    }
  }

  #of(c: number): { readonly own: Row; readonly streams: Row[] } {
    let connection = this.#connections.get(c);
    if (connection === undefined) this.#connections.set(c, (connection = { own: new Row(c), streams: [] }));
    return connection;
  }
}

function freeRow(rows: readonly Row[], { name, openedAt }: Lane): Row | undefined {
  const pause = rows.length > MANY_ROWS ? 0 : PAUSE_MS;
  const free = rows.filter(({ newest }) => newest !== undefined && newest.endedAt + pause <= openedAt);
  return free.find(({ newest }) => newest?.name === name) ?? (rows.length < FEW_ROWS ? undefined : free[0]);
}

function addedTo(rows: Row[], c: number): Row {
  const row = new Row(c);
  rows.push(row);
  return row;
}

function retain<T>(items: T[], isKept: (item: T) => boolean): void {
  if (items.every(isKept)) return;
  items.splice(0, items.length, ...items.filter(isKept));
}
