import type { OperatorFunction } from 'rxjs';
import { mapPresent } from '../rx/map-present.js';

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

/**
 * `demultiplex` with a table of sinks. The engine imports it alone, because the groups of `demultiplex` need a Subject, which is 1 KB
 * of a page.
 */
export function route<T extends Routed>(sinks: Sinks<T>): OperatorFunction<T, T> {
  return mapPresent((value) => {
    const sink = sinks.get(value.stream ?? 0);
    sink?.next(value);
    return sink === undefined ? value : null;
  });
}
