import type { Mark, Moment } from '../harness/timeline.js';
import type { Sides } from '../harness/pair.js';

/** A part of the way of a request: from the end of the previous part until a moment on one side. */
export interface Phase {
  readonly title: string;
  readonly ends: Moment;
  readonly on: keyof Sides<unknown>;
}

/** A way that requests or dials go again and again. */
export interface Way {
  readonly begins: Moment;
  readonly phases: readonly Phase[];
}

/** From a call to its answer, on an open connection. */
export const REQUEST: Way = {
  begins: 'called',
  phases: [
    { title: 'client: from the call until it writes', ends: 'written', on: 'client' },
    { title: 'the system: there', ends: 'read', on: 'server' },
    { title: 'server: from what it has read until it writes', ends: 'written', on: 'server' },
    { title: 'the system: back', ends: 'read', on: 'client' },
    { title: 'client: from what it has read until the caller goes on', ends: 'answered', on: 'client' },
  ],
};

/** From dialing to the first answer. */
export const DIAL: Way = {
  begins: 'dialed',
  phases: [
    { title: 'client: from the call until its socket connects', ends: 'connecting', on: 'client' },
    { title: 'Node and the system: until the request for the upgrade is read', ends: 'upgraded', on: 'server' },
    { title: 'server: until it writes 101', ends: 'written', on: 'server' },
    { title: 'the system: back', ends: 'read', on: 'client' },
    { title: 'client: from the 101 until the caller goes on', ends: 'opened', on: 'client' },
    { title: 'client: from there until it writes a request', ends: 'written', on: 'client' },
    { title: 'the system: there', ends: 'read', on: 'server' },
    { title: 'server: from the request until it writes', ends: 'written', on: 'server' },
    { title: 'the system: back', ends: 'read', on: 'client' },
    { title: 'client: from the answer until the caller goes on', ends: 'answered', on: 'client' },
  ],
};

/**
 * The time of each phase in µs, for each pass of the way, in order.
 *
 * @throws Error where a pass does not reach the end of the way
 */
export function timesOf({ begins, phases }: Way, { client, server }: Sides<readonly Mark[]>): number[][] {
  const ways: number[][] = [];
  const cursors = { client: new Cursor(client), server: new Cursor(server) };
  for (let begun = cursors.client.next(begins); begun !== null; begun = cursors.client.next(begins)) {
    const { connection } = begun;
    let before = begun.atUs;
    ways.push(
      phases.map(({ title, ends, on }) => {
        const end = cursors[on].next(ends, connection, before);
        if (end === null) throw new Error(`expected a mark '${ends}' of connection ${connection} for '${title}', got none`);
        const us = end.atUs - before;
        before = end.atUs;
        return us;
      }),
    );
  }
  return ways;
}

/** Goes through the marks of one side once, because passes follow each other. */
class Cursor {
  #at = 0;

  constructor(private readonly marks: readonly Mark[]) {}

  /** The next mark of a moment, not before `sinceUs`, and on one connection if it is passed. Skips the marks between. */
  next(moment: Moment, connection?: number, sinceUs = 0): Mark | null {
    for (let mark = this.marks[this.#at]; mark !== undefined; mark = this.marks[this.#at]) {
      this.#at++;
      if (mark.moment === moment && mark.atUs >= sinceUs && (connection === undefined || mark.connection === connection)) return mark;
    }
    return null;
  }
}
